package plan_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/lang/schema"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func compile(t testing.TB, name, text string) *plan.Plan {
	t.Helper()
	p, list := tryCompile(name, text)
	if p == nil {
		t.Fatalf("%s", list)
	}
	return p
}

// tryCompile gives the plan, or what is wrong as people read it.
func tryCompile(name, text string) (*plan.Plan, string) {
	doc, list := lang.Parse(name, text)
	p, more := plan.Compile(doc)
	list = append(list, more...)
	if !list.HasErrors() {
		return p, ""
	}
	var b strings.Builder
	list.Sort()
	_ = diag.WriteText(&b, doc.Source, list)
	return nil, b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; is now:\n%s", path, got)
	}
}

// TestWritten compares both forms of each plan of the corpus with its goldens, and the JSON with its schema.
func TestWritten(t *testing.T) {
	v, err := expr.ParseJSON(plan.JSONSchema)
	if err != nil {
		t.Fatal(err)
	}
	s, faults := schema.Compile(v)
	if s == nil || len(s.Warnings()) > 0 {
		t.Fatal(faults, s.Warnings())
	}
	files, _ := filepath.Glob("testdata/*.xmd")
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p := compile(t, filepath.Base(f), string(text))
		var asText, asJSON, again bytes.Buffer
		if p.WriteText(&asText) != nil || p.WriteJSON(&asJSON) != nil || compile(t, filepath.Base(f), string(text)).WriteJSON(&again) != nil {
			t.Fatal("not written")
		}
		golden(t, strings.TrimSuffix(f, ".xmd")+".txt", asText.String())
		golden(t, strings.TrimSuffix(f, ".xmd")+".json", asJSON.String())
		if asJSON.String() != again.String() {
			t.Errorf("%s: not the same bytes twice", f)
		}
		v, err := expr.ParseJSON(asJSON.String())
		if err != nil {
			t.Fatal(err)
		}
		if faults := s.Validate(v); len(faults) > 0 {
			t.Errorf("%s does not fit its schema: %s", f, schema.Lines(faults, 5))
		}
	}
}

