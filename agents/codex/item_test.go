package codex

import (
	"slices"
	"strings"
	"testing"

	"xmd/agents/wire"
	"xmd/runtime"
)

func TestCalls(t *testing.T) {
	for name, c := range map[string]struct {
		item string
		want runtime.ToolCall // Input and Diffs apart
	}{
		"a command":  {`{"type":"commandExecution","id":"1","command":"/bin/bash -lc 'go test ./...'","cwd":"/r","aggregatedOutput":"ok\n"}`, runtime.ToolCall{Name: "Bash", Kind: "execute", Subject: "go test ./...", Output: "ok\n"}},
		"a read":     {`{"type":"commandExecution","id":"1","command":"cat a"}`, runtime.ToolCall{Name: "Read", Kind: "read", Subject: "cat a"}},
		"a search":   {`{"type":"commandExecution","id":"1","command":"grep x a"}`, runtime.ToolCall{Name: "Search", Kind: "search", Subject: "grep x a"}},
		"an edit":    {aFile, runtime.ToolCall{Name: "Edit", Kind: "edit", Subject: "/r/a"}},
		"no change":  {`{"type":"fileChange","id":"1","changes":[]}`, runtime.ToolCall{Name: "Edit", Kind: "edit"}},
		"a tool":     {`{"type":"mcpToolCall","id":"1","server":"door","tool":"add","result":{"content":[{"type":"text","text":"4"},{"type":"image"},{"type":"text","text":"2"}]}}`, runtime.ToolCall{Name: "door.add", Kind: "other", Output: "4\n2"}},
		"it failed":  {`{"type":"mcpToolCall","id":"1","server":"door","tool":"add","result":null,"error":{"message":"no"}}`, runtime.ToolCall{Name: "door.add", Kind: "other", Output: "no"}},
		"our own":    {`{"type":"dynamicToolCall","id":"1","namespace":null,"tool":"ask","contentItems":[{"type":"inputText","text":"x"}]}`, runtime.ToolCall{Name: "ask", Kind: "other", Output: "x"}},
		"an agent":   {`{"type":"collabAgentToolCall","id":"1","tool":"spawnAgent","prompt":"look"}`, runtime.ToolCall{Name: "spawnAgent", Kind: "other", Subject: "look"}},
		"the web":    {`{"type":"webSearch","id":"1","query":"go","action":{"type":"search","query":"go"}}`, runtime.ToolCall{Name: "Search", Kind: "search", Subject: "go"}},
		"a page":     {`{"type":"webSearch","id":"1","query":"","action":{"type":"openPage","url":"https://go.dev"}}`, runtime.ToolCall{Name: "Fetch", Kind: "fetch", Subject: "https://go.dev"}},
		"no action":  {`{"type":"webSearch","id":"1","query":"go","action":null}`, runtime.ToolCall{Name: "Search", Kind: "search", Subject: "go"}},
		"an image":   {`{"type":"imageView","id":"1","path":"/r/a.png"}`, runtime.ToolCall{Name: "Read", Kind: "read", Subject: "/r/a.png"}},
		"other form": {`{"type":"commandExecution","id":"1","command":["a","b"],"cwd":7,"changes":"x","status":"completed"}`, runtime.ToolCall{Name: "Bash", Kind: "execute"}},
	} {
		it := parseItem([]byte(c.item))
		got, ok := it.call()
		if !ok || got.Name != c.want.Name || got.Kind != c.want.Kind || got.Subject != c.want.Subject || got.Output != c.want.Output {
			t.Errorf("%s: %+v", name, got)
		}
	}
	it := parseItem([]byte(`{"type":"sleep","id":"1"}`))
	if _, ok := it.call(); ok {
		t.Error("a kind of next year is an action")
	}
	long := item{Type: "commandExecution", Output: new(strings.Repeat("é", maxOutput))}
	if got, _ := long.call(); len(got.Output) != maxOutput || !strings.HasPrefix(got.Output, "é") {
		t.Errorf("%d bytes of output", len(got.Output))
	}
}

