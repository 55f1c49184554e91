package codex

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"xmd/runtime"
)

// aCommand is one that runs, as an item of the turn.
const aCommand = `{"type":"commandExecution","id":"c","command":"/bin/bash -lc 'make all'","cwd":"/r","status":"inProgress"}`

// question is a request of Codex's in turn U of thread T.
func question(id int, method, members string) string {
	return fmt.Sprintf(`{"id":%d,"method":%q,"params":{"threadId":"T","turnId":"U",%s}}`, id, method, members)
}

const (
	command   = "item/commandExecution/requestApproval"
	files     = "item/fileChange/requestApproval"
	elicits   = "mcpServer/elicitation/request"
	aFile     = `{"type":"fileChange","id":"f","status":"inProgress","changes":[{"path":"/r/a","kind":{"type":"add"},"diff":"x\n"},{"path":"/r/b","kind":{"type":"update","move_path":"/r/c"},"diff":"@@ -1 +1 @@\n-o\n+n\n"}]}`
	aTool     = `{"type":"mcpToolCall","id":"t1","server":"door","tool":"add","arguments":{"a":1},"status":"inProgress"}`
	otherTool = `{"type":"mcpToolCall","id":"t2","server":"door","tool":"del","arguments":{},"status":"inProgress"}`
	toolAsk   = `"serverName":"door","mode":"form","message":"Allow it?","_meta":{"codex_approval_kind":"mcp_tool_call","tool_params":{"a":1}}`
)

