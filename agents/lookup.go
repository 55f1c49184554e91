package agents

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"xmd/agents/proc"
	"xmd/runtime"
)

// way is how one agent is reached on this machine.
type way struct {
	profile    Profile
	argv       []string // what is started
	env        []string // added to the environment
	own        []string // what of it belongs to the agent whatever it is reached through
	lookupEnv  []string // the whole environment, as far as it is known at the lookup
	cli        string   // the person's own CLI; "" when there is none behind the adapter
	version    []string
	executable string
	program    []string // what a person types, where there is no CLI behind the adapter
	fetches    string   // what npx has to download first; "" nothing
	install    string   // the command that brings what is missing; "" when nothing is
	custom     bool     // known from the configuration only
	named      bool     // the configuration names the command
}

// find looks for everything an agent needs.
func (r *Registry) find(p Profile) (way, error) { return r.findAs(p, r.o.Config[p.Name]) }

// findAs is find with this configuration of the agent.
func (r *Registry) findAs(p Profile, c Custom) (way, error) {
	_, known := builtIn(p.Name)
	w := way{profile: p, custom: !known, lookupEnv: r.o.Env}
	if c.Instructions != "" && !slices.Contains(Channels(p.Transport), c.Instructions) {
		return w, r.fail(p, runtime.KindInvalid, "%s takes no instructions by %q, as [agents.%s] says: write %s", p.Shown, c.Instructions, p.Name, oneOf(Channels(p.Transport)))
	}
	w.profile = p.with(c, known)
	if c.Transport != "" && c.Transport != p.Transport {
		return w, r.fail(p, runtime.KindInvalid, "the transport %q of [agents.%s] is not one this build has for %s: write %s", c.Transport, p.Name, p.Shown, oneOf(Transports(p.Name)))
	}
	w.env = append(w.env, p.Env...)
	if p.Transport == transportServer && (c.Fence != "" || c.Noise != nil || c.Reject != "" || c.Confirm != "") {
		return w, r.fail(p, runtime.KindInvalid, "confirm, reject, fence and noise of [agents.%s] are for agents over acp; %s is reached over %s, which needs none of them", p.Name, p.Shown, p.Transport)
	}
	for _, kv := range p.Weak {
		if name, _, _ := strings.Cut(kv, "="); envValue(r.o.Env, name) == "" && c.Env[name] == "" {
			w.env = append(w.env, kv)
		}
	}
	if err := r.findCLI(&w, c); err != nil {
		return w, err
	}
	if known && c.Home != "" { // what it is told is where the evidence is read
		v := p.homeVar()
		if v == "" {
			return w, r.fail(p, runtime.KindInvalid, "home of [agents.%s] says where an agent that is not built in keeps its conversations; %s decides that itself", p.Name, p.Shown)
		}
		w.own = append(w.own, v+"="+w.home())
	}
	for _, k := range slices.Sorted(maps.Keys(c.Env)) {
		w.own = append(w.own, k+"="+c.Env[k])
	}
	w.env = append(w.env, w.own...)
	if p.Own {
		w.own = append(simEnv(r.o.Env), w.own...)
		w.env = append(simEnv(r.o.Env), w.env...)
	}
	w.lookupEnv = append(slices.Clone(r.o.Env), w.env...)
	if err := r.findAdapter(&w, c); err != nil {
		return w, err
	}
	if c.Version != nil {
		w.version = c.Version
	}
	return w, nil
}

// with is the row as a configuration wants it.
func (p Profile) with(c Custom, known bool) Profile {
	p.Home = c.Home
	p.Defaults = runtime.Settings{Model: c.Model, Effort: c.Effort, Mode: c.Mode}
	if !known { // nobody knows better in which mode it asks
		p.Driver.Mode, p.Defaults.Mode = c.Mode, ""
	}
	if c.Instructions != "" {
		p = p.instructedBy(c.Instructions)
	}
	switch c.Confirm {
	case ConfirmList:
		p.Confirm, p.ConfirmLoad, p.ListOnly = true, false, true
	case ConfirmHistory:
		p.Confirm, p.ConfirmLoad = false, false
	}
	if c.Reject != "" {
		p.Driver.RejectEnds = c.Reject == RejectEnds
	}
	if c.Fence != "" {
		p.Driver.NoFence, p.Driver.Fence = c.Fence == FenceAnswer, c.Fence
	}
	p.Driver.Noise = slices.Concat(p.Driver.Noise, c.Noise)
	return p
}

