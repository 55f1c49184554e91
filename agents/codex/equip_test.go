package codex

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
)

const doorConfig = `"config":{"mcp_servers.files":{"command":"/bin/files","args":["-a"],"env":{"A":"b"}},` +
	`"mcp_servers.xmd":{"url":"http://127.0.0.1:1/mcp","http_headers":{"Authorization":"Bearer k"},"default_tools_approval_mode":"approve","tool_timeout_sec":91}}`

const ownTool = `"dynamicTools":[{"type":"function","name":"add","description":"Adds.","inputSchema":{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}},` +
	`{"type":"function","name":"stop","description":"","inputSchema":{"type":"object","properties":{},"additionalProperties":false}}]`

// aDesk is what the tests open a thread with.
func aDesk(call func(context.Context, runtime.ToolUse) runtime.ToolAnswer) runtime.Equipment {
	return runtime.Equipment{
		Instructions: "Be brief.",
		Servers: []runtime.MCPServer{
			{Name: "xmd", URL: "http://127.0.0.1:1/mcp", Headers: []runtime.Pair{{Name: "Authorization", Value: "Bearer k"}}, Timeout: 90*time.Second + 1, Own: true},
			{Name: "files", Command: "/bin/files", Args: []string{"-a"}, Env: []runtime.Pair{{Name: "A", Value: "b"}}},
		},
		Tools: []runtime.Tool{
			{Name: "add", Description: "Adds.", Schema: []byte(`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`)},
			{Name: "stop"},
		},
		Call: call,
	}
}

// Servers go with every start and resume; instructions and tools with a start only, where Codex keeps them.
func TestEquipment(t *testing.T) {
	for id, want := range map[string]string{
		"":  policy + `,"developerInstructions":"Be brief.",` + doorConfig + "," + ownTool,
		"T": `"threadId":"T",` + policy + `,"excludeTurns":true,` + doorConfig,
	} {
		timed(t, func(t *testing.T) {
			p := newPeer(t)
			defer p.close()
			if address, command := p.c.Takes(); !address || !command {
				t.Error("it takes both")
			}
			if err := p.c.Equip(aDesk(nil)); err != nil {
				t.Fatal(err)
			}
			_, _ = p.opens(t.Context(), id, func() {
				method := map[string]string{"": "thread/start", "T": "thread/resume"}[id]
				if m := p.expect(method); string(m.Params) != "{"+want+"}" {
					t.Errorf("got  %s\nwant {%s}", m.Params, want)
				}
				p.refuse("no rollout found for thread id T")
			})
		})
	}
}

// A door whose tools may take any time is given a long limit, since Codex has one of its own.
func TestDoorTimeout(t *testing.T) {
	for own, want := range map[bool]int64{true: 24 * 60 * 60, false: 0} {
		if got := serverOf(runtime.MCPServer{Name: "x", URL: "u", Own: own}).Timeout; got != want {
			t.Errorf("own %v: %d seconds, want %d", own, got, want)
		}
	}
}

func TestBadTools(t *testing.T) {
	for _, schema := range []string{`{`, `{"type":"nothing"}`} {
		p := newPeer(t)
		err := p.c.Equip(runtime.Equipment{Tools: []runtime.Tool{{Name: "a", Schema: []byte(schema)}}})
		if runtime.KindOf(err) != runtime.KindInvalid || !strings.Contains(err.Error(), "the schema of a") {
			t.Errorf("%s: %v", schema, err)
		}
		p.close()
	}
}

// called is a call of a tool, as Codex asks for it.
func called(id int, tool, arguments string) string {
	return question(id, toolCall, fmt.Sprintf(`"callId":"c","namespace":null,"tool":%q,"arguments":%s`, tool, arguments))
}

// Calls are answered with text, whatever goes wrong with them.
func TestOwnTools(t *testing.T) {
	for name, c := range map[string]struct {
		tool, arguments string
		want            string
	}{
		"it works":             {"add", `{"a":2}`, `{"contentItems":[{"type":"inputText","text":"add {\"a\":2}"}],"success":true}`},
		"it fails":             {"stop", `{}`, `{"contentItems":[{"type":"inputText","text":"error: cannot stop"}],"success":false}`},
		"arguments do not fit": {"add", `{"a":"x"}`, `{"contentItems":[{"type":"inputText","text":"error: the arguments do not fit the tool: a: must be integer, is string (\"x\")"}],"success":false}`},
		"no such tool":         {"else", `{}`, `{"contentItems":[{"type":"inputText","text":"error: there is no tool else"}],"success":false}`},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := onThread(t)
				defer p.close()
				if err := p.c.Equip(aDesk(func(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
					if use.Name == "stop" {
						return runtime.ToolAnswer{Text: "cannot stop", Failed: true}
					}
					return runtime.ToolAnswer{Text: use.Name + " " + string(use.Args)}
				})); err != nil {
					t.Fatal(err)
				}
				h := p.prompt(t.Context(), runtime.Turn{}, func() {
					p.begun()
					p.say(itemFrame("started", `{"type":"dynamicToolCall","id":"c","tool":"add","status":"inProgress"}`), called(7, c.tool, c.arguments))
					if m := p.expect(""); string(m.Result) != c.want || string(m.ID) != "7" {
						t.Errorf("got  %s\nwant %s", m.Result, c.want)
					}
					p.say(bound("completed", completes))
				})
				if h.err != nil || h.Stop != "end_turn" {
					t.Errorf("%+v", h)
				}
				if door := h.doors(); door != "add" {
					t.Errorf("told as the door's: %q", door)
				}
			})
		})
	}
}

