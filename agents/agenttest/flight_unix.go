//go:build unix

package agenttest

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"xmd/runtime"
)

// Flights kills an agent with everything it started, at each point of a turn, and checks what the next attach shows of the prompt
// that was in flight. A kill here is what a crash of the machine is: nobody gets to write anything more.
func Flights(t *testing.T, target Target) {
	if !hasProc() {
		t.Skip("processes cannot be found on this system")
	}
	there, over := []runtime.Fate{runtime.FateUnfinished}, runtime.FateUnfinished
	if target.Store.Late {
		there = append(there, runtime.FateUnknown) // never absent, though it may not be there
	}
	if target.Store.Ends {
		over = runtime.FateCompleted
	}
	t.Run("not yet read", func(t *testing.T) { inFlight(t, target, (*flight).unread, runtime.FateAbsent) })
	t.Run("in the answer", func(t *testing.T) { inFlight(t, target, (*flight).answering, there...) })
	t.Run("in a command", func(t *testing.T) { inFlight(t, target, (*flight).running, there...) })
	t.Run("over, not told", func(t *testing.T) {
		looked(t, target)
		inFlight(t, target, (*flight).over, over)
	})
	t.Run("adopted", func(t *testing.T) { adopted(t, target) })
}

// looked skips the test if nobody can look into the provider's file.
func looked(t *testing.T, target Target) {
	t.Helper()
	if target.Store.File == nil {
		t.Skip("the target keeps no file that can be looked into")
	}
}

// flight is a conversation with one turn that ended well and a prompt that is under way when everything is killed.
type flight struct {
	*line
	id    string
	known []runtime.KnownTurn
	words string // of the prompt in flight
	begun bool   // the agent has begun to answer it
}

// inFlight sends a prompt, has everything killed, and attaches anew, which must show one of the fates.
func inFlight(t *testing.T, target Target, kill func(*flight), want ...runtime.Fate) {
	t.Helper()
	p := newPlace(t, target)
	f := &flight{line: p.start(t)}
	f.id = f.open("").ID
	f.told(target.Script.Tell)
	for len(f.prompted) > 0 {
		<-f.prompted
	}
	kill(f)
	f.end()
	p.none(t)
	l := p.start(t)
	o := l.open(f.id)
	l.confirms(o, f.id)
	got := runtime.Flight{Words: runtime.FingerprintOf(f.words), Before: f.known, Accepted: f.begun}.Settle(o.History)
	if !slices.Contains(want, got) {
		t.Errorf("the prompt is %s, want %s; history %+v", got, want, o.History)
	}
	if got == runtime.FateCompleted && !strings.Contains(*o.History.LastReply, target.Script.Knows) {
		t.Errorf("the reply to be adopted is %q", *o.History.LastReply)
	}
	if h := l.good(target.Script.Ask); !strings.Contains(h.answer(), target.Script.Knows) {
		t.Errorf("afterwards: %q, want %q", h.answer(), target.Script.Knows)
	}
}

// told runs a turn to its end.
func (f *flight) told(words string) {
	f.t.Helper()
	h := f.good(words)
	f.known = append(f.known, runtime.KnownTurn{Words: runtime.FingerprintOf(words), Reply: runtime.FingerprintOf(h.answer())})
}

// send puts words in flight. done is closed when the prompt has returned, whatever it says: nobody is there to hear it.
func (f *flight) send(words string, sink func(runtime.Update)) (done chan struct{}) {
	f.words = words
	done = make(chan struct{})
	go func() {
		defer close(done)
		_, _ = f.Prompt(context.Background(), runtime.Turn{Words: words, Sink: sink, Ask: allow})
	}()
	return done
}

// unread sends the words to an agent that does not read any more.
func (f *flight) unread() {
	signalAll(f.t, f.p.mark, syscall.SIGSTOP)
	done := f.send(f.p.target.Script.Ask, func(runtime.Update) {})
	<-f.prompted
	f.kill()
	<-done
}

