package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"

	"xmd/runtime/event"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// Past is what a run has on record, read by step identity and never by position in the journal. It holds the numbers of records, not
// their data, so its size does not depend on what agents said. The nil Past has nothing on record. Safe for concurrent use.
type Past struct {
	store   *store.Store
	run     string
	secrets *secret.Set // what references stand for

	mu    sync.Mutex
	steps map[string][]ref
	sent  map[string]int // how often each turn was sent, also when that does not count any more
	last  int64          // the last record that was read
}

// ref is one record of a step.
type ref struct {
	seq  int64
	kind event.Type
}

// kept are the types of records that a replay asks for, interned; all others are passed over.
var kept = func() map[string]event.Type {
	m := map[string]event.Type{}
	for _, t := range []event.Type{
		event.RunStarted, event.RunEnded, event.BehaviourUsed, event.StepStarted, event.StepEnded, event.PromptSent, event.PromptAccepted,
		event.PromptEnded, event.Message, event.ExecOutput, event.Launched, event.Answer, event.EntryStarted, event.EntryEnded,
	} {
		m[string(t)] = t
	}
	return m
}()

// Open reads which records a run has. secrets are what the references in them stand for; nil: there are none.
func Open(ctx context.Context, s *store.Store, run string, secrets *secret.Set) (*Past, error) {
	p := &Past{store: s, run: run, secrets: secrets, steps: map[string][]ref{}, sent: map[string]int{}}
	return p, p.Refresh(ctx)
}

// Refresh reads what was recorded since.
func (p *Past) Refresh(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	for h, err := range p.store.RecordHeads(ctx, p.run, p.last) {
		if err != nil {
			return err
		}
		p.last = h.Seq
		kind, ok := kept[h.Kind]
		switch {
		case h.Kind == string(event.StepDiscarded):
			p.forget(h.Step, func(r ref) bool { return !ofTurns[r.kind] })
		case h.Kind == string(event.PromptDiscarded):
			p.forget(h.Step, func(r ref) bool { return ofTurns[r.kind] })
		case ok:
			p.steps[h.Step] = append(p.steps[h.Step], ref{h.Seq, kind})
			if kind == event.PromptSent {
				p.sent[h.Step]++
			}
		}
	}
	return nil
}

// ofTurns are the types of records of a prompt's turn. The first turn of a prompt has the step's own identity.
var ofTurns = map[event.Type]bool{event.PromptSent: true, event.PromptAccepted: true, event.PromptEnded: true, event.Message: true}

// forget drops records of a step.
func (p *Past) forget(step string, which func(ref) bool) {
	left := slices.DeleteFunc(slices.Clone(p.steps[step]), which)
	if len(left) == 0 {
		delete(p.steps, step)
		return
	}
	p.steps[step] = left
}

// Forget drops the end of a step, or a turn of a prompt, as if it were discarded; nothing is put on record.
func (p *Past) Forget(step string, turn bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget(step, func(r ref) bool { return ofTurns[r.kind] == turn })
}

// Turns are the identities of the turns of a prompt that have something on record.
func (p *Past) Turns(step string) []string {
	var turns []string
	for turn, k := step, 2; p.Seq(turn, event.PromptSent) != 0; k++ {
		turns = append(turns, turn)
		turn = fmt.Sprintf("%s#%d", step, k)
	}
	return turns
}

// refs are the records of a step that count: of a prompt's turn those since it was sent last.
func (p *Past) refs(step string) []ref {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.steps[step]
}

// Has says whether anything is on record of a step.
func (p *Past) Has(step string) bool { return len(p.refs(step)) > 0 }

