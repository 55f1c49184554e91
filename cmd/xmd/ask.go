package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"xmd/runtime"
)

// isTerminal says whether f is a character device that a person sits at.
func isTerminal(f any) bool {
	file, ok := f.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && file.Name() != os.DevNull
}

// asker asks the person at the terminal; nil when nobody is there.
func (p *program) asker() runtime.Asker {
	if !isTerminal(p.stdin) || !isTerminal(p.stderr) {
		return nil
	}
	var one sync.Mutex
	in := bufio.NewReader(p.stdin)
	return func(ctx context.Context, agent, step string, req runtime.PermissionRequest) (bool, string) {
		one.Lock()
		defer one.Unlock()
		_, _ = io.WriteString(p.stderr, printable(question(agent, step, req)))
		answer := make(chan string, 1)
		go func() {
			line, _ := in.ReadString('\n')
			answer <- line
		}()
		select {
		case <-ctx.Done():
			return false, "the turn was cancelled before it was answered"
		case line := <-answer:
			switch strings.ToLower(strings.TrimSpace(line)) {
			case "y", "yes":
				return true, ""
			}
			return false, "answered no"
		}
	}
}

func question(agent, step string, req runtime.PermissionRequest) string {
	what := req.Subject
	if what == "" {
		what = req.Title
	}
	return fmt.Sprintf("%s: %s wants to %s: %s\nallow it once? [y/N] ", step, agent, first(req.Kind, "act"), what)
}
