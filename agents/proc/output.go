package proc

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

// Result is what a short command wrote and how it ended.
type Result struct {
	// Stdout is the first bytes of its output, Truncated whether there were more.
	Stdout    []byte
	Truncated bool
	// Stderr is the last bytes of its stderr.
	Stderr []byte
	Exit   Exit
}

// FirstLine returns the first line of stdout that is not blank, without the white
// space around it, and "" when there is none.
func (r Result) FirstLine() string {
	for line := range bytes.Lines(r.Stdout) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
	return ""
}

// Output runs a short command with an empty stdin to its end and returns at most
// limit bytes of its output. When ctx ends first, the command and its descendants
// are killed and the cause of ctx is returned, with what was written until then. An
// exit code other than 0 is no error. Errors of starting are those of Start.
func Output(ctx context.Context, argv, env []string, dir string, limit int) (Result, error) {
	p, err := Start(ctx, Options{Argv: argv, Env: env, Dir: dir, NullStdin: true, TermWait: time.Second})
	if err != nil {
		return Result{}, err
	}
	defer p.Stdout.Close()
	lost := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		if p.Kill() != nil { // not even the kernel can end it: do not wait for it
			_ = p.Stdout.SetReadDeadline(time.Now())
			close(lost)
		}
	})
	defer stop()
	var out bytes.Buffer
	_, err = io.Copy(&out, io.LimitReader(p.Stdout, int64(limit)+1))
	if err == nil {
		_, err = io.Copy(io.Discard, p.Stdout)
	}
	r := Result{Stdout: out.Bytes()}
	select {
	case <-p.Done():
		r.Exit = p.Exit()
	case <-lost:
	}
	r.Stderr = p.StderrTail()
	if r.Truncated = len(r.Stdout) > limit; r.Truncated {
		r.Stdout = r.Stdout[:limit]
	}
	if ctx.Err() != nil && !stop() {
		return r, context.Cause(ctx)
	}
	return r, ignoreDeadline(err)
}

// ignoreDeadline forgives a stdout that a stranger kept open past the end.
func ignoreDeadline(err error) error {
	var timeout interface{ Timeout() bool }
	if errors.As(err, &timeout) && timeout.Timeout() {
		return nil
	}
	return err
}
