package plan_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"xmd/lang/plan"
)

// TestDrawn compares both drawings with their goldens. When those were made, Graphviz and Mermaid read them.
func TestDrawn(t *testing.T) {
	files, _ := filepath.Glob("testdata/graph/*.xmd")
	if len(files) == 0 {
		t.Fatal("no test data")
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		p, again := compile(t, filepath.Base(f), string(text)), compile(t, filepath.Base(f), string(text))
		for ext, write := range map[string]func(*plan.Plan, io.Writer) error{".mmd": (*plan.Plan).WriteMermaid, ".dot": (*plan.Plan).WriteDOT} {
			var b, twice bytes.Buffer
			if write(p, &b) != nil || write(again, &twice) != nil {
				t.Fatal("not written")
			}
			if b.String() != twice.String() {
				t.Errorf("%s%s: not the same bytes twice", f, ext)
			}
			golden(t, strings.TrimSuffix(f, ".xmd")+ext, b.String())
		}
	}
}

func drawn(t *testing.T, text string) (mermaid, dot string) {
	t.Helper()
	p := compile(t, "a.xmd", text)
	var m, d strings.Builder
	if p.WriteMermaid(&m) != nil || p.WriteDOT(&d) != nil {
		t.Fatal("not written")
	}
	return m.String(), d.String()
}

// flow gives the edges of a drawing with the first lines of what they join: "Prompt 1:1 -true-> end".
func flow(dot string) []string {
	names := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^ *(\w+) \[label="(.*?)(\\n.*)?"`).FindAllStringSubmatch(dot, -1) {
		names[m[1]] = m[2]
	}
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^  (\w+) -> (\w+)(.*);$`).FindAllStringSubmatch(dot, -1) {
		if names[m[1]] == "" || names[m[2]] == "" {
			return append(out, "no vertex for "+m[0])
		}
		if strings.Contains(m[3], "dotted") {
			continue
		}
		label := ""
		if l := regexp.MustCompile(`label="(.*?)"`).FindStringSubmatch(m[3]); l != nil {
			label = l[1]
		}
		out = append(out, names[m[1]]+" -"+label+"-> "+names[m[2]])
	}
	return out
}

// TestFlow: what runs after what.
func TestFlow(t *testing.T) {
	for text, want := range map[string]string{
		"text\n":                         "a.xmd --> end",
		"<Prompt text=\"a\"/>":           "a.xmd --> Prompt 1:1\nPrompt 1:1 --> end",
		"<Agent name=\"a\">text</Agent>": "a.xmd --> Agent 1:1\nAgent 1:1 --> end",
		"<If condition={true}><Prompt text=\"a\"/></If><Prompt text=\"b\"/>":  "a.xmd --> If 1:1\nIf 1:1 -true-> Prompt 1:22\nPrompt 1:22 --> Prompt 1:45\nIf 1:1 -false-> Prompt 1:45\nPrompt 1:45 --> end",
		"<Loop max={2}><Prompt text=\"a\"/></Loop>":                           "a.xmd --> Loop 1:1\nLoop 1:1 -next round-> Prompt 1:15\nPrompt 1:15 --> Loop 1:1\nLoop 1:1 -after the last round-> end",
		"<Loop max={2}>text</Loop>":                                           "a.xmd --> Loop 1:1\nLoop 1:1 -after the last round-> end",
		"<Loop max={2}><Break/></Loop><Prompt text=\"a\"/>":                   "a.xmd --> Loop 1:1\nLoop 1:1 -next round-> Break 1:15\nLoop 1:1 -after the last round-> Prompt 1:30\nBreak 1:15 --> Prompt 1:30\nPrompt 1:30 --> end",
		"<Try><Fail message=\"m\"/><Catch><Prompt text=\"a\"/></Catch></Try>": "a.xmd --> Try 1:1\nTry 1:1 --> Fail 1:6\nTry 1:1 -a failure-> Prompt 1:32\nPrompt 1:32 --> end",
		"<Parallel><Prompt text=\"a\"/><Prompt text=\"b\"/></Parallel>":       "a.xmd --> Parallel 1:1\nParallel 1:1 -branch 1-> Prompt 1:11\nParallel 1:1 -branch 2-> Prompt 1:29\nPrompt 1:11 --> all branches\nPrompt 1:29 --> all branches\nall branches --> end",
		"<Let as=\"x\"><Prompt text=\"a\"/></Let>":                            "a.xmd --> Prompt 1:13\nPrompt 1:13 --> Let 1:1\nLet 1:1 --> end",
	} {
		_, dot := drawn(t, text)
		if got := strings.Join(flow(dot), "\n"); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestDrawnLabels: nothing in a label is read as part of the drawing.
func TestDrawnLabels(t *testing.T) {
	mermaid, dot := drawn(t, "<Prompt session=\"end\" text='\"]; end --> x &amp;amp; <b> #35; \\n $$x$$ `c`\u2028\x01 漢'/>\n")
	for _, line := range strings.Split(strings.TrimSpace(mermaid), "\n") {
		if strings.Count(line, `"`)%2 != 0 || strings.ContainsAny(line, "\u2028\x01$`\\") && !strings.HasPrefix(line, "%%") {
			t.Errorf("in Mermaid: %q", line)
		}
	}
	if !strings.Contains(mermaid, `text #34;#92;#34;]#59; end --#62; x #38;amp#59; #60;b#62; #35;35#59; #92;#92;n #36;#36;x#36;#36; #96;c#96;`) {
		t.Errorf("Mermaid\n%s", mermaid)
	}
	if !strings.Contains(dot, `text \"\\\"]; end --> x &amp;amp; <b> #35; \\\\n $$x$$ `+"`c`") || strings.ContainsAny(dot, "\u2028\x01") {
		t.Errorf("Graphviz\n%s", dot)
	}
}
