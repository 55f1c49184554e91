// Package journal writes a run's events to the store: records durable before anything is built on them, deltas batched.
//
//	Stream.Emit ─▶ Batch ─▶ pending ──(100 ms, 1 MiB)──▶ one transaction, which waits for no disk
//	Stream.Soon ─▶ Soon ─▶ pending + record + the caller's rows ──(100 ms)──▶ one durable transaction
//	Stream.Commit ─▶ Commit ─▶ pending + record + the caller's rows ─▶ one durable transaction
//
// The text of the output is not kept: it follows from the document and what was recorded.
package journal

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// Bounds of what waits for the next transaction.
const (
	flushBytes = 1 << 20
	flushEvery = 100 * time.Millisecond
	maxWaiting = 4 << 20
	deltaBytes = 64 << 10 // an open delta that reaches this is a record: one text in many copies is what costs memory
)

// Journal is the recorder of one run. Safe for concurrent use.
type Journal struct {
	store   *store.Store
	run     string
	secrets *secret.Set // stored as references
	failed  func(error)
	failing sync.Once

	write   sync.Mutex // held while a transaction is written: batches keep their order
	mu      sync.Mutex
	pending []store.Record
	rows    []func(*store.Tx) error // that belong to what is pending
	bytes   int
	delta   *delta // the open delta, not yet in pending
	tails   map[deltaKey]*secret.Encoder
	kick    chan struct{}
	stop    chan struct{}
	done    chan struct{}
}

// deltaKey tells one text from another.
type deltaKey struct {
	kind   event.Type
	at     event.At
	stream string
}

// delta gathers neighbouring pieces of one text.
type delta struct {
	deltaKey
	time time.Time
	text strings.Builder
}

// stored is the data of one record.
type stored struct {
	At   event.At `json:"at"`
	Body any      `json:"body,omitempty"`
}

// New makes the journal of a run that the store already knows. Close it.
func New(s *store.Store, run string, secrets *secret.Set) *Journal {
	j := &Journal{store: s, run: run, secrets: secrets, tails: map[deltaKey]*secret.Encoder{}, kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go j.loop()
	return j
}

// OnFailure has failed told, once, that more waits than may and cannot be written: it ends what goes on being told, which would be kept in
// memory. It is called on the goroutine of a Batch. To be called before the first event.
func (j *Journal) OnFailure(failed func(error)) { j.failed = failed }

// Batch keeps e for the next transaction. Output text is not kept. It waits only when 4 MiB are already waiting.
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
		if err := j.flush(context.Background(), nil, nil); err != nil && j.failed != nil {
			j.failing.Do(func() { j.failed(err) })
		}
	} else if waiting >= flushBytes {
		select {
		case j.kick <- struct{}{}:
		default:
		}
	}
}

// Soon is Batch for an event with rows: it, what extra writes and everything before it become durable together, after 100 ms or with the next
// Commit. extra is nil or a func(*store.Tx) error, which may run more than once.
func (j *Journal) Soon(e *event.Event, extra any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(e)
	if fn, ok := extra.(func(*store.Tx) error); ok {
		j.rows = append(j.rows, fn)
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
	j.mu.Lock()
	j.endDelta()
	j.endTexts(func(deltaKey) bool { return true })
	j.mu.Unlock()
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
	records, rows, bytes := j.pending, j.rows, j.bytes
	j.pending, j.rows, j.bytes = nil, nil, 0
	j.mu.Unlock()
	all := rows
	if extra != nil {
		all = append(slices.Clip(rows), extra)
	}
	if len(records) == 0 && len(all) == 0 {
		return nil
	}
	do := j.store.Do
	if e == nil && len(all) == 0 || e != nil && len(rows) == 0 && light[e.Type] {
		do = j.store.DoSoon // nothing that leaves xmd is built on it
	}
	err := do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Append(j.run, records...); err != nil {
			return err
		}
		for _, write := range all {
			if err := write(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		if e != nil { // its caller is told
			records = records[:len(records)-1]
		}
		j.putBack(records, rows, bytes)
	}
	return err
}

// light are records behind which a durable one comes before anything is done outside of xmd. It makes them durable too, so they do not wait for
// the disk themselves.
var light = map[event.Type]bool{event.RunStarted: true, event.SessionOpened: true}

// putBack returns what could not be written.
func (j *Journal) putBack(records []store.Record, rows []func(*store.Tx) error, bytes int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = append(records, j.pending...)
	j.rows = append(rows, j.rows...)
	j.bytes += bytes
}

// add puts e among the waiting records; the caller holds mu.
func (j *Journal) add(e *event.Event) {
	j.endDelta()
	if e.Type == event.PromptEnded || e.Type == event.StepEnded || e.Type == event.RunEnded {
		j.endTexts(func(k deltaKey) bool { return k.at.Step == e.At.Step || e.Type == event.RunEnded })
	}
	j.keep(e.Type, e.At, e.Time, e.Body)
}

func (j *Journal) addDelta(e *event.Event, d *event.Delta) {
	key := deltaKey{e.Type, e.At, d.Stream}
	if cur := j.delta; cur == nil || cur.deltaKey != key {
		j.endDelta()
		if len(d.Text) >= deltaBytes {
			j.piece(key, e.Time, d.Text)
			return
		}
		j.delta = &delta{deltaKey: key, time: e.Time}
	}
	text := &j.delta.text
	if now := text.Len() + len(d.Text); now > text.Cap() && now > deltaBytes/16 {
		text.Grow(deltaBytes + deltaBytes/16 - text.Len()) // it goes on: not to be grown again and again
	}
	text.WriteString(d.Text)
	j.bytes += len(d.Text)
	if text.Len() >= deltaBytes {
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
	j.piece(d.deltaKey, d.time, d.text.String())
}

// piece puts the next piece of a text among the waiting records.
func (j *Journal) piece(key deltaKey, at time.Time, text string) {
	tail := j.tails[key]
	if tail == nil {
		tail = j.secrets.Encoder()
		j.tails[key] = tail
	}
	j.keepText(key, at, tail.Write(text))
}

// endTexts keeps what is held back of texts that have come to their end: it might have been the beginning of a secret.
func (j *Journal) endTexts(which func(deltaKey) bool) {
	for key, tail := range j.tails {
		if which(key) {
			j.keepText(key, time.Now(), tail.Flush())
			delete(j.tails, key)
		}
	}
}

// keepText puts a piece of a text, its secrets encoded, among the waiting records.
func (j *Journal) keepText(key deltaKey, at time.Time, text string) {
	if text == "" {
		return
	}
	var made strings.Builder // written once, so it is as large as the text
	enc := json.NewEncoder(&made)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(stored{At: key.at, Body: &event.Delta{Text: text, Stream: key.stream}}) // texts, into memory
	j.put(store.Record{Step: key.at.Step, Kind: string(key.kind), Time: at, Made: strings.TrimSuffix(made.String(), "\n")})
}

func (j *Journal) keep(kind event.Type, at event.At, t time.Time, body any) {
	data, err := json.Marshal(stored{At: at, Body: body})
	if err != nil { // a value that JSON cannot hold; the record itself must not be lost
		data, _ = json.Marshal(stored{At: at, Body: err.Error()})
	}
	if encoded, err := j.secrets.EncodeJSON(data); err == nil { // it is JSON: it has just been made
		data = encoded
	}
	j.put(store.Record{Step: at.Step, Kind: string(kind), Time: t, Made: string(data)})
}

func (j *Journal) put(r store.Record) {
	j.pending = append(j.pending, r)
	j.bytes += len(r.Made)
}
