//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// turnTime is how long each agent works in the case of many sessions.
const turnTime = time.Second

// sessions has 64 agents at work at once. The floor is the longest of their turns, by their own clocks.
func (b *bench) sessions() (contest, error) {
	const many = 64
	p, err := b.place("sessions")
	if err != nil {
		return contest{}, err
	}
	log := filepath.Join(p.dir, "log")
	if p, err = b.used("sessions", b.logging(log)...); err != nil {
		return contest{}, err
	}
	xmd := func(i int) (sample, error) {
		_ = os.Remove(log)
		text := parallel(many, func(n int) string {
			return fmt.Sprintf("<Prompt session=\"s%d-%d\">SLEEP %d</Prompt>", i, n, turnTime.Milliseconds())
		})
		s, err := p.document(text, lines(many, func(int) string { return "slept" }))
		if err == nil {
			s.base = &sample{}
			s.base.took, err = b.longestTurn(log, many)
		}
		return s, err
	}
	return contest{title: fmt.Sprintf("%d sessions at once, one prompt of %s each (floor: the slowest agent's turn)", many, shown(turnTime)), xmd: xmd, repetitions: pick(b.short, 1, 0), finish: p.done}, nil
}

// beside compares many sessions in one xmd with as many floors at once: what keeping them together takes, on a machine as busy for both.
func (b *bench) beside() (contest, error) {
	const many = 64
	p, err := b.used("beside")
	xmd := func(i int) (sample, error) {
		text := parallel(many, func(n int) string { return fmt.Sprintf("<Prompt session=\"s%d-%d\">ping</Prompt>", i, n) })
		return p.document(text, lines(many, func(int) string { return "pong: 1" }))
	}
	floor := func(int) (sample, error) {
		return p.atOnce(many, func(i int) (sample, error) {
			q := p.program(b.floor, "ping", "1", b.agent)
			return p.apart(i, q, exactly("pong: 1"))
		})
	}
	return contest{title: fmt.Sprintf("%d sessions at once, one prompt each (floor: as many floors at once)", many), floor: floor, xmd: xmd, finish: p.done}, err
}

// parallel is a document of this many branches.
func parallel(n int, branch func(n int) string) string {
	var s strings.Builder
	fmt.Fprintln(&s, "<Parallel max={64}>")
	for i := 1; i <= n; i++ {
		fmt.Fprintln(&s, branch(i))
	}
	fmt.Fprintln(&s, "</Parallel>")
	return s.String()
}

// logging is what makes the agent keep a log; an agent that is not ours keeps none.
func (b *bench) logging(path string) []string {
	if b.foreign {
		return nil
	}
	return []string{"-log", path}
}

// longestTurn is the longest time from a prompt to its answer in a log, which has to hold as many as this.
func (b *bench) longestTurn(log string, turns int) (time.Duration, error) {
	if b.foreign {
		return turnTime, nil
	}
	text, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	begun := map[int]int64{}
	var longest, answers int64
	for line := range strings.Lines(string(text)) {
		var pid int
		var event string
		var at int64
		if _, err := fmt.Sscan(line, &pid, &event, &at); err != nil {
			return 0, fmt.Errorf("%s: %q: %w", log, line, err)
		}
		switch event {
		case "prompt":
			begun[pid] = at
		case "answer":
			answers++
			longest = max(longest, at-begun[pid])
		}
	}
	if answers != int64(turns) {
		return 0, fmt.Errorf("%d of %d agents answered", answers, turns)
	}
	return time.Duration(longest), nil
}

// interrupt measures from a SIGINT in the middle of a turn to the end: exit code 130, and no process left.
func (b *bench) interrupt() (contest, error) {
	p, err := b.place("interrupt")
	if err != nil {
		return contest{}, err
	}
	log := filepath.Join(p.dir, "log")
	if p, err = b.used("interrupt", b.logging(log)...); err != nil {
		return contest{}, err
	}
	if err := os.WriteFile(filepath.Join(p.work(), "long.xmd"), []byte("<Prompt>SLEEP 600000</Prompt>\n"), 0o600); err != nil {
		return contest{}, err
	}
	xmd := func(int) (sample, error) {
		_ = os.Remove(log)
		s, code, err := p.interrupted(log, p.program(b.xmd, "run", "long.xmd"))
		if err == nil && code != 130 {
			err = fmt.Errorf("exit code %d after SIGINT: %s", code, tail(filepath.Join(p.dir, "errs")))
		}
		if err == nil {
			err = b.gone()
		}
		return s, err
	}
	c := contest{title: "SIGINT in a turn, to exit 130 and no agent left", xmd: xmd, finish: p.done}
	if b.acpx != nil {
		c.acpx = func(int) (sample, error) {
			_ = os.Remove(log)
			s, _, err := p.interrupted(log, b.acpx.program(p, b.logging(log), "exec", "SLEEP 600000"))
			return s, errors.Join(err, b.acpx.idle())
		}
	}
	return c, nil
}

// interrupted starts a program, sends SIGINT when its agent was prompted, and measures from then.
func (p *place) interrupted(log string, q program) (sample, int, error) {
	r, err := p.start(q)
	if err != nil {
		return sample{}, 0, err
	}
	begun := p.prompted(log)
	for deadline := time.Now().Add(time.Minute); !begun && time.Now().Before(deadline); begun = p.prompted(log) {
		time.Sleep(5 * time.Millisecond)
	}
	sent := time.Now()
	err = syscall.Kill(r.pid, syscall.SIGINT)
	o, werr := r.wait()
	o.took = time.Since(sent)
	if !begun {
		err = fmt.Errorf("the agent was not prompted within a minute: %s", tail(q.errs))
	}
	return o.sample, o.code, errors.Join(err, werr)
}

// prompted says whether the agent is in its turn. One that keeps no log is given two seconds for it.
func (p *place) prompted(log string) bool {
	if p.foreign {
		time.Sleep(2 * time.Second)
		return true
	}
	text, err := os.ReadFile(log)
	return err == nil && strings.Contains(string(text), " prompt ")
}
