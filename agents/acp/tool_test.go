package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"xmd/runtime"
)

// calls runs updates of tool calls through a turn and returns what was shown.
func calls(t *testing.T, updates ...string) []runtime.ToolCall {
	t.Helper()
	var shown []runtime.ToolCall
	tn := &turn{p: &Profile{}, sink: func(u runtime.Update) {
		if u.Kind == runtime.UpdateTool {
			shown = append(shown, *u.Tool)
		}
	}}
	for _, text := range updates {
		if !json.Valid([]byte(text)) {
			t.Fatalf("no JSON: %s", text)
		}
		u, ok := parseUpdate([]byte(text))
		if !ok {
			t.Fatalf("no update: %s", text)
		}
		tn.deliver(&u)
	}
	return shown
}

func callUpdate(kind, rest string) string {
	return fmt.Sprintf(`{"sessionUpdate":%q,"toolCallId":"c",%s}`, kind, rest)
}

// An output is told once, when the call has ended, whatever form it came in.
func TestToolOutput(t *testing.T) {
	const text = `"content":[{"type":"content","content":{"type":"text","text":"%s"}}]`
	for name, c := range map[string]struct {
		updates []string
		want    string
	}{
		"content at the end":      {[]string{`"status":"completed",` + fmt.Sprintf(text, "out")}, "out"},
		"content while it runs":   {[]string{`"status":"in_progress",` + fmt.Sprintf(text, "par"), `"status":"in_progress",` + fmt.Sprintf(text, "partial"), `"status":"completed"`}, "partial"},
		"what will be done":       {[]string{`"status":"pending",` + fmt.Sprintf(text, "a description"), `"status":"completed"`}, ""},
		"raw text":                {[]string{`"status":"failed","rawOutput":"no",` + fmt.Sprintf(text, "```\\nno\\n```")}, "no"},
		"raw object with text":    {[]string{`"status":"completed","rawOutput":{"exit_code":0,"stdout":"out"}`}, "out"},
		"raw object without text": {[]string{`"status":"completed","rawOutput":{"exit_code":0}`}, ""},
		"of Grok's servers":       {[]string{`"status":"completed","rawOutput":{"type":"MCP","output":{"OkayOutput":"out"}}`}, "out"},
		"of Codex's servers":      {[]string{`"status":"completed","rawOutput":{"result":{"content":[{"type":"text","text":"out"}]},"error":null}`}, "out"},
		"streamed beside":         {[]string{`"_meta":{"terminal_output_delta":{"data":"a"}}`, `"_meta":{"terminal_output_delta":{"data":"b"}},"status":"completed","rawOutput":{"exit_code":0}`}, "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			updates := []string{callUpdate("tool_call", `"title":"x","kind":"execute","status":"pending"`)}
			for _, u := range c.updates {
				updates = append(updates, callUpdate("tool_call_update", u))
			}
			shown := calls(t, updates...)
			for _, call := range shown[:len(shown)-1] {
				if call.Output != "" {
					t.Errorf("an output before the end: %+v", call)
				}
			}
			if got := shown[len(shown)-1].Output; got != c.want {
				t.Errorf("output %q, want %q", got, c.want)
			}
		})
	}
}

func TestToolOutputIsBounded(t *testing.T) {
	long := strings.Repeat("x", maxOutput) + "end"
	shown := calls(t, callUpdate("tool_call", `"title":"x","status":"completed","rawOutput":"`+long+`"`))
	if out := shown[0].Output; len(out) != maxOutput || !strings.HasSuffix(out, "end") {
		t.Errorf("%d bytes", len(out))
	}
}

func TestToolNames(t *testing.T) {
	for rest, want := range map[string][2]string{
		`"kind":"read","title":"Read a.go","rawInput":{"file_path":"/a.go"}`:           {"Read", "/a.go"},
		`"kind":"read","title":"Read a.go","locations":[{"path":"/a.go","line":1}]`:    {"Read", "/a.go"},
		`"kind":"edit","title":"Edit","content":[{"type":"diff","path":"/b"}]`:         {"Edit", "/b"},
		`"kind":"execute","title":"ls","rawInput":{"command":["bash","-lc","ls -la"]}`: {"Bash", "bash -lc ls -la"},
		`"kind":"execute","title":"touch x"`:                                           {"Bash", "touch x"},
		`"kind":"execute","title":"Terminal","rawInput":{}`:                            {"Bash", ""},
		`"kind":"search","title":"'TWO'","rawInput":{"pattern":"TWO"}`:                 {"Search", "TWO"},
		`"kind":"fetch","title":"f","rawInput":{"url":"http://x"}`:                     {"Fetch", "http://x"},
		`"kind":"other","title":"mcp__door__submit","rawInput":{"text":"x"}`:           {"mcp__door__submit", ""},
		`"title":"No kind"`:              {"No kind", ""},
		`"kind":"new","title":"a\u0007"`: {"a\a", ""},
	} {
		got := calls(t, callUpdate("tool_call", rest))[0]
		if got.Name != want[0] || got.Subject != want[1] {
			t.Errorf("%s: %q %q", rest, got.Name, got.Subject)
		}
	}
}

// Later updates hold only what changed, and one that changes nothing is not shown.
func TestToolChanges(t *testing.T) {
	shown := calls(t,
		callUpdate("tool_call", `"title":"Edit","kind":"edit","status":"pending","rawInput":{}`),
		callUpdate("tool_call_update", `"title":"Edit a","rawInput":{"path":"/a"},"content":[{"type":"diff","path":"/a","oldText":"1","newText":"2"}]`),
		callUpdate("tool_call_update", `"_meta":{"x":1}`),
		callUpdate("tool_call_update", `"status":"completed","kind":"edit"`),
		`{"sessionUpdate":"tool_call_update","title":"no id"}`,
	)
	if len(shown) != 3 {
		t.Fatalf("%d shown: %+v", len(shown), shown)
	}
	if c := shown[1]; c.Name != "" || c.Kind != "" || c.Status != "" || c.Subject != "/a" || len(c.Diffs) != 1 || *c.Diffs[0].Old != "1" {
		t.Errorf("second %+v", c)
	}
	if c := shown[2]; c.Status != "completed" || c.Subject != "" || c.Diffs != nil || c.Input != nil || c.ID != "c" {
		t.Errorf("third %+v", c)
	}
}

func TestUnknownUpdatesAreCounted(t *testing.T) {
	n := 0
	tn := &turn{p: &Profile{}, sink: func(u runtime.Update) {
		n++
		if u.Kind != runtime.UpdateOther || u.Accepts {
			t.Errorf("%+v", u)
		}
	}}
	for _, text := range []string{
		`{"sessionUpdate":"something_new","content":{"type":"text","text":"x"},"toolCallId":"c","title":"t"}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[]}`,
		`{"sessionUpdate":"current_mode_update"}`,
		`{"sessionUpdate":"usage_update","used":1.5}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""}}`,
	} {
		u, ok := parseUpdate([]byte(text))
		if !ok {
			t.Fatalf("no update: %s", text)
		}
		tn.deliver(&u)
	}
	if n != 5 {
		t.Errorf("%d updates", n)
	}
}
