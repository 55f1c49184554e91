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

// exec runs one exec block, or tells again what it did.
func (r *Runner) exec(ctx context.Context, n *plan.Exec, at place, out layout.Sink) error {
	where := at.where(n.Step)
	input := r.execInput(n, at)
	done, err := r.recall(ctx, at, where, "exec", input)
	if err != nil {
		return err
	}
	if done != nil {
		return r.execAgain(ctx, n, at, done, out)
	}
	skip, err := r.mayRunAgain(ctx, n, where)
	if err != nil {
		return err
	}
	if err := r.o.Stream.Commit(ctx, event.StepStarted, where, &event.Step{Kind: "exec", Input: input}, nil); err != nil {
		return thrown(storeError(err), where)
	}
	body := &event.Step{Kind: "exec", Input: input}
	if skip {
		if n.As != "" {
			at.vars.set(n.As, nil)
		}
		return r.endSkipped(ctx, where, body)
	}
	var failure error
	if body.Value, body.ExitCode, err = r.execNow(ctx, n, at, out); err != nil {
		failure = thrown(err, where)
	}
	if err := r.endStep(ctx, where, body, failure); err != nil {
		return err
	}
	if n.As != "" {
		at.vars.set(n.As, body.Value)
	}
	return nil
}

// execInput is the digest of what a block is given.
func (r *Runner) execInput(n *plan.Exec, at place) string {
	given := map[string]any{}
	for _, w := range n.With {
		given[w.Name], _ = at.vars.path(w.Path) // what is wrong with it is said where it is used
	}
	return r.inputOf(n.Lang, n.Program, n.Cwd, given)
}

// execAgain tells what a block did: its text goes where it went, its failure is what it was. What it wrote beside its output is not
// written again.
func (r *Runner) execAgain(ctx context.Context, n *plan.Exec, at place, done *ended, out layout.Sink) error {
	if at.inLet {
		out = layout.NewStdout(out)
	}
	if n.As == "" {
		for piece, err := range r.o.Past.Text(ctx, done.step, event.ExecOutput, "stdout") {
			if err == nil {
				err = out.Value(piece)
			}
			if err != nil {
				return thrown(err, at.where(n.Step))
			}
		}
	}
	if c, ok := out.(*layout.Stdout); ok && n.As == "" {
		_ = c.Close() // it only drops what it holds
	}
	v, err := r.again(at.where(n.Step), done)
	if err == nil && n.As != "" {
		at.vars.set(n.As, v)
	}
	return err
}

// mayRunAgain says of a block that was running when the run died that it runs again, or, marked once, asks about it. skip: a person wants to
// go on without it.
func (r *Runner) mayRunAgain(ctx context.Context, n *plan.Exec, where event.At) (skip bool, err error) {
	word := r.o.Settle[where.Step]
	switch {
	case word == SettleSkip:
		return true, nil
	case r.o.Past.Seq(where.Step, event.StepStarted) == 0:
		return false, nil
	case n.Once && word != SettleResend:
		return r.askAgain(ctx, n, where)
	}
	r.warn("again", fmt.Sprintf("%s: the %s block `%s` was running when the run died; it runs again.", where.Position, n.Lang, n.FirstLine), where)
	return false, nil
}

// askAgain asks whether a block that is marked once runs a second time.
func (r *Runner) askAgain(ctx context.Context, n *plan.Exec, where event.At) (skip bool, err error) {
	what := fmt.Sprintf("the %s block `%s` was running when the run died, and is marked once", n.Lang, n.FirstLine)
	if r.o.Answers == nil {
		return false, thrown(Errorf(KindUnsettled, "%s. Nothing was run. Go on with one of:\nxmd resume %[2]s --resend %[3]s   runs it again\n"+
			"xmd resume %[2]s --skip %[3]s   goes on without it", what, r.o.RunID, where.Step), where)
	}
	q := Question{Name: where.Step, Text: where.Position + ": " + what + ". Run it again?", Choices: []any{"yes", "skip"}}
	v, err := r.ask(ctx, q)
	if err != nil {
		return false, thrown(err, where)
	}
	return v == "skip", nil
}

