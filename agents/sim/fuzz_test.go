package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzScript: whatever a script is, it is read, or every fault has a code and a place in it; what was read answers, in bounded time, each
// prompt with one of its own rules.
func FuzzScript(f *testing.F) {
	files, err := filepath.Glob("../../examples/sim/*.script")
	if err != nil || len(files) < 5 {
		f.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "Review examples/demo.xmd for mistakes")
	}
	for _, s := range []string{
		`<WhenPrompt template="Fix {?id} in {?file}" times={2}>done {id}</WhenPrompt>`, `<WhenPrompt template="{?a}{?b}"/>`, `<WhenPrompt times={0} template="x">y</WhenPrompt>`,
		`<WhenPrompt template="x"><Say chunks={1e9}>y</Say><ToolCall kind="edit" diff={ {path: "a"} }>z</ToolCall><CallTool name="t" args={ {a: 1} } as="r"/>{r}</WhenPrompt>`,
		`<WhenPrompt template="x"><Exit code={-1}/><Error code={1} message="m"/><Wait ms={99999999999999}/><Usage cost={1e999}/></WhenPrompt>`, `<WhenPrompt template="x">`, "```sh exec\nx\n```",
	} {
		f.Add(s, "Fix 7 in a.go")
	}
	f.Fuzz(func(t *testing.T, text, prompt string) {
		s, source, found := parseScript("a.script", text)
		for _, d := range found {
			if d.Code == "" || d.Summary == "" || d.Span.Start < 0 || d.Span.End < d.Span.Start || d.Span.End > len(source.Text) {
				t.Fatalf("%+v in %d bytes", d, len(source.Text))
			}
		}
		if (s == nil) != found.HasErrors() {
			t.Fatalf("a script %v with the faults %v", s, found)
		}
		r, captures := s.match([]string{prompt}, map[string]int{})
		if r == nil {
			return
		}
		for _, name := range r.template.names {
			if v, ok := captures[name].(string); !ok || v == "" || !strings.Contains(prompt, v) {
				t.Fatalf("{?%s} of %q is %v", name, prompt, captures[name])
			}
		}
		if r.times == 1 {
			if again, _ := s.match([]string{prompt}, map[string]int{r.name: 1}); again == r {
				t.Fatal("it answers more often than it may")
			}
		}
	})
}