// Steps are the identities of all steps with something on record, sorted.
func (p *Past) Steps() []string {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Sorted(maps.Keys(p.steps))
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// Last reads the last record of a type that a step has; step is "" for the run itself. body receives it and may be nil.
func (p *Past) Last(ctx context.Context, step string, t event.Type, body any) (at event.At, found bool, err error) {
	refs := p.refs(step)
	for _, r := range slices.Backward(refs) {
		if r.kind == t {
			at, err = p.read(ctx, r.seq, body)
			return at, err == nil, err
		}
	}
	return event.At{}, false, nil
}

// Seq is the number of the last record of a type that a step has; 0 for none. Records of a run are numbered in the order in which they
// became durable.
func (p *Past) Seq(step string, t event.Type) int64 {
	for _, r := range slices.Backward(p.refs(step)) {
		if r.kind == t {
			return r.seq
		}
	}
	return 0
}

// Count is how many records of a type a step has.
func (p *Past) Count(step string, t event.Type) int {
	n := 0
	for _, r := range p.refs(step) {
		if r.kind == t {
			n++
		}
	}
	return n
}

// Sendings is how often a turn was sent, those that do not count any more included.
func (p *Past) Sendings(turn string) int {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent[turn]
}

// All reads every record of a type that a step has, in order. each gets the body's JSON.
func (p *Past) All(ctx context.Context, step string, t event.Type, each func(at event.At, body json.RawMessage) error) error {
	for _, r := range p.refs(step) {
		if r.kind != t {
			continue
		}
		var body json.RawMessage
		at, err := p.read(ctx, r.seq, &body)
		if err == nil {
			err = each(at, body)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Text reads the pieces of a text that a step has on record, in order: what was said since the prompt was sent last, or what a program
// wrote to that stream since it was started last.
func (p *Past) Text(ctx context.Context, step string, t event.Type, stream string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		refs := p.refs(step)
		from := 0
		for i, r := range refs {
			if r.kind == event.PromptSent || r.kind == event.StepStarted && t == event.ExecOutput {
				from = i
			}
		}
		for _, r := range refs[from:] {
			if r.kind != t {
				continue
			}
			var d event.Delta
			_, err := p.read(ctx, r.seq, &d)
			if err == nil && d.Stream != stream {
				continue
			}
			if !yield(d.Text, err) || err != nil {
				return
			}
		}
	}
}

// behaviours are the numbers of behaviours that this build has beside those that every build had. Whoever changes what a document does
// adds one, writes a record of type "behaviour" when a run first makes use of it, and asks the record on replay.
var behaviours = map[int]bool{}

// Unknown is the number of a behaviour that the run uses and this build does not have; 0 for none.
func (p *Past) Unknown(ctx context.Context) (number int, err error) {
	err = p.All(ctx, "", event.BehaviourUsed, func(_ event.At, body json.RawMessage) error {
		var b event.Behaviour
		if err := json.Unmarshal(body, &b); err != nil {
			return fmt.Errorf("a behaviour of run %s: %w: %w", p.run, store.ErrUnaccountable, err)
		}
		if !behaviours[b.Number] {
			number = b.Number
		}
		return nil
	})
	return number, err
}

// errGone is a record that was there a moment ago.
var errGone = errors.New("the record is gone")

// read reads one record. It is not cancelled: what is told again ends where it ended then, not where this invocation was cancelled.
func (p *Past) read(ctx context.Context, seq int64, body any) (event.At, error) {
	ctx = context.WithoutCancel(ctx)
	rec, found, err := p.store.Record(ctx, p.run, seq)
	if err == nil && !found {
		err = errGone
	}
	if err != nil {
		return event.At{}, fmt.Errorf("record %d of run %s: %w", seq, p.run, err)
	}
	raw, err := p.secrets.DecodeJSON(rec.Data)
	if err != nil {
		return event.At{}, fmt.Errorf("record %d of run %s: %w", seq, p.run, err)
	}
	data := struct {
		At   event.At `json:"at"`
		Body any      `json:"body"`
	}{Body: body} // what body points to is read in the same pass
	if body == nil {
		data.Body = &json.RawMessage{}
	}
	if err := json.Unmarshal(raw, &data); err != nil {
		return event.At{}, fmt.Errorf("record %d of run %s: %w: %w", seq, p.run, store.ErrUnaccountable, err)
	}
	return data.At, nil
}

// Flight is a prompt that was sent and has no end on record.
type Flight struct {
	Step string // with #k
	At   event.At
	Sent event.Sent
	// Accepted says that the provider was seen to have the words.
	Accepted bool
}

// Flights are the prompts of the run that have no end on record, in no order.
func (p *Past) Flights(ctx context.Context) ([]Flight, error) {
	var list []Flight
	for _, step := range p.Steps() {
		f, found, err := p.Flight(ctx, step)
		if err != nil {
			return nil, err
		}
		if found {
			list = append(list, f)
		}
	}
	return list, nil
}

// Flight is the turn of that identity if it is in flight.
func (p *Past) Flight(ctx context.Context, turn string) (f Flight, found bool, err error) {
	sent := p.Seq(turn, event.PromptSent)
	if sent == 0 || p.Seq(turn, event.PromptEnded) > sent {
		return f, false, nil
	}
	f = Flight{Step: turn, Accepted: p.Seq(turn, event.PromptAccepted) > sent}
	f.At, _, err = p.Last(ctx, turn, event.PromptSent, &f.Sent)
	return f, err == nil, err
}
