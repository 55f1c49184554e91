package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/runtime/event"
)

// interpreters maps the language of an exec block to its command; the script's path follows. strict is left out with lax.
var interpreters = map[string]struct{ argv, strict []string }{
	"bash": {[]string{"bash"}, []string{"-euo", "pipefail"}}, "sh": {[]string{"sh"}, []string{"-eu"}},
	"zsh": {[]string{"zsh"}, []string{"-eu"}}, "fish": {argv: []string{"fish"}},
	"python": {argv: []string{"python3"}}, "python3": {argv: []string{"python3"}}, "py": {argv: []string{"python3"}},
	"node": {argv: []string{"node"}}, "js": {argv: []string{"node"}}, "javascript": {argv: []string{"node"}},
	"ruby": {argv: []string{"ruby"}}, "rb": {argv: []string{"ruby"}}, "perl": {argv: []string{"perl"}},
	"php": {argv: []string{"php"}}, "lua": {argv: []string{"lua"}}, "r": {argv: []string{"Rscript"}}, "awk": {argv: []string{"awk", "-f"}},
}

// CanRun says whether a program for exec blocks of that language is known.
func CanRun(language string) bool {
	_, ok := interpreters[language]
	return ok
}

// inherited are the variables of xmd's own environment that a child gets.
var inherited = map[string]bool{"PATH": true, "HOME": true, "USER": true, "LANG": true, "TMPDIR": true, "TERM": true}

// maxVariable is what one environment variable may hold; the kernel refuses more.
const maxVariable = 100 << 10

// errTimeout is the cause of a block's context when its own timeout ended it.
var errTimeout = errors.New("timeout")

// exec runs one exec block.
func (r *Runner) exec(ctx context.Context, n *plan.Exec, at place, out layout.Sink) error {
	where := r.at(n.Step)
	dir, err := os.MkdirTemp("", "xmd-exec-")
	if err != nil {
		return r.thrown(Errorf(KindFailed, "no folder for the script: %w", err), where)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, err := r.program(n, dir)
	if err != nil {
		return r.thrown(err, where)
	}
	if err := r.o.Stream.Commit(ctx, event.StepStarted, where, &event.Step{Kind: "exec"}, nil); err != nil {
		return r.thrown(storeError(err), where)
	}
	run := &execRun{r: r, n: n, at: where, out: out}
	if at.inLet {
		run.out = layout.NewStdout(out)
	}
	exit, err := run.child(ctx, program)
	failure, value := run.judge(ctx, exit, err)
	body := &event.Step{Kind: "exec", Outcome: "done", ExitCode: &exit.Code, Value: value}
	if failure != nil {
		failure.Position, failure.Step = where.Position, where.Step
		body.Outcome, body.Error = outcomeOf(failure.Kind), EventError(failure)
	}
	if err := r.o.Stream.Commit(context.WithoutCancel(ctx), event.StepEnded, where, body, nil); err != nil {
		return r.thrown(storeError(err), where)
	}
	if failure != nil {
		return failure
	}
	if n.As != "" {
		r.names[n.As] = value
	}
	return nil
}

// program writes the script and gathers what the child gets.
func (r *Runner) program(n *plan.Exec, dir string) (Program, error) {
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte(n.Program), 0o600); err != nil {
		return Program{}, Errorf(KindFailed, "cannot write the script: %w", err)
	}
	how, ok := interpreters[n.Lang]
	if !ok {
		return Program{}, Errorf(KindFailed, "no program is known that runs %q", n.Lang)
	}
	argv := append([]string(nil), how.argv...)
	if !n.Lax {
		argv = append(argv, how.strict...)
	}
	env, err := r.execEnv(n, dir)
	if err != nil {
		return Program{}, err
	}
	p := Program{Argv: append(argv, script), Env: env, Dir: r.o.Dir}
	if n.Cwd != "" {
		p.Dir = filepath.Join(r.o.Dir, n.Cwd)
	}
	if r.runLock != nil && r.runLock.File() != nil {
		p.Locks = []*os.File{r.runLock.File()}
	}
	return p, nil
}

