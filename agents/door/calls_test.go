package door

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/runtime"
)

// held is a Call that says that it has begun, and waits for its ctx or for leave.
type held struct {
	began chan string   // the arguments of each call
	leave chan struct{} // closed: all go on
	ended chan error    // the cause of each that was ended
}

func newHeld() *held {
	return &held{began: make(chan string, 100), leave: make(chan struct{}), ended: make(chan error, 100)}
}

func (h *held) call(ctx context.Context, use runtime.ToolUse) runtime.ToolAnswer {
	h.began <- string(use.Args)
	select {
	case <-ctx.Done():
		h.ended <- context.Cause(ctx)
		return runtime.ToolAnswer{Text: "ended"}
	case <-h.leave:
		return runtime.ToolAnswer{Text: "done " + string(use.Args)}
	}
}

// next receives, or fails.
func next[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// start calls review in the background and gives where the body of the answer comes.
func (o *opened) start(ctx context.Context, id int, file string) <-chan string {
	answer := make(chan string, 1)
	r := o.request(ctx, callBody(id, "review", `{"file":"`+file+`"}`))
	go func() {
		defer close(answer)
		response, err := o.client.Do(r)
		if err != nil {
			return
		}
		defer response.Body.Close()
		var b strings.Builder
		if err := response.Write(&b); err == nil {
			_, body, _ := strings.Cut(b.String(), "\r\n\r\n")
			answer <- body
		}
	}()
	return answer
}

func TestConcurrentCalls(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	var answers []<-chan string
	for i := range 50 {
		answers = append(answers, o.start(t.Context(), i%3, fmt.Sprintf("f%d", i))) // ids meet: clients count alike
	}
	for range 50 {
		next(t, "a call", h.began) // all at once: none waits for another
	}
	if status, _ := o.post(listBody); status != 200 {
		t.Errorf("a list beside them: %d", status)
	}
	close(h.leave)
	for i, a := range answers {
		if text, failed := toolText(t, next(t, "an answer", a)); failed || text != fmt.Sprintf(`done {"file":"f%d"}`, i) {
			t.Errorf("call %d: %s", i, text)
		}
	}
}

func TestSlowCallShowsThatItLives(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	o.door.sign = 20 * time.Millisecond // a sign that stays in a buffer of 2 KiB comes too late
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	response, err := o.client.Do(o.request(ctx, callBody(1, "review", `{"file":"a"}`))) // the header comes before the answer
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("status %d, %v", response.StatusCode, response.Header)
	}
	sign := make([]byte, 1)
	for range 3 {
		if n, err := response.Body.Read(sign); n != 1 || err != nil || sign[0] != '\n' {
			t.Fatalf("a sign: %q %v", sign[:n], err)
		}
	}
	close(h.leave)
	var rest strings.Builder
	if err := response.Write(&rest); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(rest.String(), `done {\"file\":\"a\"}`) {
		t.Errorf("after the signs: %s", rest.String())
	}
}

// What ends a call, and why it was ended.
func TestCallsAreEnded(t *testing.T) {
	cases := map[string]struct {
		end    func(o *opened, leave context.CancelFunc)
		cause  error
		answer string // "": nobody is there to read it
	}{
		"cancelled": {func(o *opened, _ context.CancelFunc) {
			o.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":8}}`)
			o.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"7"}}`) // another id
			o.pass.mu.Lock()
			if cause := context.Cause(o.pass.inFlight["n7"][0].ctx); cause != nil {
				o.t.Errorf("the call 7 was ended for another id: %v", cause)
			}
			o.pass.mu.Unlock()
			o.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"enough"}}`)
		}, errCancelled, "the call of review was ended: the agent cancelled the call"},
		"connection closed": {func(_ *opened, leave context.CancelFunc) { leave() }, errGone, ""},
		"revoked": {func(o *opened, _ context.CancelFunc) { o.pass.Revoke() }, errRevoked,
			"the call of review was ended: this way into the workflow was closed"},
		"closed": {func(o *opened, _ context.CancelFunc) { _ = o.door.Close(o.t.Context()) }, errClosed,
			"the call of review was ended: the run is over"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			h := newHeld()
			o := open(t, h.call, review)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answer := o.start(ctx, 7, "a")
			next(t, "the call", h.began)
			c.end(o, leave)
			if cause := next(t, "its end", h.ended); !errors.Is(cause, c.cause) {
				t.Errorf("ended by %v, want %v", cause, c.cause)
			}
			body := next(t, "the answer", answer)
			if c.answer == "" {
				return
			}
			if text, failed := toolText(t, body); !failed || text != c.answer {
				t.Errorf("answered %v %q", failed, text)
			}
		})
	}
}

