package plan_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
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

// library gives the files under a folder; components stand beside the document, schemas relative to what names them.
type library struct{ dir string }

func (l library) Component(_, name string) (plan.SourceFile, bool, error) {
	f, err := l.Schema("", "components/"+strings.ReplaceAll(name, ".", "/")+".xmd")
	return f, err == nil, nil
}

func (l library) Components(string) (names []string) {
	root := filepath.Join(l.dir, "components")
	_ = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, strings.TrimSuffix(file, ".xmd"))
			names = append(names, strings.ReplaceAll(filepath.ToSlash(rel), "/", "."))
		}
		return nil
	})
	return names
}

func (l library) Schema(from, name string) (plan.SourceFile, error) {
	name = path.Join(path.Dir(from), name)
	if strings.HasPrefix(from, "components/Ui/") || strings.HasPrefix(name, "../") {
		return plan.SourceFile{}, errors.New("outside")
	}
	text, err := os.ReadFile(filepath.Join(l.dir, name))
	return plan.SourceFile{Name: name, Text: string(text)}, err
}

func compileLibrary(t testing.TB, text string) *plan.Plan {
	t.Helper()
	doc, list := lang.Parse("main.xmd", text)
	p, more := plan.Compiler{Files: library{"testdata/library"}}.Compile(doc)
	list = append(list, more...)
	if p == nil || list.HasErrors() {
		var b strings.Builder
		_ = diag.WriteText(&b, doc.Source, list)
		t.Fatal(b.String())
	}
	return p
}