// What is asked, how it is answered, and what is told of it.
func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		items    []string
		method   string
		members  string
		want     runtime.PermissionRequest // its plain members
		yes, no  string
		declined string // the id of the call that was not run
	}{
		"a command": {
			[]string{aCommand}, command, `"kind":"command","itemId":"c","command":"/bin/bash -lc 'make all'","cwd":"/r","reason":null`,
			runtime.PermissionRequest{CallID: "c", Kind: "execute", Title: "make all", Subject: "make all", Command: "make all"},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "c",
		},
		"a command that reads": {
			nil, command, `"itemId":"c","command":"/bin/bash -lc 'cat a.txt'","cwd":"/r/sub","reason":"to see it"`,
			runtime.PermissionRequest{CallID: "c", Kind: "read", Title: "to see it", Subject: "cat a.txt", Command: "cat a.txt", Paths: []string{"/r/sub/a.txt"}},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "",
		},
		"a reading command that wants more": {
			nil, command, `"itemId":"c","command":"cat a.txt","cwd":"/r","additionalPermissions":{"network":{"enabled":true}}`,
			runtime.PermissionRequest{CallID: "c", Kind: "execute", Title: "cat a.txt", Subject: "cat a.txt", Command: "cat a.txt"},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "",
		},
		"input for a command": {
			nil, command, `"kind":"writeStdin","itemId":"c","command":"yes","cwd":"/r"`,
			runtime.PermissionRequest{CallID: "c", Kind: "execute", Title: "yes", Subject: "yes"},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "",
		},
		"the network": {
			[]string{aCommand}, command, `"itemId":"c","networkApprovalContext":{"host":"example.org"},"reason":"example.org"`,
			runtime.PermissionRequest{CallID: "c", Kind: "execute", Title: "example.org", Subject: "make all"},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "c",
		},
		"files": {
			[]string{aFile}, files, `"itemId":"f","reason":null,"grantRoot":null`,
			runtime.PermissionRequest{CallID: "f", Kind: "edit", Title: "Edit files", Subject: "/r/a", Paths: []string{"/r/a", "/r/b", "/r/c"}},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "f",
		},
		"a folder": {
			[]string{aFile}, files, `"itemId":"f","reason":"more","grantRoot":"/else"`,
			runtime.PermissionRequest{CallID: "f", Kind: "edit", Title: "more", Subject: "/r/a", Paths: []string{"/r/a", "/r/b", "/r/c", "/else"}},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "f",
		},
		"a deletion": {
			[]string{`{"type":"fileChange","id":"f","status":"inProgress","changes":[{"path":"/r/a","kind":{"type":"delete"},"diff":"x\n"}]}`}, files, `"itemId":"f"`,
			runtime.PermissionRequest{CallID: "f", Kind: "delete", Title: "Edit files", Subject: "/r/a", Paths: []string{"/r/a"}},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "f",
		},
		"files of which nothing was told": {
			nil, files, `"itemId":"g"`, runtime.PermissionRequest{CallID: "g", Kind: "edit", Title: "Edit files"},
			`{"decision":"accept"}`, `{"decision":"decline"}`, "",
		},
		"a tool": {
			[]string{aTool, otherTool}, elicits, toolAsk,
			runtime.PermissionRequest{CallID: "t1", Kind: "other", Title: "Allow it?", Subject: "door.add"},
			`{"action":"accept","content":{}}`, `{"action":"decline","content":null}`, "t1",
		},
		"a tool by its name": {
			[]string{aTool, otherTool}, elicits, strings.Replace(toolAsk, `"tool_params":{"a":1}`, `"tool_name":"del"`, 1),
			runtime.PermissionRequest{CallID: "t2", Kind: "other", Title: "Allow it?", Subject: "door.del"},
			`{"action":"accept","content":{}}`, `{"action":"decline","content":null}`, "t2",
		},
		"a tool of which nothing was told": {
			nil, elicits, toolAsk, runtime.PermissionRequest{Kind: "other", Title: "Allow it?", Subject: "door"},
			`{"action":"accept","content":{}}`, `{"action":"decline","content":null}`, "",
		},
		"permissions": {
			nil, "item/permissions/requestApproval", `"itemId":"p","reason":"why","permissions":{"network":{"enabled":true},"fileSystem":null}`,
			runtime.PermissionRequest{CallID: "p", Kind: "other", Title: "why"},
			`{"permissions":{"network":{"enabled":true}},"scope":"turn"}`, `{"permissions":{},"scope":"turn"}`, "",
		},
	} {
		for _, allowed := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%v", name, allowed), func(t *testing.T) {
				timed(t, func(t *testing.T) {
					p := onThread(t)
					defer p.close()
					h := p.prompt(t.Context(), runtime.Turn{Ask: always(allowed)}, func() {
						p.begun()
						for _, it := range c.items {
							p.say(itemFrame("started", it))
						}
						p.say(question(3, c.method, c.members))
						want := c.no
						if allowed {
							want = c.yes
						}
						if m := p.expect(""); string(m.ID) != "3" || string(m.Result) != want {
							t.Errorf("answered %s, want %s", m.Result, want)
						}
						for _, it := range c.items {
							p.say(itemFrame("completed", strings.Replace(it, "inProgress", map[bool]string{true: "completed", false: "failed"}[allowed], 1)))
						}
						p.say(bound("completed", completes))
					})
					if refused := map[bool]int{true: 0, false: 1}[allowed]; h.Refused != refused || h.Stop != "end_turn" {
						t.Errorf("%+v", h.TurnResult)
					}
					told(t, h, c.want, allowed)
					for _, u := range h.updates {
						if u.Kind == runtime.UpdateTool && u.Tool.Status == "declined" && (allowed || u.Tool.ID != c.declined) {
							t.Errorf("%s was not run", u.Tool.ID)
						}
						if u.Kind == runtime.UpdateTool && u.Tool.Status == "failed" && u.Tool.ID == c.declined {
							t.Errorf("%s is shown as failed, and did not run", u.Tool.ID)
						}
					}
				})
			})
		}
	}
}