// doors are the tools of the door in what was told, in order.
func (h *heard) doors() string {
	var names []string
	for _, u := range h.updates {
		if u.Tool != nil && u.Tool.Door != "" {
			names = append(names, u.Tool.Door)
		}
	}
	return strings.Join(names, " ")
}

// A call that Codex waits for no more, or whose turn is cancelled, is ended and answered; the turn's end waits for it.
func TestOwnToolEnds(t *testing.T) {
	for name, end := range map[string]func(p *peer, cancel func()){
		"withdrawn": func(p *peer, _ func()) {
			p.say(`{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":7}}`)
		},
		"cancelled": func(_ *peer, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := onThread(t)
				defer p.close()
				running, ended := make(chan struct{}), false
				if err := p.c.Equip(aDesk(func(ctx context.Context, _ runtime.ToolUse) runtime.ToolAnswer {
					close(running)
					<-ctx.Done()
					ended = true
					return runtime.ToolAnswer{Text: "ended", Failed: true}
				})); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p.prompt(ctx, runtime.Turn{}, func() {
					p.begun()
					p.say(called(7, "add", `{"a":1}`))
					<-running
					end(p, cancel)
					if m := p.expect(""); !strings.Contains(string(m.Result), "error: ended") {
						t.Errorf("%s", m.Result)
					}
					if name == "cancelled" {
						p.expect("turn/interrupt")
						p.answer(`{}`)
					}
					p.say(bound("completed", interrupted))
				})
				if !ended {
					t.Error("the call still runs")
				}
			})
		})
	}
}

// A call that belongs to no turn is refused, and so is one that comes when the turn is being cancelled.
func TestOwnToolWithoutTurn(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		if err := p.c.Equip(aDesk(func(context.Context, runtime.ToolUse) runtime.ToolAnswer {
			t.Error("it was called")
			return runtime.ToolAnswer{}
		})); err != nil {
			t.Fatal(err)
		}
		p.say(called(7, "add", `{"a":1}`))
		if m := p.expect(""); !strings.Contains(string(m.Result), "error: no turn of this conversation runs") {
			t.Errorf("%s", m.Result)
		}
		var over calls
		over.end()
		if _, ok := over.begin([]byte("1")); ok {
			t.Error("a call began after the end")
		}
		synctest.Wait()
	})
}

// A question about the door's tool is told from one about another server's of the same name and words.
func TestDoorQuestion(t *testing.T) {
	for server, want := range map[string]string{"xmd": "add", "xmd2": ""} {
		timed(t, func(t *testing.T) {
			p := onThread(t)
			defer p.close()
			if err := p.c.Equip(aDesk(nil)); err != nil {
				t.Fatal(err)
			}
			h := p.prompt(t.Context(), runtime.Turn{Ask: func(_ context.Context, r runtime.PermissionRequest) bool { return r.Door != "" }}, func() {
				p.begun()
				p.say(
					itemFrame("started", fmt.Sprintf(`{"type":"mcpToolCall","id":"t1","server":%q,"tool":"add","arguments":{},"status":"inProgress"}`, server)),
					question(7, elicits, fmt.Sprintf(`"serverName":%q,"mode":"form","message":"Allow the xmd MCP server to run tool \"add\"?","_meta":{"codex_approval_kind":"mcp_tool_call","tool_name":"add"}`, server)),
				)
				p.expect("")
				p.say(bound("completed", completes))
			})
			var asked []string
			for _, u := range h.updates {
				if u.Permission != nil {
					asked = append(asked, u.Permission.Request.Door)
				}
			}
			if len(asked) != 1 || asked[0] != want || h.doors() != want || (h.Refused == 0) != (want != "") {
				t.Errorf("%s: asked %q, told %q, refused %d", server, asked, h.doors(), h.Refused)
			}
		})
	}
}
