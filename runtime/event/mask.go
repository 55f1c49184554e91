package event

import (
	"bytes"
	"encoding/json"
	"reflect"

	"xmd/runtime/secret"
)

// mask hides secrets in what is shown. A piece of text may end within one, so its end waits until it is sure to be none, or until the
// text has come to its end.
type mask struct {
	secrets *secret.Set
	texts   map[maskKey]*secret.Masker
}

// maskKey tells one text from another.
type maskKey struct {
	kind   Type
	at     At
	stream string
}

func newMask(secrets *secret.Set) *mask { return &mask{secrets, map[maskKey]*secret.Masker{}} }

// idle says whether there is nothing to be hidden.
func (m *mask) idle() bool { return m.secrets.Empty() && len(m.texts) == 0 }

// masked is what is shown of an event: first what was held back of texts that end with it.
func (m *mask) masked(e *Event) []*Event {
	if d, ok := e.Body.(*Delta); ok {
		return m.piece(e, d)
	}
	list := m.end(e, func(key maskKey) bool { return ends(e, key) })
	shown := *e
	shown.Body = m.body(e.Body)
	return append(list, &shown)
}

// end is what was held back of texts that have come to their end by e.
func (m *mask) end(e *Event, which func(maskKey) bool) []*Event {
	var list []*Event
	for key, masker := range m.texts {
		if !which(key) {
			continue
		}
		delete(m.texts, key)
		if rest := masker.Flush(); rest != "" {
			body := &Delta{Text: rest, Stream: key.stream}
			list = append(list, &Event{Time: e.Time, Run: e.Run, Type: key.kind, At: key.at, Body: body, Replayed: e.Replayed})
		}
	}
	return list
}

// ends says whether a text has come to its end with an event.
func ends(e *Event, key maskKey) bool {
	switch e.Type {
	case RunEnded:
		return true
	case PromptEnded, StepEnded:
		return key.kind != Text && key.at.Step == e.At.Step
	}
	return false
}

func (m *mask) piece(e *Event, d *Delta) []*Event {
	key := maskKey{e.Type, e.At, d.Stream}
	masker := m.texts[key]
	if masker == nil {
		masker = m.secrets.Masker()
		m.texts[key] = masker
	}
	text := masker.Write(d.Text)
	if text == "" {
		return nil
	}
	shown := *e
	shown.Body = &Delta{Text: text, Stream: d.Stream}
	return []*Event{&shown}
}

// body is a body of the same type without secrets.
func (m *mask) body(body any) any {
	if body == nil {
		return nil
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return body
	}
	hidden, err := m.secrets.MaskJSON(raw)
	if err != nil || bytes.Equal(hidden, raw) {
		return body
	}
	copied := reflect.New(reflect.TypeOf(body).Elem())
	dec := json.NewDecoder(bytes.NewReader(hidden))
	dec.UseNumber()
	if dec.Decode(copied.Interface()) != nil {
		return nil // rather nothing than a secret
	}
	return copied.Interface()
}
