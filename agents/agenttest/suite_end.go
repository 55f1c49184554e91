package agenttest

import (
	"context"
	"testing"
	"time"
)

// teardown closes the connection in a turn whose tool runs a process that would stay.
func teardown(t *testing.T, target Target) {
	claim(t, target, colTeardown)
	if target.Script.Stay == nil {
		NotRun(t, "the target cannot be made to start a process")
	}
	p := newPlace(t, target)
	l := p.start(t)
	l.open("")
	done, ended := p.stay(t, l)
	if len(Marked(p.mark)) == 0 && hasProc() {
		t.Fatal("no process of the agent is found: the check that none is left means nothing")
	}
	begun := time.Now()
	l.end()
	t.Logf("closed in %s", time.Since(begun).Round(time.Millisecond))
	p.none(t)
	<-done
	if err := *ended; err == nil {
		t.Log("the turn ended by itself when its connection closed")
	}
	l.end() // closing again is fine
}

// stay plays the target's Stay prompts and returns when the process that would stay runs and the last turn is open. done is
// closed when that turn has ended, with the error in ended.
func (p *place) stay(t testing.TB, l *line) (done chan struct{}, ended *error) {
	t.Helper()
	file := p.file("stays")
	prompts := p.target.Script.Stay(file)
	for _, words := range prompts[:len(prompts)-1] {
		l.good(words)
	}
	for len(l.prompted) > 0 {
		<-l.prompted
	}
	done, ended = make(chan struct{}), new(error)
	go func() {
		defer close(done)
		_, *ended = l.promptWithin(context.Background(), prompts[len(prompts)-1], allow)
	}()
	select {
	case <-l.prompted:
	case <-done:
		t.Fatalf("the turn ended at once: %v", *ended)
	}
	if p.target.Script.StayFiles {
		within(t, "the process of the agent's tool", func() bool { return exists(file) })
	}
	return done, ended
}

func hasProc() bool { return exists("/proc/self/environ") }