func told(t *testing.T, h *heard, want runtime.PermissionRequest, allowed bool) {
	t.Helper()
	for _, u := range h.updates {
		if u.Kind != runtime.UpdatePermission {
			continue
		}
		r := u.Permission.Request
		if r.CallID != want.CallID || r.Kind != want.Kind || r.Title != want.Title || r.Subject != want.Subject || r.Command != want.Command ||
			!slices.Equal(r.Paths, want.Paths) || u.Permission.Allowed != allowed {
			t.Errorf("told %+v, want %+v", *u.Permission, want)
		}
		return
	}
	t.Error("nothing is told of the question")
}

// Of calls that are alike each question is about the next one, whatever is told of them in between.
func TestQuestionsAboutLikeCalls(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		var asked []string
		ask := func(_ context.Context, r runtime.PermissionRequest) bool {
			asked = append(asked, r.CallID)
			return true
		}
		p.prompt(t.Context(), runtime.Turn{Ask: ask}, func() {
			p.begun()
			p.say(itemFrame("started", aTool), itemFrame("started", strings.Replace(aTool, "t1", "t3", 1)), question(1, elicits, toolAsk))
			p.expect("")
			p.say(itemFrame("started", aTool), question(2, elicits, toolAsk))
			p.expect("")
			p.say(bound("completed", completes))
		})
		if !slices.Equal(asked, []string{"t1", "t3"}) {
			t.Errorf("asked about %q", asked)
		}
	})
}

// What nobody can answer is refused without asking: a form, what comes when no turn runs, another thread's, another turn's.
func TestQuestionsForNobody(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		declined := func(frame, want string) {
			t.Helper()
			p.say(frame)
			if m := p.expect(""); string(m.Result) != want {
				t.Errorf("%s is answered %s %s", frame, m.Result, m.Error)
			}
		}
		declined(question(0, command, `"itemId":"c"`), `{"decision":"decline"}`)
		h := p.prompt(t.Context(), runtime.Turn{Ask: always(true)}, func() {
			p.begun()
			declined(strings.Replace(question(1, command, `"itemId":"c"`), `"U"`, `"OLD"`, 1), `{"decision":"decline"}`)
			declined(strings.Replace(question(2, files, `"itemId":"c"`), `"T"`, `"OTHER"`, 1), `{"decision":"decline"}`)
			declined(question(3, elicits, `"serverName":"door","mode":"form","message":"Your name?","_meta":null,"requestedSchema":{}`), `{"action":"decline","content":null}`)
			declined(strings.Replace(question(4, elicits, toolAsk), `"U"`, `null`, 1), `{"action":"decline","content":null}`)
			p.say(question(5, "item/tool/requestUserInput", `"questions":[]`))
			if m := p.expect(""); m.Error == nil {
				t.Errorf("an unknown request is answered %s", m.Result)
			}
			p.say(bound("completed", completes))
		})
		if h.Refused != 0 || !strings.Contains(h.text(runtime.UpdateNotice), "Your name?") {
			t.Errorf("%+v %+v", h.TurnResult, h.updates)
		}
	})
}

// Questions are decided one after another; one that Codex takes back is not decided any more.
func TestQuestionsInOrder(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := onThread(t)
		defer p.close()
		var asked []string
		ask := func(ctx context.Context, r runtime.PermissionRequest) bool {
			asked = append(asked, r.CallID)
			if r.CallID == "one" {
				<-ctx.Done() // until it is taken back
			}
			return true
		}
		h := p.prompt(t.Context(), runtime.Turn{Ask: ask}, func() {
			p.begun()
			p.say(question(1, command, `"itemId":"one"`), question(2, command, `"itemId":"two"`))
			synctest.Wait()
			p.say(`{"method":"serverRequest/resolved","params":{"threadId":"T","requestId":1}}`)
			p.expect("")
			if m := p.expect(""); string(m.ID) != "2" || string(m.Result) != `{"decision":"accept"}` {
				t.Errorf("%s: %s", m.ID, m.Result)
			}
			p.say(bound("completed", completes))
		})
		if h.Refused != 0 || !slices.Equal(asked, []string{"one", "two"}) {
			t.Errorf("%+v, asked %q", h.TurnResult, asked)
		}
	})
}
