package runtime_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/event"
)

func (b *bench) write(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

func TestFileReads(t *testing.T) {
	const text = "a </Prompt> {{x}} {v} ]]>\r\n```bash exec\nrm -rf /\n``` é \x00 end"
	b := newBench(t)
	b.props = map[string]any{"v": int64(3)}
	b.write("in.txt", text)
	b.write("latin1.txt", "\xe9")
	for _, c := range []struct{ name, doc, out, err string }{
		{"in place", `[<File path="in.txt"/>]`, "[" + text + "]", ""},
		{"bound", `<File path={"in" + ".txt"} as="f"/>[{f}]`, "[" + text + "]", ""},
		{"to a prompt", `<File path="in.txt" as="f"/><Prompt>{f}</Prompt>`, "«" + text + "»", ""},
		{"missing", `a<File path="no/such.txt"/>b`, "a", `test.xmd:1:2: the file "no/such.txt" cannot be read: it does not exist`},
		{"a folder", `<File path="state"/>`, "", `the file "state" cannot be read: it is a folder`},
		{"not text", `<File path="latin1.txt"/>`, "", `the file "latin1.txt" is not UTF-8 text`},
		{"outside", `<File path="../x"/>`, "", `the path "../x" leads to ` + filepath.Join(filepath.Dir(b.dir), "x")},
		{"no string", given(`<File path={props.v}/>`, "v"), "", "path must be a string, is 3"},
	} {
		r := b.flow(c.doc)
		if r.out != c.out || !says(r.err, c.err) {
			t.Errorf("%s: %q, %v", c.name, r.out, r.err)
		}
	}
}

// says reports whether err is what is wanted; "" is none.
func says(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

func TestFileWrites(t *testing.T) {
	b := newBench(t)
	b.write("old.sh", "old")
	if err := os.Chmod(filepath.Join(b.dir, "old.sh"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old.sh", filepath.Join(b.dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ doc, file, want string }{
		{"<File path=\"a/b/c.txt\">\none\n\n</File>\n", "a/b/c.txt", "one\n"},
		{`<File path="exact">one</File>`, "exact", "one"},
		{`<File path="empty"></File>`, "empty", ""},
		{`<Let as="v" value="  x &#10;&#10;"/><File path="v">{v}</File>`, "v", "  x \n\n"},
		{`<File path="link.sh">new</File>`, "old.sh", "new"},
		{`<File path="reply"><Prompt text="x"/></File>`, "reply", "«x»"},
	} {
		r := b.flow(c.doc)
		if r.err != nil || r.out != "" || b.read(c.file) != c.want {
			t.Errorf("%s\n%q, wrote %q, %v", c.doc, r.out, b.read(c.file), r.err)
		}
	}
	info, err := os.Lstat(filepath.Join(b.dir, "old.sh"))
	if err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if link, err := os.Readlink(filepath.Join(b.dir, "link.sh")); err != nil || link != "old.sh" {
		t.Errorf("the link became %q, %v", link, err)
	}
}

func TestFileIsNotWrittenWhenItsBodyFails(t *testing.T) {
	b := newBench(t)
	b.write("keep", "old")
	b.agents["fake"].onPrompt = failing
	r := b.flow(`<File path="keep">new <Prompt text="bad"/></File>`)
	if r.err == nil || b.read("keep") != "old" {
		t.Errorf("%q, %v", b.read("keep"), r.err)
	}
	before := len(b.agents["fake"].prompts)
	r = b.flow(`<File path="../out"><Prompt text="x"/></File>`)
	if !says(r.err, "outside the run's directory") || len(b.agents["fake"].prompts) != before {
		t.Errorf("a path that leads out: %v, %d prompts", r.err, len(b.agents["fake"].prompts)-before)
	}
	left, _ := filepath.Glob(filepath.Join(b.dir, ".xmd-*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if err := os.Mkdir(filepath.Join(b.dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r := b.flow(`<File path="folder">x</File>`); !says(r.err, `the file "folder" cannot be written: it is a folder`) {
		t.Error(r.err)
	}
}

func TestGlob(t *testing.T) {
	b := newBench(t)
	b.props = map[string]any{"out": "../**", "abs": "/etc/*", "bad": "[a", "folder": "src/", "no": []any{int64(1)}}
	for _, f := range []string{"b.go", "a/x.go", "a/b/y.go", "a/b/y_test.go", "a.txt", ".hidden.go", ".git/z.go", "node_modules/m/w.go"} {
		b.write("src/"+f, "")
	}
	for link, to := range map[string]string{"src/linked": "a", "src/file.go": "b.go", "src/broken.go": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ doc, out, err string }{
		{`<Glob include="src/**/*.go"/>`, "src/a/b/y.go\nsrc/a/b/y_test.go\nsrc/a/x.go\nsrc/b.go\nsrc/file.go\nsrc/node_modules/m/w.go", ""},
		{`<Glob include={["src/*.go", "src/*.txt"]} as="f"/>{json(f)}`, `["src/a.txt","src/b.go","src/file.go"]`, ""},
		{`<Glob include="./src/**/*.go" exclude={["**/*_test.go", "src/node_modules/**"]}/>`, "src/a/b/y.go\nsrc/a/x.go\nsrc/b.go\nsrc/file.go", ""},
		{`<Glob include="src/.*"/>`, "src/.hidden.go", ""},
		{`<Glob include="src/a"/>`, "", ""},
		{`<Glob include="no/**" as="f"/>{json(f)}`, `[]`, ""},
		{given(`<Glob include={props.out}/>`, "out"), "", `include: the pattern "../**" leads out of the run's directory`},
		{given(`<Glob include={props.abs}/>`, "abs"), "", "leads out"},
		{given(`<Glob include={props.bad}/>`, "bad"), "", "is malformed"},
		{given(`<Glob include={props.folder}/>`, "folder"), "", `write "src/**"`},
		{given(`<Glob include={props.no}/>`, "no"), "", "include must be a string or an array of strings, and has a number"},
	} {
		doc := strings.Replace(c.doc, "{json(f)}", `<Let as="j" value={json(f)}/>{j}`, 1)
		if r := b.flow(doc); r.out != c.out || !says(r.err, c.err) {
			t.Errorf("%s: %q, %v", c.doc, r.out, r.err)
		}
	}
}

func TestTempDir(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	left := func() []string {
		all, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	b := newBench(t)
	var seen os.FileMode
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		info, err := os.Stat(turn.Words)
		if err != nil {
			t.Error(err)
			return runtime.TurnResult{}, nil
		}
		seen = info.Mode().Perm()
		sub := filepath.Join(turn.Words, "sub")
		if err := os.Mkdir(sub, 0o755); err == nil {
			_ = os.WriteFile(filepath.Join(sub, "f"), nil, 0o644)
			_ = os.Chmod(sub, 0o500)
		}
		return runtime.TurnResult{}, nil
	}
	r := b.flow(`<TempDir as="d"><Prompt text={d}/><File path={d + "/x/y"}>in it</File><File path={d + "/x/y"}/></TempDir>`)
	if r.err != nil || !strings.HasSuffix(r.out, "in it") || seen != 0o700 {
		t.Errorf("%q, %v, mode %o", r.out, r.err, seen)
	}
	if l := left(); len(l) > 0 {
		t.Errorf("left: %v", l)
	}
	for _, doc := range []string{
		`<TempDir as="d"><File path={d + "/x"}>x</File><Fail message="stop"/></TempDir>`,
		`<TempDir as="d"></TempDir><File path={d + "/x"}/>`,
		`<TempDir as="d"></TempDir><File path={d + "/x"}>x</File>`,
	} {
		if r := b.flow(doc); r.err == nil || len(left()) > 0 {
			t.Errorf("%s: %v, left %v", doc, r.err, left())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	b.agents["fake"].onPrompt = func(runtime.Turn) (runtime.TurnResult, error) {
		cancel()
		return runtime.TurnResult{Stop: "cancelled"}, nil
	}
	r = b.runPlan(ctx, b.build(`<TempDir as="d"><File path={d + "/x"}>x</File><Prompt text="x"/></TempDir>`))
	if runtime.KindOf(r.err) != runtime.KindCancelled || len(left()) > 0 {
		t.Errorf("cancelled: %v, left %v", r.err, left())
	}
}

func TestJsonAndParse(t *testing.T) {
	b := newBench(t)
	b.props = map[string]any{"v": "strin"}
	const want = `schema={{"type":"object","properties":{"ok":{"type":"boolean"},"n":{"type":"integer"}},"required":["ok"],"additionalProperties":false}}`
	for _, c := range []struct{ doc, out, err string }{
		{`<Json value={{"b": 1, "a": ["</x>", null]}}/>`, "{\n  \"a\": [\n    \"</x>\",\n    null\n  ],\n  \"b\": 1\n}", ""},
		{`<Json value={"x"} as="j"/>{j}`, `"x"`, ""},
		{`<Parse as="v">{"a": [1]}</Parse>{v.a[0]}`, "1", ""},
		{`<Parse>so: {"b":1,"a":2} ok</Parse>`, "{\n  \"a\": 2,\n  \"b\": 1\n}", ""},
		{`<Parse ` + want + ` as="v"><Prompt text="x"/> is {"ok": true}</Parse>{v.ok}`, "true", ""},
		{`a<Parse ` + want + ` as="v">{"ok": "yes", "m": 1}</Parse>b`, "a", `test.xmd:1:2: the text of Parse does not fit: the value: "m" is not allowed; allowed: n, ok; ok: must be boolean, is string ("yes")`},
		{`<Parse>none</Parse>`, "", "the text of Parse does not fit: the value: it holds no JSON value"},
		{`<SafeParse ` + want + ` as="v">{"ok": true}</SafeParse>{v.ok} {v.value.ok} {v.errors}`, "true true ", ""},
		{`<SafeParse ` + want + ` as="v">{"ok": 1}</SafeParse>{v.ok} {v.input} {v.errors[0].path} {v.errors[0].message}`, `false {"ok": 1} ok must be boolean, is number (1)`, ""},
		{`<SafeParse as="v">none</SafeParse>{v.ok} {v.errors[0].path}{v.errors[0].message}`, "false it holds no JSON value", ""},
		{given(`<SafeParse schema={{"type": props.v}} as="v">1</SafeParse>`, "v"), "", "the schema cannot be used: type: "},
	} {
		if r := b.flow(c.doc); r.out != c.out || !says(r.err, c.err) {
			t.Errorf("%s\n%q, %v", c.doc, r.out, r.err)
		}
	}
}

// What an effect does is on record: its start before it, its value after it.
func TestEffectsAreRecorded(t *testing.T) {
	b := newBench(t)
	b.write("f", "text")
	r := b.flow(`<Try><File path="f"/><Glob include="f" as="g"/><File path="no"/><Catch></Catch></Try>`)
	var got []string
	for _, e := range r.events {
		if s, ok := e.Body.(*event.Step); ok {
			word := string(e.Type) + " " + s.Kind + " " + s.Outcome
			if s.Value != nil {
				word += " value"
			}
			got = append(got, strings.TrimSpace(word))
		}
	}
	want := "step.started file.read|step.ended file.read done value|step.started glob|step.ended glob done value|step.started file.read|step.ended file.read failed|step.ended try done value"
	if strings.Join(got, "|") != want {
		t.Errorf("\n got %s\nwant %s", strings.Join(got, "|"), want)
	}
}

// A folder that is on record and that somebody else has made meanwhile, or a link in its place, is not taken up.
func TestTempDirOfOthers(t *testing.T) {
	for name, make := range map[string]func(dir, other string) error{
		"a link":         func(dir, other string) error { return os.Symlink(other, dir) },
		"open to others": func(dir, _ string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)) },
		"a file":         func(dir, _ string) error { return os.WriteFile(dir, nil, 0o600) },
		"another user's": func(dir, _ string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 65534, 65534)) },
	} {
		if name == "another user's" && os.Geteuid() != 0 {
			continue // only root can give files away
		}
		t.Setenv("TMPDIR", t.TempDir())
		b := newBench(t)
		dir, other := "", t.TempDir()
		b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
			dir = turn.Words
			return runtime.TurnResult{Stop: "end_turn", Failure: "not today"}, nil
		}
		text := `<TempDir as="d"><Prompt text={d} as="said"/><File path={d + "/x"}>mine</File></TempDir>`
		if r := b.run(text); r.err == nil || dir == "" {
			t.Fatal(r.err)
		}
		if err := make(dir, other); err != nil {
			t.Fatal(err)
		}
		b.agents["fake"].onPrompt = nil
		if r := b.resume(context.Background(), text); r.err == nil || !strings.Contains(r.err.Error(), "is not ours any more") {
			t.Errorf("%s: %v", name, r.err)
		}
		if left, err := os.ReadDir(other); err != nil || len(left) != 0 {
			t.Errorf("%s: %v, %v", name, left, err)
		}
	}
}
