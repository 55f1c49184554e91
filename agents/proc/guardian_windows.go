package proc

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"time"
)

// GuardianMain does nothing: there is no guardian on this platform.
func GuardianMain() {}

// AdoptOrphans does nothing: there are no guardians that could leave any.
func AdoptOrphans() {}

// plain is a program without a guardian: only the program itself is ended, it lives
// on when xmd dies, and it holds no locks.
type plain struct {
	cmd     *exec.Cmd
	eofWait time.Duration
	gone    chan struct{}
	quit    sync.Once
}

func launch(_ context.Context, o Options, path string, std [3]*os.File) (backend, error) {
	p := &plain{eofWait: o.EOFWait, gone: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: path, Args: o.Argv, Env: append([]string{}, o.Env...), Dir: o.Dir,
		Stdin: std[0], Stdout: std[1], Stderr: std[2]}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.gone)
		_ = p.cmd.Wait() // the state says how it ended
	}()
	return p, nil
}

func (p *plain) pid() int { return p.cmd.Process.Pid }

func (p *plain) hold(context.Context, *os.File) error {
	return errors.New("locks cannot be shared on this platform")
}

func (p *plain) ask(command byte) error {
	if command == askKill {
		return p.cmd.Process.Kill()
	}
	p.quit.Do(func() {
		go func() {
			select {
			case <-p.gone:
			case <-time.After(p.eofWait):
				_ = p.cmd.Process.Kill()
			}
		}()
	})
	return nil
}

func (p *plain) exited() <-chan struct{} { return p.gone }

func (p *plain) wait() (Exit, bool) {
	<-p.gone
	return Exit{Code: p.cmd.ProcessState.ExitCode()}, false
}

func reach() (whole bool, words string) {
	return false, "on Windows only the agent's own process is ended with xmd: what it starts, and it itself when xmd is killed, may go on"
}
