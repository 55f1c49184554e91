package event

import (
	"context"
	"sync"
	"time"
)

// Sink reads events in order. It is called with the stream's lock held: it must be quick and must not call the stream.
type Sink interface {
	Event(e *Event)
}

// Recorder is the sink that keeps events. Batch takes one that need not be durable yet; Commit returns when e, everything
// batched before it and the caller's extra rows are durable together.
type Recorder interface {
	Batch(e *Event)
	Commit(ctx context.Context, e *Event, extra any) error
}

// Stream numbers events and hands them to its sinks. Safe for concurrent use.
type Stream struct {
	mu    sync.Mutex
	seq   uint64
	run   string
	now   func() time.Time
	keep  Recorder
	sinks []Sink
}

// NewStream makes the stream of one run. keep may be nil: nothing is recorded.
func NewStream(run string, now func() time.Time, keep Recorder, sinks ...Sink) *Stream {
	return &Stream{run: run, now: now, keep: keep, sinks: sinks}
}

// Emit shows an event and batches it for the store.
func (s *Stream) Emit(t Type, at At, body any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.next(t, at, body)
	if s.keep != nil {
		s.keep.Batch(e)
	}
	s.show(e)
}

// Commit makes an event durable, together with extra, and shows it then. When it returns an error, nothing was shown.
func (s *Stream) Commit(ctx context.Context, t Type, at At, body, extra any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.next(t, at, body)
	if s.keep != nil {
		if err := s.keep.Commit(ctx, e, extra); err != nil {
			return err
		}
	}
	s.show(e)
	return nil
}

func (s *Stream) next(t Type, at At, body any) *Event {
	s.seq++
	return &Event{Seq: s.seq, Time: s.now(), Run: s.run, Type: t, At: at, Body: body}
}

func (s *Stream) show(e *Event) {
	for _, sink := range s.sinks {
		sink.Event(e)
	}
}

// Unrecorded shows an event that could not be recorded: the end of a run when the store has failed.
func (s *Stream) Unrecorded(t Type, at At, body any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(s.next(t, at, body))
}