// Transports are those over which an agent can be reached, the first is what it is reached over when nothing else is said. An agent that
// is not built in is reached over ACP.
func Transports(agent string) []string {
	var list []string
	for _, p := range profiles {
		if p.Name == agent {
			list = append(list, p.Transport)
		}
	}
	if list == nil {
		return []string{"acp"}
	}
	return list
}

// oneOf writes a choice of words.
func oneOf(words []string) string { return `"` + strings.Join(words, `" or "`) + `"` }

// chosen are the rows of the built-in agents as this configuration wants them reached. A command that it names speaks ACP, unless it says
// otherwise.
func chosen(config map[string]Custom) []Profile {
	var rows []Profile
	for _, p := range profiles {
		c := config[p.Name]
		want := c.Transport
		if want == "" && c.Command != "" {
			want = "acp"
		}
		switch n := len(rows); {
		case n == 0 || rows[n-1].Name != p.Name:
			rows = append(rows, p)
		case p.Transport == want:
			rows[n-1] = p
		}
	}
	return rows
}

// findCLI finds the person's own program behind the adapter: the configuration's, the one the environment already points
// at, else the one on PATH.
func (r *Registry) findCLI(w *way, c Custom) error {
	p := w.profile
	if p.CLI.Command == "" {
		if c.Executable != "" {
			w.executable = r.resolve(c.Executable)
		}
		return nil
	}
	named := envValue(r.o.Env, p.Points)
	if own := c.Env[p.Points]; own != "" {
		named = own
	}
	switch {
	case c.Executable != "":
		if w.cli = r.resolve(c.Executable); w.cli == "" {
			return r.fail(p, runtime.KindUnavailable, "%s cannot be started: the executable %q of [agents.%s] is not a program", p.Shown, c.Executable, p.Name)
		}
	case named != "":
		if w.cli = r.resolve(named); w.cli == "" {
			return r.fail(p, runtime.KindUnavailable, "%s cannot be started: %s names %q, which is not a program", p.Shown, p.Points, named)
		}
	default:
		if w.cli = r.resolve(p.CLI.Command); w.cli == "" {
			w.install = p.CLI.install()
			return r.fail(p, runtime.KindUnavailable, "%s is not installed: there is no %q on PATH; install it with `%s`, or name it as executable under [agents.%s] in xmd.toml", p.Shown, p.CLI.Command, p.CLI.install(), p.Name)
		}
	}
	if p.Serves == nil {
		w.env = append(w.env, p.Points+"="+w.cli)
	}
	if p.Version != nil {
		w.version = append([]string{w.cli}, p.Version...)
	}
	w.executable = w.cli
	if r.o.Native != nil {
		w.executable = r.o.Native(p.Name, w.cli)
	}
	return nil
}

