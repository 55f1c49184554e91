package agents

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"xmd/agents/acp"
	"xmd/agents/codex"
	"xmd/agents/native"
	"xmd/runtime"
)

// Options are what a Registry is made from. Nothing of it is changed or kept open.
type Options struct {
	// Env is the environment xmd was started with, as KEY=value. PATH, HOME and the variables that point an adapter at a
	// CLI are read from it.
	Env []string
	// Config holds the [agents.NAME] tables of the configuration, merged.
	Config map[string]Custom
	// Self is the path of the xmd binary: the agent sim is this program.
	Self string
	// Version is xmd's own, as it introduces itself to agents.
	Version string
	// Native returns the file whose digest tells builds of an agent apart, given the path of its CLI; "" when it cannot
	// say. nil means the CLI itself.
	Native func(agent, command string) string
}

// Custom is one [agents.NAME] table. Of a built-in agent the fields that are set replace its own.
type Custom struct {
	Command    string            // the program that speaks the transport: a name on PATH, or a path
	Args       []string          // its arguments
	Env        map[string]string // added to its environment
	Transport  string            // one of Transports; "": ACP where Command is set, else the agent's first
	Executable string            // the CLI that changes: for codex and claude the program the adapter is pointed at
	Version    []string          // argv that prints the CLI's version

	Home   string // where it keeps its conversations: a path; ~/ begins with the person's home
	Model  string // of prompts that choose none
	Effort string // likewise
	Mode   string // of an agent that is not built in the mode in which it asks; of others that of prompts that choose none
	// Instructions is where the agent takes the workflow's, one of Channels; "": where the table says, nowhere for an agent that is not in it.
	Instructions string
	Confirm      string   // what confirms identity: ConfirmList or ConfirmHistory; "": either
	Reject       string   // a refused permission: RejectEnds or RejectContinues the turn; "": what is known of the agent
	Fence        string   // the kind of the update behind a replay, or FenceAnswer; "": what is known of the agent
	Noise        []string // messages that begin so are the agent's word, not the model's
}

// Words of a Custom.
const (
	ConfirmList     = "list"
	ConfirmHistory  = "history"
	RejectEnds      = "ends"
	RejectContinues = "continues"
	FenceAnswer     = "answer" // the answer of a load is behind its whole replay
)

// Registry is the runtime.Agents of this machine. Immutable, and safe for concurrent use.
type Registry struct {
	o    Options
	rows []Profile // sorted by name
}

var _ runtime.Agents = (*Registry)(nil)

// New makes a registry. It looks at nothing yet.
func New(o Options) *Registry {
	r := &Registry{o: o}
	r.rows = chosen(o.Config)
	for name := range o.Config {
		if _, known := builtIn(name); !known {
			r.rows = append(r.rows, customProfile(name))
		}
	}
	slices.SortFunc(r.rows, func(a, b Profile) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// Names lists the agents that are built in or configured, sorted.
func (r *Registry) Names() []string {
	names := make([]string, len(r.rows))
	for i, p := range r.rows {
		names[i] = p.Name
	}
	return names
}

// Lookup says how an agent is reached; see runtime.Agents.
func (r *Registry) Lookup(name string) (runtime.Agent, error) {
	p, ok := r.row(name)
	if !ok {
		return nil, r.unknown(name)
	}
	w, err := r.find(p)
	if err != nil {
		return nil, err
	}
	a := w.agent(r.o.Version)
	if p.Native.Open == nil {
		return a, nil
	}
	c := native.Config{Interface: p.Native, Program: w.typed(r.o.Self), Env: w.own, Home: a.Info().Home}
	if p.Native.Made {
		c.Maker = r.maker(p, a)
	}
	return native.New(a, c), nil
}

// maker is the agent over the transport by which conversations for its own interface are made, whatever it is reached over itself; nil: it
// has none, or cannot be started over it.
func (r *Registry) maker(p Profile, a runtime.Agent) runtime.Agent {
	if p.Transport == transportServer {
		return a
	}
	c := r.o.Config[p.Name]
	c = Custom{Env: c.Env, Executable: c.Executable, Version: c.Version, Home: c.Home} // the rest is of the other transport
	for _, row := range profiles {
		if row.Name == p.Name && row.Transport == transportServer {
			if w, err := r.findAs(row, c); err == nil {
				return w.agent(r.o.Version)
			}
		}
	}
	return nil
}

// typed is what a person types: the CLI behind the adapter, or what is started itself.
func (w way) typed(self string) []string {
	switch {
	case w.profile.Own:
		return []string{self, "sim"}
	case w.cli != "":
		return []string{w.cli}
	}
	return w.program
}

func (r *Registry) row(name string) (Profile, bool) {
	for _, p := range r.rows {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

func (r *Registry) unknown(name string) *runtime.Error {
	hint := ""
	if near := nearest(name, r.Names()); near != "" {
		hint = fmt.Sprintf(" did you mean %q?", near)
	}
	err := runtime.Errorf(runtime.KindInvalid, "there is no agent %q;%s known are %s; others are declared as [agents.NAME] in xmd.toml",
		name, hint, strings.Join(r.Names(), ", "))
	err.Agent = name
	return err
}

// agent makes the runtime's view of a way.
func (w way) agent(version string) runtime.Agent {
	p := w.profile
	if p.Transport == transportServer {
		return codex.New(codex.Config{Env: w.env, Version: version, Info: w.info()})
	}
	return acp.New(acp.Config{
		Profile: p.Driver,
		Env:     w.env,
		Fetches: w.fetches,
		Version: version,
		Info:    w.info(),
	})
}

// info is what the runtime, compat and people need to know of a way.
func (w way) info() runtime.AgentInfo {
	p := w.profile
	return runtime.AgentInfo{
		Name: p.Name, Shown: p.Shown, Transport: p.Transport,
		Home:        w.home(),
		Command:     w.argv,
		VersionArgv: w.version,
		Executable:  w.executable,
		AskMode:     p.askMode(),
		RejectEnds:  p.Driver.RejectEnds,
		ConfirmList: p.Confirm,
		ConfirmLoad: p.ConfirmLoad,
		ListOnly:    p.ListOnly,
		Channel:     p.channel(),
		OwnTools:    p.Transport == transportServer,
		Defaults:    p.Defaults,
	}
}

// home is where the agent keeps its conversations: what the configuration says, else what its profile knows.
func (w way) home() string {
	dir := w.profile.Home
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		return filepath.Join(envValue(w.lookupEnv, "HOME"), rest)
	}
	if dir != "" {
		return dir
	}
	return w.profile.home(w.lookupEnv)
}
