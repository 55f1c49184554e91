package agents

import (
	"errors"
	"path/filepath"
	"slices"

	"xmd/agents/link"
	"xmd/runtime"
)

// Listing is one line of `xmd agents`: an agent as far as it can be told without starting anything.
type Listing struct {
	Name      string `json:"name"`
	Shown     string `json:"shown"`
	Transport string `json:"transport"`
	// Command is what is started; nil when something is missing.
	Command []string `json:"command,omitempty"`
	// Found says where the command came from: "PATH", "npx", "xmd.toml" or "built in".
	Found string `json:"found,omitempty"`
	// Fetches is the package npx has to download first, "" when nothing.
	Fetches string `json:"fetches,omitempty"`
	// AdapterVersion is that of the installed adapter, or the one npx would use; "" when there is no adapter or it cannot
	// be told. TestedVersion is the one this build was tested with.
	AdapterVersion string `json:"adapterVersion,omitempty"`
	TestedVersion  string `json:"testedVersion,omitempty"`
	// CLI is the person's own program behind the adapter.
	CLI string `json:"cli,omitempty"`
	// VersionArgv prints the version of the CLI, also where a run is told it by the handshake; nil when no command is known for that. It gets
	// the environment VersionEnv.
	VersionArgv []string `json:"-"`
	VersionEnv  []string `json:"-"`
	// Home is where the agent keeps its conversations.
	Home string `json:"home,omitempty"`
	// Unasked is what the agent does without asking in the mode it is started in.
	Unasked string `json:"unasked,omitempty"`
	// Problem says what is missing and how to install it; "" when the agent can be started.
	Problem string `json:"problem,omitempty"`
	// Install is the command that brings what is missing, or what npx would download; "" when nothing is, or no command does.
	Install string `json:"install,omitempty"`
}

// List tells of every agent, sorted by name. It reads files and starts nothing.
func (r *Registry) List() []Listing {
	all := make([]Listing, len(r.rows))
	for i, p := range r.rows {
		all[i] = r.listing(p)
	}
	return all
}

func (r *Registry) listing(p Profile) Listing {
	w, err := r.find(p)
	l := Listing{
		Name: p.Name, Shown: p.Shown, Transport: p.Transport, Unasked: p.Unasked,
		CLI: w.cli, TestedVersion: p.Adapter.Tested, Install: w.install, Home: w.home(),
	}
	if err != nil {
		l.Problem = message(err)
		return l
	}
	l.Command, l.Fetches = w.argv, w.fetches
	l.VersionArgv, l.VersionEnv = w.prints(), link.Environment(r.o.Env, w.env)
	switch {
	case r.o.Config[p.Name].Command != "":
		l.Found = "xmd.toml"
	case p.Own:
		l.Found = "built in"
	case filepath.Base(w.argv[0]) == "npx":
		l.Found, l.AdapterVersion = "npx", p.Adapter.Tested
	case p.Serves != nil:
		l.Found = "PATH"
	default:
		l.Found, l.AdapterVersion = "PATH", installedVersion(w.argv[0], p.Adapter.Package)
	}
	return l
}

// prints is the command that prints the version of the program that changes. Every built-in one has it; a command that only the
// configuration names may take it for something else.
func (w way) prints() []string {
	switch {
	case w.version != nil:
		return w.version
	case w.cli != "":
		return []string{w.cli, "--version"}
	case w.program != nil && !w.named:
		return append(slices.Clone(w.program), "--version")
	}
	return nil
}

func message(err error) string {
	var e *runtime.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return err.Error()
}

// installedVersion reads the version of the package that a command of npm belongs to.
func installedVersion(command, name string) string {
	file, err := filepath.EvalSymlinks(command)
	if err != nil {
		return ""
	}
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if v := packageVersion(filepath.Join(dir, "package.json"), name); v != "" {
			return v
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
