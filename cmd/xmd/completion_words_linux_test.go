package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completing is a home with what can be completed in it.
func completing(t *testing.T) *home {
	h := newHome(t, "---\nprops:\n  depth: {type: integer, default: 1}\n  fast: {type: boolean, default: false}\n---\n# Doc\n\n## First part\n\na\n\n## Second\n\n<Elicit as=\"ship\">Ship?</Elicit>\n")
	h.remembers()
	h.write("my notes.md", "hello\n")
	h.write("data.json", "{}\n")
	h.write("xmd.toml", "[agents.scribe]\ncommand = \"scribe\"\n")
	if err := os.Mkdir(filepath.Join(h.dir, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestCompletion(t *testing.T) {
	h := completing(t)
	for _, c := range []struct {
		typed string // behind xmd; the last word is completed
		want  []string
		not   string
	}{
		{"re", []string{"repl", "replay", "resume"}, "run"},
		{"do", []string{"doc.xmd", "docs/", "doctor"}, "data.json"},
		{"run ", []string{"doc.xmd", "docs/", "first.xmd", "my notes.md"}, "data.json"},
		{"run doc.xmd#", []string{"doc.xmd#First part", "doc.xmd#Second"}, "doc.xmd#Doc"},
		{"doc.xmd#S", []string{"doc.xmd#Second"}, ""},
		{"run doc.xmd --pr", []string{"--props", "--props-depth=", "--props-fast"}, "--agent"},
		{"doc.xmd --props-d", []string{"--props-depth="}, ""},
		{"run --agent s", []string{"scribe", "sim"}, "codex"},
		{"run --agent=s", []string{"--agent=scribe", "--agent=sim"}, ""},
		{"run doc.xmd --answer ", []string{"ship="}, ""},
		{"run --format ", []string{"json", "ndjson", "text"}, "sarif"},
		{"check --format=", []string{"--format=json", "--format=sarif", "--format=text"}, "--format=ndjson"},
		{"plan --format ", []string{"dot", "json", "mermaid", "text"}, ""},
		{"run --report j", []string{"junit="}, ""},
		{"run --props @d", []string{"@data.json", "@doc.xmd", "@docs/"}, ""},
		{"run -C d", []string{"docs/"}, "doc.xmd"},
		{"run --secret GO_TEST", []string{"GO_TEST_AS_XMD"}, ""},
		{"resume l", []string{"last"}, ""},
		{"show --state-dir nowhere ", []string{"last"}, ""},
		{"open ", []string{"sim:w", "w"}, ""},
		{"sessions sh", []string{"show"}, "sim:w"},
		{"sessions show sim:", []string{"sim:w"}, "w"},
		{"agents co", []string{"codex", "copilot"}, "sim"},
		{"schema ", []string{"config", "events", "plan"}, ""},
		{"completion ", []string{"bash", "fish", "zsh"}, ""},
		{"runs ", []string{"prune"}, ""},
		{"nothing such", nil, ""},
		{"plan doc.xmd ", nil, ""},
		{"check doc.xmd f", []string{"first.xmd"}, ""},
	} {
		o := h.plain(nil, append([]string{completeVerb, "fish"}, strings.Split(c.typed, " ")...)...)
		if o.code != 0 || o.stderr != "" {
			t.Errorf("%q: %+v", c.typed, o)
		}
		var got []string
		for line := range strings.Lines(o.stdout) {
			text, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			got = append(got, text)
		}
		for _, want := range c.want {
			if !slices.Contains(got, want) {
				t.Errorf("%q gives %q, not %q", c.typed, got, want)
			}
		}
		if len(c.want) == 0 && len(got) > 0 || c.not != "" && slices.Contains(got, c.not) {
			t.Errorf("%q gives %q", c.typed, got)
		}
	}
	if o := h.plain(nil, completeVerb, "zsh", "resume", ""); strings.Count(o.stdout, "\n") != 2 || !strings.Contains(o.stdout, "\tfirst.xmd, done\n") {
		t.Errorf("%+v", o)
	}
	_ = os.RemoveAll(filepath.Join(h.dir, "state"))
	if o := h.plain(nil, completeVerb, "fish", "open", ""); o.stdout != "" || o.stderr != "" || h.read("state") != "" {
		t.Errorf("without a store: %+v", o)
	}
	if _, err := os.Stat(filepath.Join(h.dir, "state", "xmd")); err == nil {
		t.Error("a store was made")
	}
}

// Real shells complete with the scripts that xmd prints.
func TestCompletionInBash(t *testing.T) {
	h := completing(t)
	script := `source <(xmd completion bash)
try() {
	COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
	_xmd xmd
	printf '%s' "$1:"; printf ' [%s]' "${COMPREPLY[@]}"; echo
}
try 'xmd compl' xmd compl
try 'xmd run --agent=si' xmd run --agent = si
try 'xmd run --agent=' xmd run --agent =
try 'xmd open sim:' xmd open sim :
try 'xmd run my' xmd run my
try 'xmd run "my' xmd run '"my'
try 'xmd run my\ n' xmd run 'my\ n'
try 'xmd run doc.xmd#F' xmd run doc.xmd#F
`
	want := `xmd compl: [completion]
xmd run --agent=si: [sim]
xmd run --agent=: [claude] [codex] [copilot] [gemini] [grok] [opencode] [scribe] [sim]
xmd open sim:: [w]
xmd run my: [my\ notes.md]
xmd run "my: [my notes.md]
xmd run my\ n: [my\ notes.md]
xmd run doc.xmd#F: [doc.xmd#First\ part]
`
	if got := h.inShell("bash", script, "--norc", "--noprofile"); got != want {
		t.Errorf("%s", got)
	}
}

func TestCompletionInFish(t *testing.T) {
	h := completing(t)
	got := h.inShell("fish", "xmd completion fish | source\nfor line in 'xmd compl' 'xmd run --agent=si' 'xmd open sim:' 'xmd run my' 'xmd run doc.xmd#S' 'xmd plan --form'\ncomplete -C $line\nend\n", "--no-config")
	want := "completion\tprint what makes a shell complete the words of xmd\n--agent=sim\nsim:w\t" + h.dir + "\nmy notes.md\ndoc.xmd#Second\n--format\ttext, json, mermaid or dot\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// inShell runs a script in a shell of the machine, with xmd on its path.
func (h *home) inShell(shell, script string, flags ...string) string {
	h.t.Helper()
	program, err := exec.LookPath(shell)
	if err != nil {
		h.t.Skipf("there is no %s here", shell)
	}
	h.write("try", script)
	cmd := exec.Command(program, append(flags, "try")...)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "PATH="+h.dir+":"+os.Getenv("PATH"), "GO_TEST_AS_XMD=1", quickExit, "HOME="+h.dir, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		h.t.Errorf("%s: %v", shell, err)
	}
	return string(out)
}
