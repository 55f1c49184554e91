package event

import (
	"context"
	"sync"
	"time"

	"xmd/runtime/secret"
)

// Sink reads events in order. It is called with the stream's lock held: it must be quick and must not call the stream.
type Sink interface {
	Event(e *Event)
}

// Recorder is the sink that keeps events. Batch takes one that need not be durable yet, Soon one that has to be before long, together with
// the caller's extra rows; Commit returns when e, everything taken before it and the caller's extra rows are durable together.
type Recorder interface {
	Batch(e *Event)
	Soon(e *Event, extra any)
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
	mask  *mask // nil: nothing is secret
}

// NewStream makes the stream of one run. keep may be nil: nothing is recorded.
func NewStream(run string, now func() time.Time, keep Recorder, sinks ...Sink) *Stream {
	return &Stream{run: run, now: now, keep: keep, sinks: sinks}
}

// Hide makes the stream show no secret to its sinks. What is recorded is the recorder's to encode. Secrets that are added to it later are hidden from then on. Before the first event only.
func (s *Stream) Hide(secrets *secret.Set) {
	if secrets != nil {
		s.mask = newMask(secrets)
	}
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

// Soon shows an event and has it durable before long, together with extra, and in any case before the next one that is committed.
func (s *Stream) Soon(t Type, at At, body, extra any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.next(t, at, body)
	if s.keep != nil {
		s.keep.Soon(e, extra)
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
	return &Event{Time: s.now(), Run: s.run, Type: t, At: at, Body: body}
}

func (s *Stream) show(e *Event) {
	if s.mask == nil || s.mask.idle() {
		s.tell(e)
		return
	}
	for _, shown := range s.mask.masked(e) {
		s.tell(shown)
	}
}

// EndText shows what is held back of the document's text: nothing more of it comes.
func (s *Stream) EndText() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mask == nil {
		return
	}
	for _, shown := range s.mask.end(s.next(Text, At{}, nil), func(k maskKey) bool { return k.kind == Text }) {
		s.tell(shown)
	}
}

// tell numbers an event and hands it to the sinks.
func (s *Stream) tell(e *Event) {
	s.seq++
	e.Seq = s.seq
	for _, sink := range s.sinks {
		sink.Event(e)
	}
}

// Record makes an event durable, together with extra, and shows nothing: it is told when its place in the document comes.
func (s *Stream) Record(ctx context.Context, t Type, at At, body, extra any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep == nil {
		return nil
	}
	return s.keep.Commit(ctx, &Event{Time: s.now(), Run: s.run, Type: t, At: at, Body: body}, extra)
}

// Replay shows an event that is on record already.
func (s *Stream) Replay(t Type, at At, body any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.next(t, at, body)
	e.Replayed = true
	s.show(e)
}

// Unrecorded shows an event that could not be recorded: the end of a run when the store has failed.
func (s *Stream) Unrecorded(t Type, at At, body any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.show(s.next(t, at, body))
}
