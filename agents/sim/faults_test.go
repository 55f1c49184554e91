package sim

import (
	"encoding/json"
	"io"
	"maps"
	"strings"
	"testing"
)

// faultTests is all of them; TestEveryFaultHasATest holds the table of faults to it.
func faultTests() map[string]func(*testing.T) {
	all := maps.Clone(sessionFaults)
	maps.Copy(all, turnFaults)
	return all
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func noEnv(string) string { return "" }

// printed runs --version with a fault.
func printed(t *testing.T, fault string) (string, int) {
	t.Helper()
	var out strings.Builder
	code := Main(t.Context(), []string{"--version", "--fault", fault}, strings.NewReader(""), &out, io.Discard, noEnv)
	return out.String(), code
}

// twoHistories makes a home with two sessions, the second used last.
func twoHistories(t *testing.T) (home, first, second string) {
	home, first = history(t)
	c := start(t, home)
	second = c.session()
	c.prompt(second, "My codeword is YAK.")
	c.close()
	return home, first, second
}

// offers wants these option kinds in a permission request.
func offers(t *testing.T, fault, want string) {
	c := start(t, t.TempDir(), fault)
	var got []string
	c.answer = func(f frame) any {
		var p struct{ Options []struct{ Kind string } }
		_ = json.Unmarshal(f.Params, &p)
		for _, o := range p.Options {
			got = append(got, o.Kind)
		}
		return choose(f, "allow_always")
	}
	c.says(c.session(), "PERM edit", "permission: allow_always")
	if s := strings.Join(got, " "); s != want {
		t.Errorf("offered %s, want %s", s, want)
	}
}

// noisy loads and prompts, and gives the lines of the turn.
func (c *client) noisy(id string) []string {
	c.loaded(id)
	from := len(c.quiet())
	c.prompt(id, "x")
	return c.seen()[from:]
}

// crashing runs initialize, new or load, and a prompt against crash=point, and tells what came before the end with
// code 7: i for initialize, n for new or load, u for an update of the turn, p for the prompt's result.
func crashing(t *testing.T, home, id, point string) string {
	c := start(t, home, "crash="+point, "no-commands")
	opening := "session/new"
	if point == "load" {
		opening = "session/load"
	}
	for _, step := range []func() int{
		func() int { return c.send("initialize", object{"protocolVersion": 1}) },
		func() int { return c.send(opening, cwd(object{"sessionId": id})) },
		func() int {
			var made struct{ Result struct{ SessionID string } }
			_ = json.Unmarshal([]byte(c.seen()[1]), &made)
			return c.send("session/prompt", words(made.Result.SessionID, "CHUNKS 2 2"))
		},
	} {
		before := len(c.quiet())
		step()
		if lines := c.quiet(); len(lines) == before {
			break
		}
	}
	if code := c.ended(); code != crashCode {
		t.Errorf("crash=%s ended with %d", point, code)
	}
	got := ""
	for _, line := range c.seen() {
		switch {
		case strings.Contains(line, "protocolVersion"):
			got += "i"
		case strings.Contains(line, "configOptions"):
			got += "n"
		case strings.Contains(line, "stopReason"):
			got += "p"
		case strings.Contains(line, "agent_message_chunk") && !strings.HasSuffix(got, "u"):
			got += "u"
		}
	}
	return got
}

// left is what a load shows of the second turn after a crash in it: u for its words, a for an answer, ! for its end.
func left(t *testing.T, point string) string {
	home := t.TempDir()
	c := start(t, home, "crash="+point, "crash-turn")
	id := c.session()
	c.says(id, "x", "turn 1: x")
	c.send("session/prompt", words(id, "y"))
	c.ended()
	_, replayed := start(t, home, "keeps-ends", "no-commands").loaded(id)
	got := ""
	for _, u := range replayed[2:] {
		got += map[string]string{"user_message_chunk": "u", "agent_message_chunk": "a"}[u.Kind]
		if u.Meta["completed"] == true {
			got += "!"
		}
	}
	return got
}

func TestFaults(t *testing.T) {
	for name, test := range faultTests() {
		t.Run(name, bubble(test))
	}
}

// processFaults are tested with a real process, in process_test.go.
var processFaults = map[string]bool{"ignore-term": true, "grandchild": true}

func TestEveryFaultHasATest(t *testing.T) {
	known, tests := map[string]bool{}, faultTests()
	for _, f := range faultTable {
		known[f.name] = true
		if tests[f.name] == nil && !processFaults[f.name] && !nativeFaults[f.name] && !serverFaults[f.name] {
			t.Errorf("no test for the fault %s", f.name)
		}
		if !strings.Contains(describeFaults(), "  "+f.usage()) {
			t.Errorf("--help lacks %s", f.name)
		}
	}
	for name := range tests {
		if !known[name] {
			t.Errorf("a test for the unknown fault %s", name)
		}
	}
}
