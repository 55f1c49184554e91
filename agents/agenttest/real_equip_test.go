package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"xmd/agents/agenttest/model"
	"xmd/runtime"
)

// layered is a conversation whose instructions change between processes.
type layered struct {
	t      *testing.T
	server *model.Server
	p      *place
	id     string
}

// turn opens the conversation with instructions, as target, and says something. It returns how often each of the layers A, B and C stands
// in what reached the model.
func (y *layered) turn(target Target, layer string, beside string) (counts [3]int) {
	y.t.Helper()
	y.p.target = target
	l := y.p.start(y.t)
	e := runtime.Equipment{}
	if layer != "" {
		e.Instructions = "XMDLAYER" + layer
	}
	if err := l.Connection.(runtime.Equipper).Equip(e); err != nil {
		y.t.Fatal(err)
	}
	y.id = l.open(y.id).ID
	if beside != "" {
		l.Connection.(runtime.Informer).Inform("XMDLAYER" + beside)
	}
	l.good("SAY with " + strings.ToLower(layer))
	l.end()
	all := y.server.Requests()
	raw := string(all[len(all)-1].Raw)
	for i, name := range []string{"A", "B", "C"} {
		counts[i] = strings.Count(raw, "XMDLAYER"+name)
	}
	return counts
}

func newLayered(t *testing.T, target Target) *layered {
	t.Helper()
	target, server := watched(t, target)
	return &layered{t: t, server: server, p: newPlace(t, target)}
}

// Claude's older builds take what comes with each load. From 2.1.300 on the first that a build of these sees stays, so that what changes
// later has to lead the prompt.
func TestRealClaudeLayers(t *testing.T) {
	Wanted(t)
	Record(t, Evidence{Agent: "Claude", Versions: "2.1.210 → 2.1.332", Over: overClaude, Shown: "which of the instructions that change between processes reach the model"})
	ready(t, Claude("2.1.210"))
	ready(t, Claude("2.1.332"))
	y := newLayered(t, Claude("2.1.210"))
	for i, step := range []struct {
		version, layer string
		want           [3]int
	}{
		{"2.1.210", "A", [3]int{1, 0, 0}},
		{"2.1.210", "A", [3]int{1, 0, 0}},
		{"2.1.210", "B", [3]int{0, 1, 0}},
		{"2.1.332", "B", [3]int{0, 1, 0}},
		{"2.1.332", "C", [3]int{0, 1, 0}},
		{"2.1.332", "B", [3]int{0, 1, 0}},
	} {
		if got := y.turn(Claude(step.version), step.layer, ""); got != step.want {
			t.Errorf("step %d, %s with %s: the layers reach the model %v times, want %v", i+1, step.version, step.layer, got, step.want)
		}
	}
}

// Codex keeps the instructions of the start; a change is told beside the words, once, and stays.
func TestRealCodexServerLayers(t *testing.T) {
	onServer(t, "which of the instructions that change between processes reach the model", func(t *testing.T, target Target) {
		y := newLayered(t, target)
		for i, step := range []struct {
			layer, beside string
			want          [3]int
		}{
			{"A", "", [3]int{1, 0, 0}},
			{"B", "", [3]int{1, 0, 0}},
			{"B", "B", [3]int{1, 1, 0}},
			{"B", "", [3]int{1, 1, 0}},
		} {
			if got := y.turn(target, step.layer, step.beside); got != step.want {
				t.Errorf("step %d: the layers reach the model %v times, want %v", i+1, got, step.want)
			}
		}
	})
}

// configured adds to Codex's configuration an MCP server of the person's own.
func configured(t *testing.T, target Target, name string, own *counter) Target {
	t.Helper()
	at, server := target.At, own.pass.Server()
	target.At = func(t testing.TB, p Place) Reach {
		reach := at(t, p)
		file := filepath.Join(p.Home, ".codex", "config.toml")
		entry := fmt.Sprintf("\n[mcp_servers.%s]\nurl = %q\nhttp_headers = { %s = %q }\n", name, server.URL, server.Headers[0].Name, server.Headers[0].Value)
		write(t, file, append(read(t, file), entry...))
		return reach
	}
	return target
}

