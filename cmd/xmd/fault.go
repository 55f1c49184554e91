package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/secret"
)

// guarded runs a part of a run. A fault of xmd itself in it is a failure of kind internal: the run has an end, on record and in every machine
// form, and can go on.
func (l *live) guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			l.faulty = true
			err = faultError(l.faults, l.id, l.secrets, p, debug.Stack())
		}
	}()
	return do()
}

// close closes the agents. After a fault what it needs may be held for ever, so it is not waited for longer than ctx.
func (l *live) close(ctx context.Context) error {
	if !l.faulty {
		return l.closeAll(ctx)
	}
	closed := make(chan error, 1)
	go func() { closed <- l.closeAll(ctx) }()
	select {
	case err := <-closed:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// closeAll closes the agents, and the door behind the last of them.
func (l *live) closeAll(ctx context.Context) error {
	return errors.Join(l.runner.Close(ctx), l.door.Close(ctx))
}

// faultError is the error of a fault: what happened in one line. What a reporter needs beside it is in a file below dir.
func faultError(dir, run string, secrets *secret.Set, fault any, stack []byte) *runtime.Error {
	text := secrets.Mask(fmt.Sprintf("xmd %s\n%v\n\n%s", version, fault, stack))
	what, _, _ := strings.Cut(secrets.Mask(fmt.Sprint(fault)), "\n")
	path := filepath.Join(dir, run+".txt")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		return runtime.Errorf(runtime.KindInternal, "xmd met a fault of its own: %s; please report it", what)
	}
	return runtime.Errorf(runtime.KindInternal, "xmd met a fault of its own: %s; please report it with %s", what, path)
}

// crashed ends a command that met a fault where no run could end by it.
func (p *program) crashed(fault any) int {
	p.face.screen.Abandon()
	what, _, _ := strings.Cut(fmt.Sprint(fault), "\n")
	err := runtime.Errorf(runtime.KindInternal, "xmd met a fault of its own: %s; please report it", what)
	if p.owing != "" {
		p.owe(p.owing, &event.End{Outcome: "failed", ExitCode: 1, Errors: []*event.Error{runtime.EventError(err)}})
	}
	return p.finish(err)
}
