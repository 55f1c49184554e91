//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// sample is one measurement.
type sample struct {
	took time.Duration // by the clock
	cpu  time.Duration // that processors worked for it, descendants that were waited for included
	peak int64         // bytes: of the largest single process; 0 if it was not measured

	// base is what this is compared with where no other program is the floor: the agents' own time, a bare scan. nil: there is none.
	base *sample
	// growth compares this with the same of a fraction of the size: of memory, or of the time for each byte. 0: not looked at.
	growth float64
}

// program is something to be measured.
type program struct {
	args []string
	dir  string // working folder
	home string
	out  string // file that stdout goes to; empty: nowhere
	errs string // file that stderr goes to
}

// outcome is how a program ended.
type outcome struct {
	sample
	code int
}

// running is a program that was started.
type running struct {
	program
	pid    int // of the program itself
	cmd    *exec.Cmd
	report *bufio.Reader
	close  []*os.File
	stop   context.CancelFunc
}

// limit is when a program is given up, so that no fault hangs the benchmarks.
const limit = 10 * time.Minute

// start starts a program under the launcher, in a process group of its own, with the environment of a plain login and nothing of xmd's.
func (b *bench) start(p program) (*running, error) {
	ctx, stop := context.WithTimeout(context.Background(), limit)
	r := &running{program: p, stop: stop}
	r.cmd = exec.CommandContext(ctx, b.launch, p.args...)
	r.cmd.Dir = p.dir
	r.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "LANG=C.UTF-8", b.mark()}
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.Cancel = func() error { return syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }
	if err := r.begin(); err != nil {
		r.finish()
		return nil, fmt.Errorf("%s: it did not start: %w", strings.Join(p.args, " "), err)
	}
	return r, nil
}

// begin opens the streams, starts the launcher and reads which process it made. Streams are files and no pipes: nothing is copied here.
func (r *running) begin() error {
	from, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = to.Close() }()
	r.close = append(r.close, from)
	r.report = bufio.NewReader(from)
	r.cmd.ExtraFiles = []*os.File{to}
	if r.cmd.Stdout, err = r.file(r.out); err != nil {
		return err
	}
	if r.cmd.Stderr, err = r.file(r.errs); err != nil {
		return err
	}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	_ = to.Close() // so that the report ends with the launcher
	if _, err := fmt.Fscan(r.report, &r.pid); err != nil {
		return errors.Join(err, r.cmd.Wait())
	}
	return nil
}

// finish puts away what was needed.
func (r *running) finish() {
	r.stop()
	for _, f := range r.close {
		_ = f.Close()
	}
}

// file makes a file for a stream; an empty path is nowhere.
func (r *running) file(path string) (*os.File, error) {
	if path == "" {
		path = os.DevNull
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err == nil {
		r.close = append(r.close, f)
	}
	return f, err
}

// wait waits for the end.
func (r *running) wait() (outcome, error) {
	defer r.finish()
	var o outcome
	var user, system time.Duration
	_, err := fmt.Fscan(r.report, &o.code, (*int64)(&o.took), (*int64)(&user), (*int64)(&system), &o.peak)
	o.cpu = user + system
	if err = errors.Join(err, r.cmd.Wait()); err != nil {
		return o, fmt.Errorf("%s: %w", strings.Join(r.args, " "), err)
	}
	return o, nil
}

// run runs a program to its end, which has to be a good one.
func (b *bench) run(p program) (outcome, error) {
	r, err := b.start(p)
	if err != nil {
		return outcome{}, err
	}
	o, err := r.wait()
	if err == nil && o.code != 0 {
		err = fmt.Errorf("%s: exit code %d: %s", strings.Join(p.args, " "), o.code, tail(p.errs))
	}
	return o, err
}

// tail is the end of a file, for messages.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	text = bytes.TrimSpace(text)
	return string(text[max(0, len(text)-400):])
}
