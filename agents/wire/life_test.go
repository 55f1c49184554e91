package wire

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A context that ends returns the call at once, even when the agent reads nothing
// and every pipe is full; the answer that comes later is not lost.
func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := make(chan Answer, 1)
		c, p := connect(t, Options{Late: func(a Answer) { late <- a }})
		start := time.Now()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("idle"))
		defer cancel()
		_, err := c.Call(ctx, "prompt", nil)
		if err == nil || err.Error() != "prompt: idle" || time.Since(start) != time.Second {
			t.Errorf("err = %v after %v", err, time.Since(start))
		}
		if _, err = c.Call(ctx, "never", nil); err == nil || err.Error() != "never: idle" {
			t.Errorf("err = %v", err)
		}
		if f := p.read(); f.Method != "prompt" {
			t.Errorf("the agent got %+v", f)
		}
		p.send(`{"id":1,"result":"cancelled"}`)
		if a := <-late; a.Method != "prompt" || string(a.Result) != `"cancelled"` || a.Err != nil {
			t.Errorf("late answer %+v", a)
		}
		p.send(`{"id":1,"result":"again"}`)
		p.send(`{"id":99,"error":{"code":1}}`)
		p.out.Close()
		<-c.Done()
		if s := c.Stats(); s.NoCall != 2 || s.FramesOut != 1 || s.LinesIn != 3 {
			t.Errorf("stats %+v", s)
		}
	})
}

// A pending call can be waited for again: this is how a cancelled prompt gets its
// real stop reason.
func TestPendingWaitsAgain(t *testing.T) {
	c, p := connect(t, Options{Late: func(a Answer) { t.Errorf("late: %+v", a) }})
	call, err := c.Start("prompt", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.read()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := call.Wait(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	p.send(`{"id":1,"result":"cancelled"}`)
	if got, err := call.Wait(t.Context()); string(got) != `"cancelled"` || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	if got, err := call.Wait(ended); string(got) != `"cancelled"` || err != nil {
		t.Errorf("an answer that is there loses: %s, %v", got, err)
	}
	if call.Abandon() {
		t.Error("an answered call was abandoned")
	}
}

// The agent has closed its stdin but still answers what it has got.
func TestWriteFails(t *testing.T) {
	c, p := connect(t, Options{})
	first, err := c.Start("first", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.read()
	p.raw.Close()
	if _, err := c.Call(t.Context(), "second", nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("second: %v", err)
	}
	if _, err := c.Call(t.Context(), "third", nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("third: %v", err)
	}
	if first.Answered() {
		t.Error("a call that was written failed with the pipe")
	}
	p.send(`{"id":1,"result":1}`)
	if got, err := first.Wait(t.Context()); string(got) != "1" || err != nil {
		t.Errorf("first: %s, %v", got, err)
	}
}

// Everything that was queued fails with the pipe, not only the first frame.
func TestQueuedCallsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, Options{})
		var calls []*Pending
		for range 5 {
			call, err := c.Start("m", nil)
			if err != nil {
				t.Fatal(err)
			}
			calls = append(calls, call)
			synctest.Wait() // the first is being written, the others wait for it
		}
		p.raw.Close()
		for i, call := range calls {
			if _, err := call.Wait(t.Context()); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("call %d: %v", i, err)
			}
		}
	})
}

// The agent has closed its stdout and reads nothing: the blocked writer is freed.
func TestEndFreesWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := connect(t, Options{})
		c.Notify("n", nil)
		synctest.Wait()
		p.out.Close()
		<-c.Done()
	})
}

// Requests and results are their receiver's own, however much comes after them.
func TestOwnedMemory(t *testing.T) {
	var kept *Message
	h := &recorder{answer: func(m *Message, r Reply) bool { kept = m; return r(nil, nil) == nil }}
	c, p := connect(t, Options{Handler: h})
	go func() {
		p.read()
		p.send(`{"id":"a","method":"ask","params":["first"]}`)
		p.read()
		p.send(`{"id":1,"result":["second"]}`)
		for range 1000 {
			p.send(`{"method":"fill","params":"%0100d"}`, 0)
		}
		p.out.Close()
	}()
	res, err := c.Call(t.Context(), "m", nil)
	<-c.Done()
	if string(res) != `["second"]` || err != nil {
		t.Errorf("result %s, %v", res, err)
	}
	if string(kept.ID) != `"a"` || string(kept.Params) != `["first"]` || string(kept.Raw) != `{"id":"a","method":"ask","params":["first"]}` {
		t.Errorf("request %+v", kept)
	}
}

// CloseWrite sends what is queued, then the end; reading goes on.
func TestCloseWrite(t *testing.T) {
	c, p := connect(t, Options{})
	for range 50 {
		c.Notify("n", nil)
	}
	call, _ := c.Start("last", nil)
	c.CloseWrite()
	if err := c.Notify("late", nil); !errors.Is(err, ErrClosed) {
		t.Errorf("a notification after CloseWrite: %v", err)
	}
	for range 50 {
		p.line()
	}
	if f := p.read(); f.Method != "last" {
		t.Errorf("got %+v", f)
	}
	if b, err := io.ReadAll(p.in); len(b) > 0 || err != nil {
		t.Errorf("after the last frame: %q, %v", b, err)
	}
	p.send(`{"id":1,"result":1}`)
	if _, err := call.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}

// Close ends everything at once, also while the agent reads nothing; synctest
// fails the test when a goroutine is left.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := connect(t, Options{})
		call, err := c.Start("m", nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			c.Notify("n", nil)
		}
		synctest.Wait() // the writer is blocked
		if c.Err() != nil {
			t.Error("ended early")
		}
		c.Close()
		c.Close()
		if _, err := call.Wait(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("err = %v", err)
		}
		if c.Err() != ErrClosed {
			t.Errorf("Err = %v", c.Err())
		}
	})
}

// Over kernel pipes: the agent reads nothing, the pipe is full, and still a call
// returns with its context and Close ends a write that is blocked in the kernel.
func TestKernelPipes(t *testing.T) {
	fromAgent, agentOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	agentIn, toAgent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer agentOut.Close()
	defer agentIn.Close()
	c := New(fromAgent, toAgent, Options{})
	for range 8 {
		c.Notify("big", string(make([]byte, 64<<10)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, "m", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	c.Close()
	if _, err := fromAgent.Read(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the reader was left open: %v", err)
	}
	if _, err := toAgent.Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the writer was left open: %v", err)
	}
	if _, err := agentOut.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the agent can still write: %v", err)
	}
}

func TestTrace(t *testing.T) {
	var in, out []string
	c, p := connect(t, Options{NoVersion: true, MaxLine: 100, Trace: func(d Direction, b []byte) {
		if d == In {
			in = append(in, string(b))
		} else {
			out = append(out, string(b))
		}
	}})
	go func() { p.read(); p.send("hello\n"); p.send("%0120d", 7); p.send(`{"id":1}`); p.out.Close() }()
	c.Call(t.Context(), "m", nil)
	<-c.Done()
	if len(out) != 1 || out[0] != `{"id":1,"method":"m"}` {
		t.Errorf("out %q", out)
	}
	if len(in) != 3 || in[0] != "hello" || len(in[1]) != 120 || in[2] != `{"id":1}` {
		t.Errorf("in %q", in)
	}
}