// findAdapter finds what is started: the configuration's command, this program, the adapter on PATH, else npx.
func (r *Registry) findAdapter(w *way, c Custom) error {
	p := w.profile
	switch {
	case c.Command != "":
		command := r.resolve(c.Command)
		if command == "" {
			return r.fail(p, runtime.KindUnavailable, "%s cannot be started: the command %q of [agents.%s] is not a program on PATH or a path of one", p.Shown, c.Command, p.Name)
		}
		w.argv, w.named = append([]string{command}, c.Args...), true
		r.itself(w, command)
		return nil
	case p.Serves != nil:
		program := w.cli
		if w.executable != "" { // the program itself: a launcher before it would be one more process, and may outlive it
			program = w.executable
		}
		w.argv = append(append([]string{program}, p.Serves...), c.Args...)
		return nil
	case p.Own:
		w.argv = append(append([]string{r.o.Self}, p.Adapter.Args...), c.Args...)
		return nil
	case p.Adapter.Command == "":
		return r.fail(p, runtime.KindInvalid, "the agent %q has no command: write command = \"…\" under [agents.%s] in xmd.toml", p.Name, p.Name)
	}
	if command := r.resolve(p.Adapter.Command); command != "" {
		w.argv = append(append([]string{command}, p.Adapter.Args...), c.Args...)
		r.itself(w, command)
		return nil
	}
	w.install = p.Adapter.install()
	if p.CLI.Command == "" {
		return r.fail(p, runtime.KindUnavailable, "%s is not installed: there is no %q on PATH; install it with `%s`, or name it as command under [agents.%s] in xmd.toml", p.Shown, p.Adapter.Command, p.Adapter.install(), p.Name)
	}
	npx := r.resolve("npx")
	if npx == "" {
		return r.fail(p, runtime.KindUnavailable, "%s is reached through %s, which is not installed: install it with `%s`", p.Shown, p.Adapter.Command, p.Adapter.install())
	}
	w.argv = append(append([]string{npx, "--yes", p.Adapter.pinned()}, p.Adapter.Args...), c.Args...)
	if r.npxHas(p.Adapter) {
		w.install = ""
	} else {
		w.fetches = p.Adapter.pinned()
	}
	return nil
}

// itself notes the program of an agent that speaks ACP without an adapter: it is what changes.
func (r *Registry) itself(w *way, command string) {
	if w.profile.CLI.Command != "" {
		return
	}
	w.program = []string{command}
	if w.executable == "" && !w.custom && r.o.Native != nil {
		w.executable = r.o.Native(w.profile.Name, command)
	}
}

func (r *Registry) fail(p Profile, kind runtime.Kind, format string, args ...any) *runtime.Error {
	err := runtime.Errorf(kind, format, args...)
	err.Agent = p.Name
	return err
}

// install is the command that installs a program.
func (p Program) install() string { return "npm install -g " + p.pinned() }

// pinned is the package with the version it was tested with.
func (p Program) pinned() string {
	if p.Tested == "" {
		return p.Package
	}
	return p.Package + "@" + p.Tested
}

// resolve finds a program: a name on PATH, a path as it is, from xmd's working directory if it is relative. The result is
// absolute and no link is followed, because what a link points at is what an upgrade changes. "" when there is none.
func (r *Registry) resolve(command string) string {
	file, err := proc.LookPath(command, r.o.Env)
	if err != nil {
		return ""
	}
	return file
}

// npxHas says whether npx has the pinned version already. It looks where npm keeps them by default or as the environment
// says; a wrong no only costs a line on stderr.
func (r *Registry) npxHas(p Program) bool {
	cache := envValue(r.o.Env, "npm_config_cache")
	if home := envValue(r.o.Env, "HOME"); cache == "" && home != "" {
		cache = filepath.Join(home, ".npm")
	}
	if cache == "" {
		return false
	}
	found, _ := filepath.Glob(filepath.Join(cache, "_npx", "*", "node_modules", filepath.FromSlash(p.Package), "package.json"))
	for _, file := range found {
		if packageVersion(file, p.Package) == p.Tested {
			return true
		}
	}
	return false
}

// packageVersion reads the version of a package from its package.json, "" when the file is another's.
func packageVersion(file, name string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	var pkg struct{ Name, Version string }
	if json.Unmarshal(data, &pkg) != nil || pkg.Name != name {
		return ""
	}
	return pkg.Version
}

// simEnv is what of the environment configures the scripted agent; XMD_* does not reach agents otherwise.
func simEnv(env []string) []string {
	var own []string
	for _, kv := range env {
		if strings.HasPrefix(kv, "XMD_SIM_") {
			own = append(own, kv)
		}
	}
	return own
}

// envValue finds the last value of a name, as a started process does.
func envValue(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// nearest is the name that was probably meant, "" when none is near.
func nearest(name string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		if d := distance(strings.ToLower(name), n); d < at && 2*d <= len(n) {
			best, at = n, d
		}
	}
	return best
}

// distance is the number of letters to change, add or drop.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