func readLibrary(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("testdata/library/main.xmd")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestLibrary compares both forms of the plan of a document that uses all of the language with their goldens.
func TestLibrary(t *testing.T) {
	p := compileLibrary(t, readLibrary(t))
	var asText, asJSON bytes.Buffer
	if p.WriteText(&asText) != nil || p.WriteJSON(&asJSON) != nil {
		t.Fatal("not written")
	}
	golden(t, "testdata/library/plan.txt", asText.String())
	golden(t, "testdata/library/plan.json", asJSON.String())
	v, err := expr.ParseJSON(asJSON.String())
	if err != nil {
		t.Fatal(err)
	}
	js, err := expr.ParseJSON(plan.JSONSchema)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := schema.Compile(js)
	if faults := s.Validate(v); len(faults) > 0 {
		t.Errorf("it does not fit its schema: %s", schema.Lines(faults, 5))
	}
	var names []string
	for _, src := range p.Sources() {
		names = append(names, src.Name)
	}
	if want := []string{"main.xmd", "components/Review.xmd", "components/Ui/Panel.xmd", "schemas/note.json", "schemas/verdict.json"}; !slices.Equal(names, want) {
		t.Errorf("sources are %v, want %v", names, want)
	}
}

// TestDigestOfAll: each of these changes what is done, and the digest; none of the other steps hides it.
func TestDigestOfAll(t *testing.T) {
	text := readLibrary(t)
	digest := compileLibrary(t, text).Digest
	for _, change := range [][2]string{
		{"max={props.rounds}", "max={props.rounds + 1}"}, {"max={4}", "max={5}"}, {"parallel={2}", "parallel={3}"}, {"<DenyAll>", "<AskPermission>"},
		{`deny="fetch"`, `deny="edit"`}, {`model="o"`, `model="p"`}, {`effort="high"`, `effort="low"`}, {"mode={props.wait}", ""}, {"<Session>", `<Session name="x">`},
		{`collect={{"file": file, "note": note}}`, "collect={file}"}, {"retries={1}", "retries={2}"}, {`timeout="30s"`, `timeout="31s"`},
		{"timeout={props.wait}", ""}, {"schemas/note.json", "schemas/verdict.json"}, {`path="report.md"`, `path="other.md"`}, {`exclude="x_*"`, ""},
		{"<Json value={found}/>", "<Json value={[found]}/>"}, {`schema={{"type": "object"}}`, `schema={{"type": "string"}}`}, {`timeout="10s"`, `timeout="11s"`},
		{`"text/plain"`, `"text/html"`}, {"it went wrong", "it went bad"}, {`["yes", "no"]`, `["no", "yes"]`}, {`default="no"`, `default="yes"`},
		{"level={2}", "level={3}"}, {`slot="foot"`, ""}, {"The body says", "The body said"}, {"<Output>", "<If condition={go == \"yes\"}>"},
		{`<Review subject="the change"`, `<Review subject={"the change"}`}, {"<Break/>", ""}, {"</TempDir>", " </TempDir>"},
	} {
		changed := strings.Replace(text, change[0], change[1], 1)
		for _, pair := range []string{"DenyAll", "Session", "Output"} { // the closing tag goes with the opening one
			if name, ok := strings.CutPrefix(change[0], "<"); ok && strings.TrimSuffix(name, ">") == pair {
				with := strings.Fields(strings.Trim(change[1], "<>"))[0]
				changed = strings.Replace(changed, "</"+pair+">", "</"+with+">", 1)
			}
		}
		if changed == text {
			t.Fatalf("%s is not in the text", change[0])
		}
		if compileLibrary(t, changed).Digest == digest {
			t.Errorf("%s to %s does not change the digest", change[0], change[1])
		}
	}
}

// TestThrowsInAll: where the failure of a prompt is thrown.
func TestThrowsInAll(t *testing.T) {
	p := compile(t, "a.xmd", `<Try><Prompt text="a"/><Catch><Prompt text="b"/></Catch></Try>
<File path="x"><Prompt text="c"/></File><Parse><Prompt text="d"/></Parse><SafeParse><Prompt text="e"/></SafeParse><Elicit><Prompt text="f"/></Elicit>
<Each in={["x"]} as="y"><Prompt text="g"/></Each><Each in={["x"]}><Prompt text="h"/></Each><Loop max={1}><Prompt text="i"/></Loop>
<Parallel><Prompt text="j"/><Try><Prompt text="k"/></Try></Parallel><TempDir as="d"><Prompt text="l"/></TempDir><DenyAll><Prompt text="m"/></DenyAll>
<Output><Prompt text="n"/></Output><Content><Prompt text="o"/></Content><Let as="q"><Content><Prompt text="p"/></Content></Let>`)
	got := ""
	for _, it := range p.Items() {
		switch n := it.Node.(type) {
		case *plan.Prompt:
			got += n.Text.Literal + map[bool]string{true: "!", false: "-"}[n.Throws]
		case *plan.Content:
			got += map[bool]string{true: "[!]", false: "[-]"}[n.Throws]
		}
	}
	if want := "a!b-c!d!e!f!g!h-i-j-k!l-m-n-[-]o-[!]p!"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBranches: what each branch binds, and the identities of steps in branches, arms and children.
func TestBranches(t *testing.T) {
	p := compileLibrary(t, `<Parallel>
<Prompt text="x" as="b"/> text <Agent name="x"><Prompt text="y" as="c"/><If condition={1 == 1}><Let as="a" value={1}/></If><Each in={[1]} let="z"><Let as="own" value={1}/></Each></Agent>
<Ui.Panel title="t"><Prompt text="z" as="d"/></Ui.Panel>
</Parallel>
<Try>x<Prompt text="x"/><Catch><Prompt text="y"/></Catch></Try>`)
	var got []string
	for _, it := range p.Items() {
		got = append(got, it.ID)
		if n, ok := it.Node.(*plan.Parallel); ok {
			for _, b := range n.Branches {
				got = append(got, fmt.Sprint(b.Binds))
			}
		}
	}
	want := "Parallel1 [b] [a c] [d] Parallel1/branch1/Prompt1 Parallel1/branch2/Agent1 Parallel1/branch2/Agent1/body/Prompt1 " +
		"Parallel1/branch2/Agent1/body/If2 Parallel1/branch2/Agent1/body/If2/body/Let1 Parallel1/branch2/Agent1/body/Each3 Parallel1/branch2/Agent1/body/Each3/body/Let1 " +
		"Parallel1/branch3/Ui.Panel1 Parallel1/branch3/Ui.Panel1/body/Prompt1 Try2 Try2/body/Prompt1 Try2/catch/Prompt1"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

// TestSlots: children go to their slots with their lines, and what is left is the component's own content.
func TestSlots(t *testing.T) {
	p := compileLibrary(t, "<Ui.Panel title=\"t\">\n  <Let as=\"x\" value={1} slot=\"foot\"/>\n</Ui.Panel>\n<Ui.Panel title=\"t\">\n\n</Ui.Panel><Ui.Panel title=\"t\">a<Prompt text=\"b\" slot=\"foot\"/>c</Ui.Panel>")
	var got []string
	for _, it := range p.Items() {
		if n, ok := it.Node.(*plan.Component); ok {
			got = append(got, fmt.Sprint(len(n.Children), n.Children == nil, len(n.Slots["foot"])))
		}
	}
	if want := []string{"0 true 1", "0 true 0", "1 false 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOnePlanOfAFile: a file is compiled once, and listing does not grow with the ways that lead to it.
func TestOnePlanOfAFile(t *testing.T) {
	files := fileMap{}
	for i := range 60 {
		files[fmt.Sprintf("components/C%d.xmd", i)] = fmt.Sprintf("<C%d/><Parallel><C%d/><C%d/></Parallel>", i+1, i+1, i+1)
	}
	files["components/C60.xmd"] = `<Prompt text="x"/>`
	doc, _ := lang.Parse("main.xmd", "<C0/>")
	p, list := plan.Compiler{Files: files}.Compile(doc)
	if p == nil {
		t.Fatal(list)
	}
	if n := len(p.Documents()); n != 62 {
		t.Errorf("%d documents", n)
	}
	if len(p.Agents()) != 1 || len(p.Sessions()) > 1000 {
		t.Errorf("%d agents, %d sessions", len(p.Agents()), len(p.Sessions()))
	}
	var b bytes.Buffer
	if err := p.WriteText(&b); err != nil || b.Len() > 1<<20 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}

// TestScopes: whose unnamed session the prompts of a component file continue.
func TestScopes(t *testing.T) {
	p := compileLibrary(t, `<Parallel><Ui.Panel title="a"/><Session name="s"><Ui.Panel title="b"/></Session></Parallel><Session><Ui.Panel title="c"/></Session><Ui.Panel title="d"/>`)
	var got []string
	for _, s := range p.Sessions() {
		got = append(got, s.Session.String()+"/"+s.Scope)
	}
	if want := []string{"/Parallel1/branch1", "s/", "/Session2", "/"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