// The person's own servers stay beside the door.
func TestRealCodexServerKeepsServers(t *testing.T) {
	onServer(t, "the person's own MCP servers stay beside the door", func(t *testing.T, target Target) {
		mine := newCounter(t, "")
		target, _ = watched(t, configured(t, target, "mine", mine))
		l := newPlace(t, target).start(t)
		own, _ := l.equip(byAddress, "")
		l.open("")
		l.callsDoor(own, "v1", "received v1")
		h := l.good("TOOL mine " + theTool + ` {"value":"v2"}`)
		if mine.count() != 1 || len(h.asked) != 1 || h.asked[0].Request.Door != "" {
			t.Errorf("called %d times, asked %+v", mine.count(), h.asked)
		}
	})
}

// A server of the person's own that has the door's name: the app-server takes the door in its place; its adapter leaves the door out, which
// is said, and nothing that is called then counts as the door's.
func TestRealCodexTakenName(t *testing.T) {
	Wanted(t)
	for _, v := range []string{"0.153.2", "0.171.0"} {
		t.Run("app-server "+v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: v, Over: overServer, Shown: "the door is taken in place of a server of its name"})
			ready(t, CodexServer(v))
			theirs := newCounter(t, "")
			target, _ := watched(t, configured(t, CodexServer(v), runtime.DoorName, theirs))
			l := newPlace(t, target).start(t)
			own, _ := l.equip(byAddress, "")
			l.open("")
			l.callsDoor(own, "v1", "received v1")
			if theirs.count() != 0 {
				t.Error("the other server was called")
			}
		})
		t.Run("acp "+v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: v, Over: overCodex, Shown: "a server that has the door's name is not taken for it"})
			ready(t, Codex(v))
			theirs := newCounter(t, "")
			target, _ := watched(t, configured(t, Codex(v), runtime.DoorName, theirs))
			p := newPlace(t, target)
			var n notices
			l := p.startNoting(t, &n)
			own, _ := l.equip(byAddress, "")
			l.open("")
			h := l.prompt("TOOL xmd "+theTool+` {"value":"v1"}`, byIdentity)
			if own.count() != 0 || theirs.count() != 0 || len(h.asked) != 1 || h.asked[0].Request.Door != "" {
				t.Errorf("called %d and %d times, asked %+v", own.count(), theirs.count(), h.asked)
			}
			if !strings.Contains(n.text(), "did not start the workflow's tools") {
				t.Errorf("said %q", n.text())
			}
		})
	}
}

// Gemini starts no servers in a folder that it does not trust, and tells nobody. xmd does.
func TestRealGeminiUntrusted(t *testing.T) {
	Wanted(t)
	for _, v := range geminiVersions {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Gemini", Versions: v, Over: overItself, Shown: "that an untrusted folder has no door is said"})
			ready(t, Gemini(v))
			target, _ := watched(t, Gemini(v))
			at := target.At
			target.At = func(t testing.TB, p Place) Reach {
				reach := at(t, p)
				file := filepath.Join(p.Home, ".gemini", "settings.json")
				var settings map[string]map[string]any
				if err := json.Unmarshal(read(t, file), &settings); err != nil {
					t.Fatal(err)
				}
				settings["security"]["folderTrust"] = map[string]any{"enabled": true}
				data, _ := json.Marshal(settings)
				write(t, file, data)
				for i, kv := range reach.Env {
					if strings.HasPrefix(kv, "GEMINI_CLI_TRUST_WORKSPACE=") {
						reach.Env[i] = "UNUSED=1"
					}
				}
				return reach
			}
			p := newPlace(t, target)
			var n notices
			l := p.startNoting(t, &n)
			own, _ := l.equip(byAddress, "")
			l.open("")
			l.good("SAY hello")
			if own.count() != 0 || !strings.Contains(n.text(), "does not trust") {
				t.Errorf("said %q", n.text())
			}
		})
	}
}

// notices is what a person is told while a process serves.
type notices struct {
	mu  sync.Mutex
	all []string
}

func (n *notices) add(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, s)
}

func (n *notices) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.all, "\n")
}

// startNoting is start with the notices kept.
func (p *place) startNoting(t *testing.T, n *notices) *line {
	t.Helper()
	reach := p.target.At(t, p.Place)
	reach.Agent = noting{reach.Agent, n}
	p.reach = &reach
	return p.start(t)
}

// noting is an agent whose notices are kept.
type noting struct {
	runtime.Agent
	n *notices
}

func (a noting) Start(ctx context.Context, o runtime.StartOptions) (runtime.Connection, error) {
	o.Notice = a.n.add
	return a.Agent.Start(ctx, o)
}