// execEnv is the short list of variables a child gets: never xmd's whole environment.
func (r *Runner) execEnv(n *plan.Exec, dir string) ([]string, error) {
	var env []string
	for _, kv := range r.o.Children {
		if name, _, ok := strings.Cut(kv, "="); ok && inherited[name] {
			env = append(env, kv)
		}
	}
	for name, v := range r.o.Env {
		if s, ok := v.(string); ok {
			env = append(env, name+"="+s)
		}
	}
	for i, w := range n.With {
		v, err := w.Path.Eval(r.names)
		if err != nil {
			return nil, Errorf(KindFailed, "with=%q: %w", w.Name, err)
		}
		text := variable(v)
		if w.File {
			path := filepath.Join(dir, fmt.Sprintf("value-%d", i))
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				return nil, Errorf(KindFailed, "with=%q: %w", w.Name, err)
			}
			text = path
		} else if len(text) > maxVariable || strings.ContainsRune(text, 0) {
			return nil, Errorf(KindFailed, "the value of %s cannot be a variable (over 100 KB, or with a NUL byte); write with=\"%s@file\": the variable then holds a file's path", w.Name, w.Name)
		}
		env = append(env, w.Name+"="+text)
	}
	return env, nil
}

// variable is a value as a child reads it: a string as itself, anything else as JSON.
func variable(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return expr.JSON(v)
}

// execRun is one exec block while its child runs.
type execRun struct {
	r      *Runner
	n      *plan.Exec
	at     event.At
	out    layout.Sink
	stdout headTail
	stderr headTail
	broken error
}

// child runs the program, under the block's own timeout.
func (x *execRun) child(ctx context.Context, p Program) (ProgramExit, error) {
	if x.n.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, time.Duration(x.n.TimeoutMS)*time.Millisecond, errTimeout)
		defer cancel()
	}
	p.Stdout = x.takeStdout
	p.Stderr = x.takeStderr
	exit, err := x.r.o.Programs.Run(ctx, p)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if c, ok := x.out.(interface{ Close() error }); ok && x.n.As == "" {
		if _, captured := x.out.(*layout.Stdout); captured {
			_ = c.Close()
		}
	}
	return exit, err
}

func (x *execRun) takeStdout(b []byte) {
	if x.n.As != "" {
		x.stdout.add(b)
		return
	}
	if x.n.Silent {
		return
	}
	if err := x.out.Value(string(b)); err != nil && x.broken == nil {
		x.broken = err
	}
}

func (x *execRun) takeStderr(b []byte) {
	if x.n.As != "" {
		x.stderr.add(b)
		return
	}
	if !x.n.Silent {
		x.r.o.Stream.Emit(event.ExecOutput, x.at, &event.Delta{Text: string(b), Stream: "stderr"})
	}
}

// judge says whether the block failed, and what it binds.
func (x *execRun) judge(ctx context.Context, exit ProgramExit, err error) (*Error, any) {
	first := x.n.FirstLine
	switch {
	case ctx.Err() != nil:
		return asError(context.Cause(ctx)), nil
	case errors.Is(err, errTimeout):
		return Errorf(KindTimeout, "the %s block `%s` was ended after its timeout of %s", x.n.Lang, first, time.Duration(x.n.TimeoutMS)*time.Millisecond), nil
	case err != nil:
		return Errorf(KindFailed, "the %s block `%s` could not be run: %w", x.n.Lang, first, err), nil
	case x.broken != nil:
		return asError(x.broken), nil
	}
	if exit.Code != 0 && (x.n.As == "" || x.n.ThrowOnError) {
		how := fmt.Sprintf("ended with code %d", exit.Code)
		if exit.Signal != "" {
			how = "was ended by " + exit.Signal
		}
		return Errorf(KindFailed, "the %s block `%s` %s", x.n.Lang, first, how), nil
	}
	if x.n.As == "" {
		return nil, nil
	}
	return nil, map[string]any{
		"exitCode": int64(exit.Code), "stdout": x.stdout.String(), "stderr": x.stderr.String(),
		"truncated": x.stdout.cut > 0 || x.stderr.cut > 0,
	}
}

// Bounds of what a block with as keeps of each stream: the first and the last half.
const keepHalf = 8 << 20

// headTail keeps the first and the last 8 MiB of a stream.
type headTail struct {
	head []byte
	tail []byte
	cut  int64
}

func (h *headTail) add(b []byte) {
	if room := keepHalf - len(h.head); room > 0 {
		n := min(room, len(b))
		h.head = append(h.head, b[:n]...)
		b = b[n:]
	}
	h.tail = append(h.tail, b...)
	if over := len(h.tail) - keepHalf; over > keepHalf { // trimmed in large pieces, so that adding stays linear
		h.cut += int64(over)
		h.tail = append(h.tail[:0], h.tail[over:]...)
	}
}

// String is what was kept, with a line that says what was cut.
func (h *headTail) String() string {
	tail, cut := h.tail, h.cut
	if over := len(tail) - keepHalf; over > 0 {
		tail, cut = tail[over:], cut+int64(over)
	}
	h.cut = cut
	if cut == 0 {
		return string(h.head) + string(tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", h.head, cut, tail)
}
