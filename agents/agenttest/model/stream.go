package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// dialect is one provider's API.
type dialect interface {
	// parse reads a request body into the common form.
	parse(body []byte) (Request, error)
	// write sends the reply, streamed or whole as the request asks, and returns
	// errIncomplete if it stopped early on purpose.
	write(out *stream, req Request, p reply) error
	// refuse answers with an HTTP error in the provider's own shape, marked so
	// that clients do not retry.
	refuse(w http.ResponseWriter, status int, message string)
}

// errIncomplete says that the reply was ended before it was complete.
var errIncomplete = errors.New("the scripted reply ends here")

// stream writes server-sent events, or nothing but one JSON value.
type stream struct {
	ctx   context.Context
	w     http.ResponseWriter
	flush func()
	live  bool
}

func newStream(ctx context.Context, w http.ResponseWriter, live bool) *stream {
	s := &stream{ctx: ctx, w: w, live: live, flush: func() {}}
	if f, ok := w.(http.Flusher); ok {
		s.flush = f.Flush
	}
	return s
}

// event sends one event whose data is v; v's "type" is the event's name.
func (s *stream) event(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.line(fmt.Sprintf("event: %s\ndata: %s\n\n", name, data))
}

// data sends one event without a name.
func (s *stream) data(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.line(fmt.Sprintf("data: %s\n\n", data))
}

// line sends one event as it is written.
func (s *stream) line(text string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	s.w.Header().Set("Content-Type", "text/event-stream")
	if _, err := io.WriteString(s.w, text); err != nil {
		return err
	}
	s.flush()
	return nil
}

// whole sends one JSON value as the complete answer.
func (s *stream) whole(v any) error {
	s.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(s.w).Encode(v)
}

// pause waits d, or less if the request ends.
func (s *stream) pause(d time.Duration) error {
	if d <= 0 {
		return s.ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// end applies how the reply ends: errIncomplete for a cut one, a wait for the
// client to give up for a hanging one, nil when it should be completed.
func (s *stream) end(p reply) error {
	switch p.end {
	case cut:
		return errIncomplete
	case hang:
		<-s.ctx.Done()
		return errIncomplete
	default:
		return nil
	}
}

// refuseJSON sends an error body that no client should answer by retrying.
func refuseJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone needs no answer
}