func TestStatuses(t *testing.T) {
	for _, c := range []struct {
		status         string
		done, declined bool
		want           string
	}{
		{"inProgress", false, false, "in_progress"}, {"", false, false, "in_progress"}, {"", true, false, "completed"},
		{"completed", true, false, "completed"}, {"failed", true, false, "failed"}, {"declined", true, false, "declined"},
		{"failed", true, true, "declined"}, {"completed", true, true, "completed"}, {"inProgress", false, true, "in_progress"},
	} {
		it := item{Status: c.status, declined: c.declined}
		if got := it.callStatus(c.done); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestDiffs(t *testing.T) {
	it := parseItem([]byte(`{"type":"fileChange","id":"1","changes":[
		{"path":"/new","kind":{"type":"add"},"diff":"a\nb\n"},
		{"path":"/gone","kind":{"type":"delete"},"diff":"c\n"},
		{"path":"/old","kind":{"type":"update","move_path":null},"diff":"@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n@@ -9 +9 @@\n-nine\n+9\n\\ No newline at end of file\n"}]}`))
	call, _ := it.call()
	type flat struct{ path, old, new string }
	var got []flat
	for _, d := range call.Diffs {
		old := "-"
		if d.Old != nil {
			old = *d.Old
		}
		got = append(got, flat{d.Path, old, d.New})
	}
	want := []flat{{"/new", "-", "a\nb\n"}, {"/gone", "c\n", ""}, {"/old", "one\ntwo\nthree\n", "one\n2\nthree\n"}, {"/old", "nine\n", "9\n"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestScript(t *testing.T) {
	for line, want := range map[string]string{
		`/bin/bash -lc 'touch a && echo b'`: `touch a && echo b`,
		`bash -lc "echo \"$HOME\" 'x'"`:     `echo "$HOME" 'x'`,
		`/bin/zsh -c 'it'"'"'s'`:            `it's`,
		`/usr/bin/bash -lc ls`:              `ls`,
		`bash -lc 'a' b`:                    `bash -lc 'a' b`,
		`bash script.sh`:                    `bash script.sh`,
		`ls -l`:                             `ls -l`,
		`bash -lc 'unclosed`:                `bash -lc 'unclosed`,
		`pwsh -Command "x"`:                 `pwsh -Command "x"`,
		"":                                  "",
		`bash -lc 'cat <<EOF > x` + "\n" + `EOF'`: "cat <<EOF > x\nEOF",
	} {
		if got := script(line); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestReading(t *testing.T) {
	for script, want := range map[string]string{
		"cat a.txt": "read /r/a.txt", "cat -n 'a b.txt' /etc/passwd": "read /r/a b.txt,/etc/passwd", `cat "a"`: "read /r/a", "ls": "read /r", "ls -la src": "read /r/src",
		"head -n 5 a": "read /r/5,/r/a", "head -5 a": "read /r/a", "tail -20 a": "read /r/a", "wc -l a": "read /r/a", "nl -ba a": "read /r/a", "pwd": "read ",
		"sed -n 1,20p a": "read /r/a", "sed -n '3p' a b": "read /r/a,/r/b", "cat ../a": "read /a",
		"grep -rn foo": "search /r", "grep -n 'a|b' x y": "search /r/x,/r/y", "rg foo src": "search /r/src", "rg -n --glob=*.go foo": "", "rg -n '--glob=*.go' foo": "search /r",
		"grep --include=x foo d": "search /r/d",

		"": "", "cat a > b": "", "cat a | sh": "", "cat a; rm b": "", "cat $(rm a)": "", "cat `rm a`": "", "cat *": "", "cat ~/x": "", `cat "$X"`: "", "cat a\nrm b": "",
		"X=1 cat a": "", "tail -f a": "", "sed -i s/a/b/ a": "", "sed -n '1e rm x' a": "", "sed -n 1w a": "", "sed -n p a": "", "sed -n 1p": "", "sed -n 1p -i a": "", "sed -n 1p a -e w": "", "sed -n 1p a --in-place": "",
		"find . -delete": "", "rg --pre sh foo": "", "rg -z foo": "", "rg --hostname-bin=x foo": "", "grep": "", "grep -f x y": "", "git diff": "", "less a": "", "/bin/cat a": "",
		"cat 'a": "", "cat --help": "", "cat a\\ b": "", "cat a & rm b": "", "cat <(rm a)": "", "cat {a,b}": "", "#cat": "", "cat a\rb": "",
	} {
		kind, files := reading(script, "/r")
		got := ""
		if kind != "" {
			got = kind + " " + strings.Join(files, ",")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

func TestStrict(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"string","description":"x"}},"required":["a"],"additionalProperties":false}`:                                                     true,
		`{"type":"object","properties":{},"required":[],"additionalProperties":false}`:                                                                                               true,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{},"additionalProperties":false}}},"required":["l"],"additionalProperties":false}`: true,
		`{"type":"object","properties":{"a":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x"}]}},"required":["a"],"additionalProperties":false,"$defs":{"x":{"enum":[1]}}}`:             true,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`:                                                                                                    false,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                                                                                        false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],"additionalProperties":false}`:                                                                       false,
		`{"type":"object","properties":{"a":{"type":"string","minLength":3}},"required":["a"],"additionalProperties":false}`:                                                         false,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object"}}},"required":["l"],"additionalProperties":false}`:                                              false,
		`{"type":"object","properties":{"l":{"type":"array","items":true}},"required":["l"],"additionalProperties":false}`:                                                           false,
		`{"type":"object","properties":{},"additionalProperties":false,"$defs":{"x":{"type":"object"}}}`:                                                                             false,
		`{"type":"object","properties":{"a":{"type":"string"}},"required":["a","b"],"additionalProperties":false}`:                                                                   false,
		`{"type":"array","items":{"type":"string"}}`:                                                                                                                                 false,
		`true`: false, `{`: false, ``: false,
	} {
		if got := strict([]byte(schema)); got != want {
			t.Errorf("%s: %v", schema, got)
		}
	}
}

// Whatever an item is, it makes one update, of a form that the runtime knows, and never a second one of the same text.
func FuzzItem(f *testing.F) {
	for _, seed := range []string{userItem, aCommand, aFile, aTool, `{"type":"agentMessage","id":"m","text":"abc"}`, `{"type":"reasoning","id":"r","summary":["a"],"content":["b"]}`,
		`{"type":"webSearch","id":"w","query":"q","action":{"type":"openPage","url":"u"}}`, `{"type":"contextCompaction","id":"c"}`, `{"type":3}`, `[]`, `"x"`} {
		f.Add([]byte(seed), seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte, streamed string) {
		var got []runtime.Update
		tn := &turn{sink: func(u runtime.Update) { got = append(got, u) }, started: make(chan struct{}), done: make(chan struct{})}
		params := append(append([]byte(`{"item":`), raw...), '}')
		id, _ := wire.String(wire.Field(raw, "id"))
		tn.say(runtime.UpdateMessage, id, streamed)
		for _, done := range []bool{false, true, true} {
			before := len(got)
			tn.item(params, done)
			if len(got) != before+1 {
				t.Fatalf("%d updates for %s", len(got)-before, raw)
			}
		}
		for _, u := range got {
			if (u.Kind == runtime.UpdateTool) != (u.Tool != nil) || u.Tool != nil && (u.Tool.ID == "" || u.Tool.Kind == "" || u.Tool.Status == "") {
				t.Fatalf("%+v", u)
			}
		}
		if last := got[len(got)-1]; last.Kind == runtime.UpdateMessage && last.Text != "" {
			t.Fatalf("%q is said twice", last.Text)
		}
		for method, kind := range approvals {
			tn.mu.Lock()
			if r, _ := kind.request(tn, raw); r.Kind == "" {
				t.Fatalf("%s without a kind: %s", method, raw)
			}
			tn.mu.Unlock()
		}
		tn.completed(raw)
		_ = tn.ended()
	})
}