// answering kills at the very update that proves that the words were accepted: from then on they must be found again.
func (f *flight) answering() {
	var once sync.Once
	accepted := make(chan struct{})
	done := f.send(f.p.target.Script.Slow, func(u runtime.Update) {
		if u.Accepts {
			once.Do(func() { close(accepted) })
		}
	})
	f.await(accepted, done)
	f.kill()
	f.begun = true
	<-done
}

// holds says whether the provider's file has the words.
func (f *flight) holds() bool {
	first, _, _ := strings.Cut(f.words, "\n")
	return f.p.inFile(f.id, first) > 0
}

// inFile says how often a text is in the provider's file. It may be asked by any goroutine.
func (p *place) inFile(id, text string) int {
	data, err := os.ReadFile(p.target.Store.File(p.Place, id))
	if err != nil {
		return 0 // there is none yet
	}
	return bytes.Count(data, []byte(text))
}

// running kills while a tool of the agent's runs.
func (f *flight) running() {
	s := f.p.target.Script
	file := f.p.file("stays")
	prompts := s.Stay(file)
	for _, words := range prompts[:len(prompts)-1] {
		f.told(words)
	}
	for len(f.prompted) > 0 {
		<-f.prompted
	}
	done := f.send(prompts[len(prompts)-1], func(runtime.Update) {})
	f.await(f.prompted, done)
	within(f.t, "the tool", func() bool { return s.StayFiles && exists(file) || !s.StayFiles && f.holds() })
	f.kill()
	f.begun = true
	<-done
}

// over lets the agent end the turn and record it, while nobody reads what it says: the first piece of the answer is never taken.
func (f *flight) over() {
	free := make(chan struct{})
	defer close(free)
	heard := make(chan struct{})
	var once sync.Once
	done := f.send(f.p.target.Script.Ask, func(u runtime.Update) {
		if u.Kind == runtime.UpdateMessage {
			once.Do(func() { close(heard) })
			<-free
		}
	})
	f.await(heard, done)
	within(f.t, "the end of the turn in the file", func() bool {
		return f.p.inFile(f.id, f.p.target.Store.Ended) > len(f.known)
	})
	f.kill()
}

func (f *flight) await(what <-chan struct{}, done <-chan struct{}) {
	f.t.Helper()
	select {
	case <-what:
	case <-done:
		f.t.Fatalf("the turn of %.40q ended", f.words)
	case <-time.After(turnLimit):
		f.t.Fatalf("waited %s in the turn of %.40q", turnLimit, f.words)
	}
}

// kill ends every process of the place at once.
func (f *flight) kill() {
	f.t.Helper()
	within(f.t, "the end of everything", func() bool { return signalAll(f.t, f.p.mark, syscall.SIGKILL) == 0 })
}

// adopted: what a load gives as the newest reply is what a live turn showed.
func adopted(t *testing.T, target Target) {
	p := newPlace(t, target)
	l := p.start(t)
	id := l.open("").ID
	for _, words := range []string{need(t, target.Script.Steps), target.Script.Stream} {
		live := l.good(words)
		l.end()
		l = p.start(t)
		o := l.open(id)
		newest := len(o.History.Newest) - 1
		if newest < 0 || (o.History.LastReply == nil) != target.Store.Trims {
			t.Fatalf("%.20q: history %+v", words, o.History)
		}
		if got := o.History.LastReply; got != nil && *got != live.answer() {
			t.Errorf("%.20q: adopted %q, live %q", words, *got, live.answer())
		}
		if turn := o.History.Newest[newest]; turn.Completed != target.Store.Ends || turn.Reply != runtime.FingerprintOf(live.answer()) {
			t.Errorf("%.20q: completed: %v", words, turn.Completed)
		}
	}
}

// signalAll sends a signal to every process with the mark and says how many there were.
func signalAll(t testing.TB, mark string, signal syscall.Signal) int {
	t.Helper()
	found := Marked(mark)
	for _, p := range found {
		pid, _, _ := strings.Cut(p, " ")
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, signal) // it may be gone
		}
	}
	return len(found)
}
