// Package journal writes a run's events to the store: records durable before anything is built on them, deltas batched.
//
//	Stream.Emit ─▶ Batch ─▶ pending ──(100 ms, 256 KiB)──▶ one transaction
//	Stream.Commit ─▶ Commit ─▶ pending + record + the caller's rows ─▶ one durable transaction
//
// The text of the output is not kept: it follows from the document and what was recorded.
package journal

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// Bounds of what waits for the next transaction.
const (
	flushBytes = 256 << 10
	flushEvery = 100 * time.Millisecond
	maxWaiting = 1 << 20
	deltaBytes = 64 << 10 // an open delta that reaches this is a record: one text in many copies is what costs memory
)

// Journal is the recorder of one run. Safe for concurrent use.
type Journal struct {
	store *store.Store
	run   string

	write   sync.Mutex // held while a transaction is written: batches keep their order
	mu      sync.Mutex
	pending []store.Record
	bytes   int
	delta   *delta // the open delta, not yet in pending
	kick    chan struct{}
	stop    chan struct{}
	done    chan struct{}
}

// delta gathers neighbouring pieces of one text.
type delta struct {
	kind   event.Type
	at     event.At
	stream string
	time   time.Time
	text   strings.Builder
}

// stored is the data of one record.
type stored struct {
	At   event.At `json:"at"`
	Body any      `json:"body,omitempty"`
}

// New makes the journal of a run that the store already knows. Close it.
func New(s *store.Store, run string) *Journal {
	j := &Journal{store: s, run: run, kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go j.loop()
	return j
}

// Batch keeps e for the next transaction. Output text is not kept. It waits only when 1 MiB is already waiting.
func (j *Journal) Batch(e *event.Event) {
	if e.Type == event.Text {
		return
	}
	j.mu.Lock()
	if d, ok := e.Body.(*event.Delta); ok {
		j.addDelta(e, d)
	} else {
		j.add(e)
	}
	waiting := j.bytes
	j.mu.Unlock()
	if waiting >= maxWaiting {
		_ = j.flush(context.Background(), nil, nil)
	} else if waiting >= flushBytes {
		select {
		case j.kick <- struct{}{}:
		default:
		}
	}
}

// Commit makes e, everything before it and what extra writes durable together. extra is nil or a func(*store.Tx) error.
func (j *Journal) Commit(ctx context.Context, e *event.Event, extra any) error {
	fn, _ := extra.(func(*store.Tx) error)
	return j.flush(ctx, e, fn)
}

// Close writes what waits and ends the background work. Idempotent.
func (j *Journal) Close() error {
	select {
	case <-j.stop:
	default:
		close(j.stop)
	}
	<-j.done
	return j.flush(context.Background(), nil, nil)
}

func (j *Journal) loop() {
	defer close(j.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-tick.C:
		case <-j.kick:
		}
		// What could not be written waits again; the next Commit says why it cannot be.
		_ = j.flush(context.Background(), nil, nil)
	}
}

// flush writes what waits, then e and extra, in one transaction. On failure nothing is lost: what waited waits again.
func (j *Journal) flush(ctx context.Context, e *event.Event, extra func(*store.Tx) error) error {
	j.write.Lock()
	defer j.write.Unlock()
	j.mu.Lock()
	j.endDelta()
	if e != nil {
		j.add(e)
	}
	records, bytes := j.pending, j.bytes
	j.pending, j.bytes = nil, 0
	j.mu.Unlock()
	if len(records) == 0 && extra == nil {
		return nil
	}
	err := j.store.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Append(j.run, records...); err != nil {
			return err
		}
		if extra != nil {
			return extra(tx)
		}
		return nil
	})
	if err != nil {
		j.putBack(records, bytes, e != nil)
	}
	return err
}

// putBack returns what could not be written, without the record that was to be committed: its caller was told.
func (j *Journal) putBack(records []store.Record, bytes int, withRecord bool) {
	if withRecord {
		records = records[:len(records)-1]
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(records, j.pending...)
	j.bytes += bytes
}

// add puts e among the waiting records; the caller holds mu.
func (j *Journal) add(e *event.Event) {
	j.endDelta()
	j.keep(e.Type, e.At, e.Time, e.Body)
}

func (j *Journal) addDelta(e *event.Event, d *event.Delta) {
	if cur := j.delta; cur == nil || cur.kind != e.Type || cur.at != e.At || cur.stream != d.Stream {
		j.endDelta()
		j.delta = &delta{kind: e.Type, at: e.At, stream: d.Stream, time: e.Time}
	}
	j.delta.text.WriteString(d.Text)
	j.bytes += len(d.Text)
	if j.delta.text.Len() >= deltaBytes {
		j.endDelta()
	}
}

func (j *Journal) endDelta() {
	d := j.delta
	if d == nil {
		return
	}
	j.delta = nil
	j.bytes -= d.text.Len()
	j.keep(d.kind, d.at, d.time, &event.Delta{Text: d.text.String(), Stream: d.stream})
}

func (j *Journal) keep(kind event.Type, at event.At, t time.Time, body any) {
	data, err := json.Marshal(stored{At: at, Body: body})
	if err != nil { // a value that JSON cannot hold; the record itself must not be lost
		data, _ = json.Marshal(stored{At: at, Body: err.Error()})
	}
	j.pending = append(j.pending, store.Record{Step: at.Step, Kind: string(kind), Time: t, Data: data})
	j.bytes += len(data)
}
