package agents

import (
	"fmt"
	"strconv"
	"strings"
)

// Level says how much a finding matters.
type Level string

// The levels of a Finding.
const (
	OK      Level = "ok"      // nothing to do
	Warning Level = "warning" // it works, and something is in danger or not as it should be
	Problem Level = "problem" // it does not work
)

// Finding is what a look at one thing told.
type Finding struct {
	Level Level  `json:"level"`
	About string `json:"about"` // what was looked at: an agent's name, "store", "config"
	Says  string `json:"says"`
	Do    string `json:"do,omitempty"` // what the person can do; "": nothing
}

// Seen is what was seen of an agent beside its files.
type Seen struct {
	Root    string // the real path of the folder it would work in
	Wanted  bool   // the person's default, or one that the configuration names: that it is missing is a problem
	Version string // what its version command printed; ""
	Silent  string // why that command told nothing; ""
	Node    string // the version of the node on PATH, "v20.1.0"; "" when there is none
}

// Check tells what is installed of an agent that List listed, and what of the person's settings endangers its conversations. It reads files
// and starts nothing. The first finding is always the one of the install; the agent sim has no other.
func (r *Registry) Check(l Listing, seen Seen) []Finding {
	p, _ := r.row(l.Name)
	found := []Finding{installed(l, seen)}
	if l.Problem != "" || p.Own {
		return found
	}
	if r.o.Config[p.Name].Command == "" {
		found = append(found, adapterChecks(p, l, seen)...)
	}
	if p.Settings != nil && l.Home != "" {
		found = append(found, p.Settings(person{agent: p, home: l.Home, root: seen.Root, env: l.VersionEnv})...)
	}
	return found
}

// installed is the finding of the program itself.
func installed(l Listing, seen Seen) Finding {
	f := Finding{Level: OK, About: l.Name}
	switch {
	case l.Problem != "" && seen.Wanted:
		f.Level, f.Says, f.Do = Problem, l.Problem, command(l.Install)
	case l.Problem != "":
		f.Says, f.Do = "not installed", command(l.Install)
	case seen.Silent != "":
		f.Level, f.Says = Warning, fmt.Sprintf("`%s` tells no version: %s", strings.Join(l.VersionArgv, " "), seen.Silent)
		f.Do = "run it yourself; it should print a line with the version and end"
	default:
		f.Says = strings.TrimSpace(l.Shown+" "+seen.Version) + " over " + l.Transport + ": " + strings.Join(l.Command, " ")
	}
	return f
}

// command quotes a command as something to do.
func command(line string) string {
	if line == "" {
		return ""
	}
	return "run `" + line + "`"
}

// adapterChecks compares what stands between xmd and the program with what this build was tested with, and node with what it needs.
func adapterChecks(p Profile, l Listing, seen Seen) []Finding {
	var found []Finding
	say := func(level Level, do, format string, args ...any) {
		found = append(found, Finding{level, l.Name, fmt.Sprintf(format, args...), do})
	}
	a := p.Adapter
	if a.Package != "" && p.CLI.Command != "" {
		switch {
		case l.Fetches != "":
			say(Warning, command(l.Install), "the adapter %s is not installed: npx downloads %s at the first start", a.Command, l.Fetches)
		case l.AdapterVersion == "":
			say(Warning, "", "which version of %s is installed cannot be told; this xmd was tested with %s", a.Command, a.Tested)
		case older(l.AdapterVersion, a.Tested):
			say(Warning, command(a.install()), "%s %s is older than the version that this xmd was tested with, %s", a.Command, l.AdapterVersion, a.Tested)
		case l.AdapterVersion != a.Tested:
			say(OK, "", "%s %s; this xmd was tested with %s", a.Command, l.AdapterVersion, a.Tested)
		default:
			say(OK, "", "%s %s, the version that this xmd was tested with", a.Command, a.Tested)
		}
	}
	switch major := leading(strings.TrimPrefix(seen.Node, "v")); {
	case a.Node == 0:
	case seen.Node == "":
		say(Problem, fmt.Sprintf("install Node %d or newer", a.Node), "%s runs on Node, and there is no node on PATH", a.Command)
	case major < a.Node:
		say(Warning, fmt.Sprintf("install Node %d or newer", a.Node), "%s asks for Node %d or newer, and the node on PATH is %s", a.Command, a.Node, seen.Node)
	default:
		say(OK, "", "node %s; %s asks for %d or newer", seen.Node, a.Command, a.Node)
	}
	return found
}

// leading is the number that a text begins with; 0 when there is none.
func leading(s string) int {
	end := strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(s)
	}
	n, _ := strconv.Atoi(s[:end])
	return n
}

// older compares two versions by their first three numbers.
func older(version, than string) bool {
	v, t := strings.SplitN(version, ".", 3), strings.SplitN(than, ".", 3)
	for i := range min(len(v), len(t)) {
		if a, b := leading(v[i]), leading(t[i]); a != b {
			return a < b
		}
	}
	return false
}
