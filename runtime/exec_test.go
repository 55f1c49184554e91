package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/event"
)

// script is a Programs that plays pieces of output and notes what it was started with.
type script struct {
	pieces []string // those that begin with ! go to stderr
	exit   runtime.ProgramExit
	got    runtime.Program
	during func(i int)
}

func (s *script) Run(_ context.Context, p runtime.Program) (runtime.ProgramExit, error) {
	s.got = p
	for i, piece := range s.pieces {
		if s.during != nil {
			s.during(i)
		}
		if rest, ok := strings.CutPrefix(piece, "!"); ok {
			p.Stderr([]byte(rest))
		} else {
			p.Stdout([]byte(piece))
		}
	}
	return s.exit, nil
}

// Output is shown as it comes, in order, and never in the middle of a character.
func TestExecStreams(t *testing.T) {
	b := newBench(t)
	p := &script{pieces: []string{"one ", "!err \xc3", "t\xe6\xbc", "\xa2wo", "!\xa9", "\xff", "!\xc3"}}
	b.opts = func(o *runtime.Options) { o.Programs = p }
	r := b.run("a\n```bash exec\nx\n```\nb\n")
	var got []string
	for _, e := range r.events {
		if d, ok := e.Body.(*event.Delta); ok {
			got = append(got, string(e.Type)+d.Stream+":"+d.Text)
		}
	}
	want := "text:a\n|exec.outputstdout:one |text:one |exec.outputstderr:err |exec.outputstdout:t|text:t|exec.outputstdout:漢wo|text:漢wo|" +
		"exec.outputstderr:é|exec.outputstdout:\uFFFD|text:\uFFFD|exec.outputstderr:\uFFFD|text:\n|text:b\n"
	if r.err != nil || strings.Join(got, "|") != want {
		t.Errorf("%v\n got %q\nwant %q", r.err, strings.Join(got, "|"), want)
	}
	if w := r.warnings(); len(w) != 1 || !strings.Contains(w[0], "is not all UTF-8 text") {
		t.Errorf("%q", w)
	}
}

// What a child is started with: the script as a file of its own, the short list of variables, a folder inside.
func TestExecStart(t *testing.T) {
	b := newBench(t)
	b.write("sub/x", "")
	if err := os.Symlink("sub", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := &script{pieces: []string{""}}
	var mode os.FileMode
	p.during = func(int) {
		info, err := os.Stat(p.got.Argv[len(p.got.Argv)-1])
		if err != nil {
			t.Error(err)
			return
		}
		mode = info.Mode().Perm()
	}
	b.opts = func(o *runtime.Options) {
		o.Programs = p
		o.Children = []string{"PATH=/bin", "HOME=/h", "SECRET=1", "XMD_AGENT=x", "TERM=dumb", "BASH_ENV=/x"}
		o.Env = map[string]any{"LISTED": "yes", "UNSET": nil}
	}
	const doc = "---\nenv: [LISTED, UNSET]\n---\n<Let as=\"v\" value={[1, \"a\"]}/>\n```bash exec with=\"v\" cwd=\"link\"\nx\n```\n"
	if r := b.run(doc); r.err != nil {
		t.Fatal(r.err)
	}
	if want := []string{"PATH=/bin", "HOME=/h", "TERM=dumb", "LISTED=yes", `v=[1,"a"]`}; !slices.Equal(p.got.Env, want) {
		t.Errorf("%q", p.got.Env)
	}
	if p.got.Dir != filepath.Join(b.dir, "sub") || mode != 0o600 || !slices.Equal(p.got.Argv[:3], []string{"bash", "-euo", "pipefail"}) {
		t.Errorf("%s, %o, %q", p.got.Dir, mode, p.got.Argv)
	}
	if _, err := os.Stat(filepath.Dir(p.got.Argv[len(p.got.Argv)-1])); !os.IsNotExist(err) {
		t.Errorf("the script's folder is left: %v", err)
	}
	if r := b.run("```sh exec lax\nx\n```\n"); r.err != nil || !slices.Equal(p.got.Argv[:1], []string{"sh"}) || len(p.got.Argv) != 2 {
		t.Errorf("%v, %q", r.err, p.got.Argv)
	}
	p.got = runtime.Program{}
	for cwd, want := range map[string]string{"sub/x": "is no folder", "nowhere": "it does not exist"} {
		if r := b.run("```sh exec cwd=\"" + cwd + "\"\nx\n```\n"); !says(r.err, want) || p.got.Argv != nil {
			t.Errorf("%s: %v", cwd, r.err)
		}
	}
}