// TestDigest: what is the same plan, and what is not.
func TestDigest(t *testing.T) {
	base := `<Let as="n" value={1 + 2}/><Prompt agent="a" session="s" as="r">words {n}</Prompt>` + "\n"
	digest := compile(t, "a.xmd", base).Digest
	for name, text := range map[string]string{
		"spacing in a tag":      "<Let\n  as='n'\n  value={ 1+2 } />" + `<Prompt   agent="a" session="s" as="r"  >words {n}</Prompt >` + "\n",
		"order of attributes":   `<Let value={(1 + 2)} as="n"/><Prompt session="s" as="r" agent="a">words {n}</Prompt>` + "\n",
		"a comment":             `<Let as="n" value={1 + 2}/><Prompt agent="a" session="s" as="r">wor{/* c */}ds {n}</Prompt>` + "\n",
		"an entity":             `<Let as="n" value={1 + 2}/><Prompt agent="&#97;" session="s" as="r">words {n}</Prompt>` + "\n",
		"the body's own indent": `<Let as="n" value={1 + 2}/><Prompt agent="a" session="s" as="r">` + "\n    words {n}\n</Prompt>\n",
	} {
		if p, bad := tryCompile("b.xmd", text); p == nil {
			t.Errorf("%s: %s", name, bad)
		} else if p.Digest != digest && name != "the body's own indent" {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, text := range map[string]string{
		"words":          strings.Replace(base, "words", "Words", 1),
		"agent":          strings.Replace(base, `"a"`, `"b"`, 1),
		"expression":     strings.Replace(base, "1 + 2", "2 + 1", 1),
		"order of steps": strings.Replace(base, `<Prompt`, `<Let as="x" value={1}/><Prompt`, 1),
		"prose":          base + "more\n",
		"string":         strings.Replace(base, "{1 + 2}", `"1 + 2"`, 1),
		"frontmatter":    "---\na: 1\n---\n" + base,
		"resend":         strings.Replace(base, `as="r"`, `as="r" resend="auto"`, 1),
	} {
		if compile(t, "a.xmd", text).Digest == digest {
			t.Errorf("%s does not change the digest", name)
		}
	}
	block := "---\nenv: {T: {secret: false}}\n---\n```bash exec lax\ntrue\n```\n"
	for _, change := range [][2]string{{"false", "true"}, {"lax", "lax once"}} {
		if compile(t, "a.xmd", strings.Replace(block, change[0], change[1], 1)).Digest == compile(t, "a.xmd", block).Digest {
			t.Errorf("%s does not change the digest", change[1])
		}
	}
}

func TestIdentities(t *testing.T) {
	p := compile(t, "a.xmd", `prose <Let as="a" value={1}/> {/* c */}
<If condition={true}>
  <Prompt text="x"/> and <Agent name="a"><Prompt text="y"/></Agent>
<Else>
  `+"```bash exec\n  true\n  ```"+`
  <Prompt><Prompt text="z"/>{a}</Prompt>
</Else>
</If>
<Prompt text="last"/>`)
	var ids []string
	for _, it := range p.Items() {
		ids = append(ids, it.ID)
	}
	want := "Let1 If2 If2/body/Prompt1 If2/body/Agent2 If2/body/Agent2/body/Prompt1 If2/else/exec1 If2/else/Prompt2 If2/else/Prompt2/body/Prompt1 Prompt3"
	if got := strings.Join(ids, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestThrows: a failing prompt is thrown everywhere but where its reply stands in the output.
func TestThrows(t *testing.T) {
	p := compile(t, "a.xmd", `<Prompt text="a"/><Prompt text="b" throwOnError/><Prompt text="c" as="c"/><Let as="l"><Prompt text="d"/></Let>
<Prompt><If condition={true}><Prompt text="e"/></If></Prompt><Agent name="x"><Prompt text="f"/></Agent><Prompt text="g" throwOnError={false}/><Prompt text="h" throwOnError={c == "x"}/>`)
	got := ""
	for _, it := range p.Items() {
		if n, ok := it.Node.(*plan.Prompt); ok {
			mark := "-"
			if n.Throws {
				mark = "!"
			}
			got += n.Text.Literal + mark
			if n.Wraps {
				got += "w"
			}
			if n.ThrowIf.Given {
				got += "?"
			}
		}
	}
	if want := "a-b!c!d!-we!f-g-h-?"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestProgramsAreNeverInterpolated: a program reaches the plan as written, whatever it holds.
func TestProgramsAreNeverInterpolated(t *testing.T) {
	program := "echo {arg} \"${arg}\" {props.arg} <Prompt text=\"x\"/> {/* c */}\n"
	p := compile(t, "a.xmd", "---\nprops: {arg: {type: string}}\n---\n<Let as=\"arg\" value={props.arg}/>\n```bash exec with=\"arg\"\n"+program+"```\n")
	found := false
	for _, it := range p.Items() {
		if n, ok := it.Node.(*plan.Exec); ok {
			found = true
			if n.Program != program || len(n.With) != 1 || n.With[0].Name != "arg" {
				t.Errorf("%+v", n)
			}
		}
	}
	if !found {
		t.Error("no exec block")
	}
}

func TestEntries(t *testing.T) {
	var names plan.Names
	for _, c := range []struct{ text, want string }{
		{`<Let as="n" value={3}/>`, ""}, {`{n} <Prompt>{n}</Prompt>`, ""}, {`<Prompt>{m}</Prompt>`, "m is not bound"}, {`<Prompt text="x" as="m"/>`, ""},
		{`<Prompt>{m} {n.x}</Prompt>`, "n is a number and has no member x"}, {`<Session agent="codex" />`, "agent is not an attribute of Session"}, {`<Prompt>{m}</Prompt>`, ""},
	} {
		doc, _ := lang.Parse("repl", c.text)
		p, after, list := plan.CompileEntry(doc, names)
		got := ""
		if len(list) > 0 {
			got = list[0].Summary
		}
		if (p == nil) != (c.want != "") || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q", c.text, got)
		}
		names = after
	}
}

// TestAgain: what a run may do a second time, and what it must not show.
func TestAgain(t *testing.T) {
	p := compile(t, "a.xmd", "---\nenv:\n  A: {secret: true}\n  B: {secret: false}\n  C:\n---\n<Prompt text=\"a\" resend=\"auto\"/><Prompt text=\"b\"/>\n"+
		"```bash exec once\ntrue\n```\n```bash exec\ntrue\n```\n")
	var got []bool
	for _, e := range p.Inputs.Env {
		got = append(got, e.Secret)
	}
	for _, it := range p.Items() {
		switch n := it.Node.(type) {
		case *plan.Prompt:
			got = append(got, n.Resend)
		case *plan.Exec:
			got = append(got, n.Once)
		}
	}
	if want := []bool{true, false, false, true, false, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
