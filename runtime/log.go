package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"path/filepath"
	"sync"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// carried is what becomes true when an agent's provider has the words of a turn. It is on record with the prompt, and is taken from
// there by whoever finds out that they were accepted, once.
type carried struct {
	Entry        json.RawMessage `json:"entry,omitempty"` // of the Conversation's log, its secrets encoded; nil: the turn is in none
	End          json.RawMessage `json:"end,omitempty"`   // how the turn ended, when that was known first
	UpTo         int             `json:"upTo,omitempty"`  // the last entry that the provider conversation holds then, beside the turn's own
	Instructions string          `json:"instructions,omitempty"`
	Tools        string          `json:"tools,omitempty"`
}

// record puts what a turn carries with it on record.
func (c *carried) record(tx *store.Tx, k store.Key, turn int) error {
	raw, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return tx.PutPending(k, turn, raw)
}

// took records that the provider has the words of a turn: the entry in the log, how far the agent has come, what it was told.
func took(tx *store.Tx, k store.Key, turn int) error {
	raw, found, err := tx.TakePending(k, turn)
	if err != nil || !found {
		return err
	}
	var c carried
	if err := json.Unmarshal(raw, &c); err != nil {
		return errors.Join(store.ErrUnaccountable, err)
	}
	if err := tx.PutTold(k, store.Told{Instructions: c.Instructions, Tools: c.Tools}); err != nil {
		return err
	}
	talk, ok := k.SessionKey().Conversation()
	if !ok || c.Entry == nil {
		return nil
	}
	e := store.Entry{Agent: k.Agent, Generation: k.Generation, Turn: turn, Asked: c.Entry, Ended: c.End}
	number, _, err := tx.AddEntry(talk, e)
	if err == nil && c.End != nil {
		err = tx.EndEntry(talk, e)
	}
	if err != nil {
		return err
	}
	seen := c.UpTo
	if seen == number-1 {
		seen = number
	}
	return tx.PutParty(talk, store.Party{Agent: k.Agent, Generation: k.Generation, Seen: seen})
}

// putTurn records a turn, and what it carried if the provider is known to have its words.
func (r *Runner) putTurn(tx *store.Tx, s *session, row store.Turn) error {
	if row.Accepted == store.AcceptedYes {
		if err := took(tx, row.Key, row.Number); err != nil {
			return err
		}
		told, err := tx.Told(row.Key)
		if err != nil {
			return err
		}
		s.told, s.why = told, ""
	}
	return tx.PutTurn(row)
}

// endEntry records how a turn of a Conversation ended. One that is not known as accepted has no entry yet: its end waits with it.
func (r *Runner) endEntry(tx *store.Tx, k store.Key, turn int, end *Entry) error {
	talk, ok := k.SessionKey().Conversation()
	if !ok || end == nil {
		return nil
	}
	raw, err := r.encodeEntry(end)
	if err != nil {
		return err
	}
	waiting, found, err := tx.TakePending(k, turn)
	if err != nil {
		return err
	}
	if found {
		var c carried
		if err := json.Unmarshal(waiting, &c); err != nil {
			return errors.Join(store.ErrUnaccountable, err)
		}
		c.End = raw
		return c.record(tx, k, turn)
	}
	return tx.EndEntry(talk, store.Entry{Agent: k.Agent, Generation: k.Generation, Turn: turn, Ended: raw})
}

func (r *Runner) encodeEntry(e *Entry) (json.RawMessage, error) {
	raw, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return r.o.Secrets.EncodeJSON(raw)
}

// decodeEntry joins the two parts of a stored entry. A secret that this run does not have is hidden.
func (r *Runner) decodeEntry(s store.Entry) (Entry, error) {
	var e, end Entry
	err := errors.Join(r.decodePart(s.Asked, &e), r.decodePart(s.Ended, &end))
	e.Number, e.Agent = s.Number, s.Agent
	e.Parts, e.Outcome, e.Failure, e.Todo = end.Parts, end.Outcome, end.Failure, end.Todo
	e.Questions = append(e.Questions, end.Questions...)
	return e, err
}

func (r *Runner) decodePart(stored json.RawMessage, into *Entry) error {
	if stored == nil {
		return nil
	}
	raw, err := r.reveal(stored)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		return errors.Join(store.ErrUnaccountable, err)
	}
	return nil
}

// entryPage is how many entries are read at once.
const entryPage = 32

// entries reads the entries of a Conversation that x chooses, newest first. failed has the first error, which ends it.
func (r *Runner) entries(ctx context.Context, c store.ConversationKey, x store.EntryRange, failed *error) iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		for {
			var page []store.Entry
			err := r.o.Store.View(ctx, func(tx *store.Tx) (err error) {
				page, err = tx.Entries(c, x, entryPage, false)
				return err
			})
			for _, one := range page {
				var e Entry
				if err == nil {
					e, err = r.decodeEntry(one)
				}
				if err == nil && !yield(e) {
					return
				}
				x.Before = one.Number
			}
			if err != nil {
				*failed = err
			}
			if err != nil || len(page) < entryPage {
				return
			}
		}
	}
}

// Bounds of what is kept of a turn in the log.
const (
	maxEntryText   = MaxAdopted
	maxEntryResult = 64 << 10
)

// minutes gathers what an agent does in a turn of a Conversation, in the order in which it came. The nil one gathers nothing. Safe for
// concurrent use.
type minutes struct {
	mu      sync.Mutex
	root    string
	parts   []Part
	text    int // bytes of text so far
	actions map[string]*Action
	todo    []TodoItem
	asked   []Asked
}

// said adds a piece of the answer.
func (m *minutes) said(text string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.text+len(text) > maxEntryText {
		return
	}
	m.text += len(text)
	if n := len(m.parts); n > 0 && m.parts[n-1].Action == nil {
		m.parts[n-1].Text += text
		return
	}
	m.parts = append(m.parts, Part{Text: text})
}

// did adds an action where it began, or what became known of it since, however late that is.
func (m *minutes) did(call event.Tool) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.actions[call.ID]
	if a == nil {
		a = &Action{}
		if m.actions == nil {
			m.actions = map[string]*Action{}
		}
		m.actions[call.ID] = a
		m.parts = append(m.parts, Part{Action: a})
	}
	a.Name, a.Subject, a.Outcome = call.Name, call.Subject, call.Outcome
	if a.Outcome == "unknown" {
		a.Outcome = "" // no end was seen
	}
	a.Result = call.Output[:min(len(call.Output), maxEntryResult)]
	a.Files = nil
	diffs, _ := call.Diffs.([]Diff)
	for _, d := range diffs {
		a.Files = append(a.Files, m.relative(d.Path))
	}
}

// list keeps the agent's own list as it was last told.
func (m *minutes) list(items []TodoItem) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.todo = append([]TodoItem{}, items...)
}

// question adds a question that the agent had put to the person.
func (m *minutes) question(q Asked) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, q)
}

// relative is a path as it is shown to somebody who works in the same folder.
func (m *minutes) relative(path string) string {
	if rel, err := filepath.Rel(m.root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// entry is the end of the turn's entry.
func (m *minutes) entry(body *event.Ended) *Entry {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := &Entry{Parts: m.parts, Outcome: body.Outcome, Todo: m.todo, Questions: m.asked}
	if body.Error != nil {
		e.Failure = body.Error.Message
	}
	return e
}