func TestCancelOfAnIdThatTwoClientsUse(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	ctx, leave := context.WithCancel(t.Context())
	first, second := o.start(ctx, 7, "a"), o.start(t.Context(), 7, "b")
	next(t, "a call", h.began)
	next(t, "a call", h.began)
	o.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	select {
	case cause := <-h.ended:
		t.Errorf("one was ended though nobody can tell whose is meant: %v", cause)
	default:
	}
	leave() // the end of a connection is exact
	if cause := next(t, "its end", h.ended); !errors.Is(cause, errGone) {
		t.Error(cause)
	}
	next(t, "no answer", first)
	close(h.leave)
	if text, _ := toolText(t, next(t, "the other's answer", second)); text != `done {"file":"b"}` {
		t.Error(text)
	}
}

func TestRevoke(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	other, err := o.door.Admit(runtime.Admission{Tools: []runtime.Tool{ask}, Call: echo})
	if err != nil {
		t.Fatal(err)
	}
	o.pass.Revoke()
	o.pass.Revoke()
	if status, _ := o.post(listBody); status != http.StatusUnauthorized {
		t.Errorf("a revoked key: %d", status)
	}
	rest := &opened{t: t, door: o.door, pass: other.(*pass), client: o.client}
	if status, body := rest.post(callBody(1, "ask", "{}")); status != 200 || !strings.Contains(body, "ask {}") {
		t.Errorf("another pass of the door: %d %s", status, body)
	}
}

// A call that does not heed its ctx holds Revoke, and Close until the ctx of Close ends. The sockets are gone all the same.
func TestCloseDoesNotWaitForEver(t *testing.T) {
	began, leave := make(chan struct{}), make(chan struct{})
	d := New(Options{})
	p, err := d.Admit(runtime.Admission{Tools: []runtime.Tool{review}, Call: func(context.Context, runtime.ToolUse) runtime.ToolAnswer {
		close(began)
		<-leave
		return runtime.ToolAnswer{}
	}})
	if err != nil {
		t.Fatal(err)
	}
	o := &opened{t: t, door: d, pass: p.(*pass), client: &http.Client{Transport: &http.Transport{}}}
	answer := o.start(t.Context(), 1, "a")
	next(t, "the call", began)
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if err := d.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
	next(t, "no answer", answer)
	revoked := make(chan struct{})
	go func() { p.Revoke(); close(revoked) }()
	close(leave)
	next(t, "Revoke", revoked)
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	o.client.CloseIdleConnections()
	noneLeft(t)
}

func TestAdmitAndRevokeAtOnce(t *testing.T) {
	o := open(t, echo, review)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			p, err := o.door.Admit(runtime.Admission{Tools: []runtime.Tool{ask}, Call: echo})
			if err != nil {
				t.Error(err)
				return
			}
			mine := &opened{t: t, door: o.door, pass: p.(*pass), client: o.client}
			mine.post(callBody(1, "ask", "{}"))
			p.Revoke()
		})
	}
	all.Wait()
	if n := len(o.door.passes); n != 1 {
		t.Errorf("%d passes stay", n)
	}
}
