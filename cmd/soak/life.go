//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"xmd/runtime/store"
)

const (
	// callLimit is how long one xmd may take: much longer than all waits in the documents, and than the time that a resume waits for what
	// is left of the process before it.
	callLimit = 90 * time.Second
	// goneLimit is how long what an xmd started may outlive it: the time an agent is given, and the machine's own.
	goneLimit = 20 * time.Second
	// maxCalls ends a run that comes to no end.
	maxCalls = 20
)

// life is one folder in which documents are run one after another, each as often as it takes.
type life struct {
	w      *world
	name   string
	dir    string
	rng    *rand.Rand
	docs   []document
	env    []string
	mark   string
	failed bool
	input  string // what the next xmd reads on stdin
	stray  bool   // a guardian was killed and xmd with it: what hides from its agent's end may be left
}

// newLife makes the folder of a life, the same for the same seed and number.
func (w *world) newLife(number int) (*life, error) {
	l := &life{w: w, name: fmt.Sprintf("L%d", number), rng: rand.New(rand.NewPCG(w.o.seed, uint64(number)))} //nolint:gosec // repeatable on purpose
	l.dir = filepath.Join(w.dir, "lives", l.name)
	l.docs = documents(l.rng, l.name)
	tmp := filepath.Join(l.dir, "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return nil, err
	}
	l.mark = "TMPDIR=" + tmp
	home := filepath.Join(w.dir, "home")
	l.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state"), "XDG_RUNTIME_DIR=" + filepath.Join(w.dir, "run"),
		"LANG=C.UTF-8", l.mark, "XMD_SIM_HOME=" + filepath.Join(l.dir, "sim"), "XMD_SIM_SCRIPT=" + filepath.Join(l.dir, "script.xmd"),
		"XMD_SIM_FAULT=" + strings.Join(l.faults(), ","),
	}
	files := map[string]string{"script.xmd": script(), "xmd.toml": fmt.Sprintf("[agents.two]\ncommand = %q\nargs = [\"sim\", \"--home\", %q, \"--script\", %q]\n"+
		"fence = \"available_commands_update\"\n", w.o.xmd, filepath.Join(l.dir, "two"), filepath.Join(l.dir, "script.xmd"))}
	for _, d := range l.docs {
		files[d.name] = d.text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// faults are ways of the agents that make an end harder and break no promise.
func (l *life) faults() (list []string) {
	if l.rng.IntN(2) == 0 {
		list = append(list, "keeps-ends")
	}
	switch l.rng.IntN(8) {
	case 0:
		list = append(list, "ignore-eof", "ignore-term")
	case 1:
		list = append(list, "grandchild=setsid+stubborn")
	case 2:
		list = append(list, "lock", "list-page=3")
	}
	return list
}

func (l *life) find(run, format string, args ...any) {
	l.failed = true
	l.w.find(finding{Life: l.name, Run: run, What: fmt.Sprintf(format, args...)})
}

// run runs the documents, and looks what is left when they have ended.
func (l *life) run(ctx context.Context) {
	for i := range l.docs {
		c := &course{life: l, doc: &l.docs[i], strikes: strikes(l.rng)}
		if len(c.strikes) == 0 {
			l.w.count("documents without a kill")
		}
		if !c.run(ctx) {
			killAll(marked(l.mark))
			return
		}
		l.w.count("documents done")
	}
	if l.rng.IntN(3) == 0 && !l.repl(ctx) {
		killAll(marked(l.mark))
		return
	}
	l.left(goneLimit)
	for _, what := range unexpected(filepath.Join(l.dir, "tmp")) {
		l.find("", "%s", what)
	}
}

// left waits for the end of everything and says what there still is. Where a guardian was killed together with its xmd, what hides from
// the end of the agent is left by that, and nothing else: it is counted, and ended here.
func (l *life) left(limit time.Duration) {
	if l.stray {
		limit = 3 * time.Second
	}
	left := gone(l.mark, limit)
	for _, p := range left {
		if !l.stray || p.role != killGrandchild {
			l.find("", "processes are left:%s", describe(left))
			break
		}
		l.w.count("left by a guardian killed with its xmd")
	}
	killAll(left)
}

// call is one xmd and how it ended.
type call struct {
	args           []string
	code           int
	stdout, stderr string
	hung           bool
	held           bool // somebody kept its output open
	struck         bool
	seen           []store.Record // on record just before it was struck
}

// call runs xmd to its end, struck once or not.
func (l *life) call(ctx context.Context, s strike, seen func() []store.Record, args ...string) call {
	c := call{args: args}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.w.o.xmd, args...) //nolint:gosec // the xmd under test
	cmd.Dir, cmd.Env = l.dir, l.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { c.hung = true; return cmd.Process.Signal(syscall.SIGQUIT) } // its goroutines are on stderr then
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdin = strings.NewReader(l.input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		l.find("", "xmd cannot be started: %v", err)
		return c
	}
	ended := make(chan struct{})
	struck := make(chan struct{})
	go func() {
		defer close(struck)
		c.seen, c.struck = l.strike(s, cmd.Process.Pid, seen, ended)
	}()
	err := cmd.Wait()
	close(ended)
	<-struck
	c.stdout, c.stderr, c.held = out.String(), errs.String(), errors.Is(err, exec.ErrWaitDelay)
	c.code = cmd.ProcessState.ExitCode()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		c.code = 128 + int(ws.Signal())
	}
	l.w.count("calls of xmd")
	return c
}

// strike waits for its moment and for somebody to hit, until xmd has ended by itself. What was on record just before is given: from then
// on it must not be lost.
func (l *life) strike(s strike, xmd int, seen func() []store.Record, ended <-chan struct{}) (before []store.Record, done bool) {
	if s.kind == noStrike {
		return nil, false
	}
	wait := time.NewTimer(s.after)
	defer wait.Stop()
	for {
		select {
		case <-ended:
			l.w.count("kill missed: " + s.kind)
			return before, false
		case <-wait.C:
		}
		before = seen()
		if _, done = s.hit(l.mark, xmd); done {
			l.w.count("kill: " + s.kind)
			if s.kind == killGuardianAndUs || s.kind == killXMDAndGuard {
				l.stray = true
			}
			return before, true
		}
		wait.Reset(10 * time.Millisecond)
	}
}

// says is how a call went, for a finding.
func (c call) says() string {
	return fmt.Sprintf("xmd %s: code %d\nstdout:\n%s\nstderr:\n%s", strings.Join(c.args, " "), c.code, tail(c.stdout), tail(c.stderr))
}

// tail is the end of a text.
func tail(text string) string {
	const most = 6000
	if len(text) > most {
		return "…" + text[len(text)-most:]
	}
	return text
}