// endSkipped puts on record that a person went past a step. What it would have bound is null.
func (r *Runner) endSkipped(ctx context.Context, where event.At, body *event.Step) error {
	body.Outcome = outcomeSkipped
	if err := r.o.Stream.Commit(context.WithoutCancel(ctx), event.StepEnded, where, body, nil); err != nil {
		return thrown(storeError(err), where)
	}
	return nil
}

// execNow runs the block: what it binds, and the code it ended with (nil when it did not end by itself).
func (r *Runner) execNow(ctx context.Context, n *plan.Exec, at place, out layout.Sink) (value any, code *int, err error) {
	dir, err := r.scratch(scratchExec)
	if err != nil {
		return nil, nil, Errorf(KindFailed, "no folder for the script: %w", plainOS(err))
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, err := r.program(n, at, dir)
	if err != nil {
		return nil, nil, err
	}
	run := &execRun{r: r, aside: at.aside, n: n, at: at.where(n.Step), out: out}
	if at.inLet {
		run.out = layout.NewStdout(out)
	}
	exit, err := run.child(ctx, program)
	if err == nil {
		code = &exit.Code
	}
	failure, value := run.judge(ctx, exit, err)
	if failure != nil {
		return value, code, failure
	}
	return value, code, nil
}

// program writes the script and gathers what the child gets.
func (r *Runner) program(n *plan.Exec, at place, dir string) (Program, error) {
	script := filepath.Join(dir, "script")
	if err := writePrivate(script, n.Program); err != nil {
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
	env, err := r.execEnv(n, at, dir)
	if err != nil {
		return Program{}, err
	}
	p := Program{Argv: append(argv, script), Env: env, Dir: r.o.Dir, Remove: dir}
	if n.Cwd != "" {
		if p.Dir, err = r.workdir(n.Cwd, at); err != nil {
			return Program{}, err
		}
	}
	if r.runLock != nil && r.runLock.File() != nil {
		p.Locks = []*os.File{r.runLock.File()}
	}
	return p, nil
}

// workdir is the folder that a block asks for: one inside, links followed.
func (r *Runner) workdir(cwd string, at place) (string, error) {
	dir, err := r.inside(cwd, at.dirs)
	if err != nil {
		return "", err
	}
	switch info, err := os.Stat(dir.String()); {
	case err != nil:
		return "", Errorf(KindFailed, "cwd=%q cannot be used: %w", cwd, plainOS(err))
	case !info.IsDir():
		return "", Errorf(KindFailed, "cwd=%q is no folder", cwd)
	}
	return dir.String(), nil
}

// execEnv is the short list of variables a child gets: never xmd's whole environment.
func (r *Runner) execEnv(n *plan.Exec, at place, dir string) ([]string, error) {
	var env []string
	for _, kv := range r.o.Children {
		if name, _, ok := strings.Cut(kv, "="); ok && inherited[name] {
			env = append(env, kv)
		}
	}
	named, _ := at.vars.get("env") // those of the block's own document
	if m, ok := named.(map[string]any); ok {
		for _, name := range expr.Keys(m) {
			if s, ok := m[name].(string); ok {
				env = append(env, name+"="+s)
			}
		}
	}
	for i, w := range n.With {
		v, err := at.vars.path(w.Path)
		if err != nil {
			return nil, Errorf(KindFailed, "with=%q: %w", w.Name, err)
		}
		text := variable(v)
		if w.File {
			path := filepath.Join(dir, fmt.Sprintf("value-%d", i))
			if err := writePrivate(path, text); err != nil {
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
	aside  aside
	n      *plan.Exec
	at     event.At
	out    layout.Sink
	stdout headTail // with as
	stderr headTail
	words  [2]wholeRunes // without: of stdout and stderr
	broken error
}

// limits is how long the block may take, and why it ends then: its own timeout, or the limit of the run's blocks. 0: for ever.
func (x *execRun) limits() (time.Duration, *Error) {
	own, most := time.Duration(x.n.TimeoutMS)*time.Millisecond, x.r.o.ExecLimit
	if most > 0 && (own == 0 || most < own) {
		return most, Errorf(KindLimit, "the %s block `%s` was ended: it was not done within %s; --timeout-exec changes the limit", x.n.Lang, x.n.FirstLine, most)
	}
	return own, Errorf(KindTimeout, "the %s block `%s` was ended after its timeout of %s", x.n.Lang, x.n.FirstLine, own)
}

// child runs the program, under the time that it may take.
func (x *execRun) child(ctx context.Context, p Program) (ProgramExit, error) {
	if limit, why := x.limits(); limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, why)
		defer cancel()
	}
	p.Stdout = x.takeStdout
	p.Stderr = x.takeStderr
	exit, err := x.r.o.Programs.Run(ctx, p)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	x.show(x.words[0].rest(), x.words[1].rest())
	if c, ok := x.out.(*layout.Stdout); ok && x.n.As == "" {
		_ = c.Close() // it only drops what it holds
	}
	x.sayLoss()
	return exit, err
}

func (x *execRun) takeStdout(b []byte) {
	switch {
	case x.n.As != "":
		x.stdout.add(b)
	case !x.n.Silent:
		x.show(x.words[0].add(b), "")
	}
}

func (x *execRun) takeStderr(b []byte) {
	switch {
	case x.n.As != "":
		x.stderr.add(b)
	case !x.n.Silent:
		x.show("", x.words[1].add(b))
	}
}

// show puts stdout where the block stands, and stderr beside it.
func (x *execRun) show(stdout, stderr string) {
	if stdout != "" {
		x.r.o.Stream.Emit(event.ExecOutput, x.at, &event.Delta{Text: stdout, Stream: "stdout"})
		if err := x.out.Value(stdout); err != nil && x.broken == nil {
			x.broken = err
		}
	}
	if stderr != "" {
		x.aside.stderr(x.at, stderr)
	}
}

// sayLoss says what of the output is not as the program wrote it.
func (x *execRun) sayLoss() {
	if cut := x.stdout.lost() + x.stderr.lost(); cut > 0 {
		x.r.warn("exec", fmt.Sprintf("%s: the output of `%s` is over %d MiB; %d bytes in its middle are left out of {%s}.", x.at.Position, x.n.FirstLine, 2*keepHalf>>20, cut, x.n.As), x.at)
	}
	if x.words[0].bad || x.words[1].bad || x.stdout.bad() || x.stderr.bad() {
		x.r.warn("exec", fmt.Sprintf("%s: the output of `%s` is not all UTF-8 text; what is not is shown as \uFFFD.", x.at.Position, x.n.FirstLine), x.at)
	}
}

// judge says whether the block failed, and what it binds.
func (x *execRun) judge(ctx context.Context, exit ProgramExit, err error) (*Error, any) {
	first := x.n.FirstLine
	var late *Error // the time is over
	switch {
	case ctx.Err() != nil:
		return stopped(ctx), nil
	case errors.As(err, &late):
		return late, nil
	case err != nil:
		return Errorf(KindFailed, "the %s block `%s` could not be run: %w", x.n.Lang, first, err), nil
	case x.broken != nil:
		return asError(x.broken), nil
	}
	if exit.Code != 0 && (x.n.As == "" || x.n.ThrowOnError) {
		how := fmt.Sprintf("ended with code %d", exit.Code)
		if exit.Signal != "" {
			how = fmt.Sprintf("was ended by a signal (%s)", exit.Signal)
		}
		return Errorf(KindFailed, "the %s block `%s` %s", x.n.Lang, first, how), nil
	}
	if x.n.As == "" {
		return nil, nil
	}
	return nil, map[string]any{
		"exitCode": int64(exit.Code), "stdout": x.stdout.String(), "stderr": x.stderr.String(),
		"truncated": x.stdout.lost()+x.stderr.lost() > 0,
	}
}
