package agenttest

import (
	"strings"
	"testing"
)

// damaged loads a conversation of which the provider's file was damaged by accident: by a disk that was full, by another program. The load
// fails, or the history shows what is left, and then the model knows no less than the history shows.
func damaged(t *testing.T, target Target) {
	doubt(t, target, colDamaged)
	if target.Store.File == nil {
		NotRun(t, "the target has no file for a conversation")
	}
	for _, c := range []struct {
		name   string
		damage func(data []byte) []byte
	}{
		{"its end is cut off", func(data []byte) []byte { return data[:len(data)-20] }},
		{"overwritten", func([]byte) []byte { return []byte("\x00\x7frubbish\n{\"and\": \"more") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim(t, target, colDamaged)
			p := newPlace(t, target)
			id := p.told(t)
			file := target.Store.File(p.Place, id)
			write(t, file, c.damage(read(t, file)))
			p.left(t, id)
		})
	}
}

// left loads what is left of a conversation.
func (p *place) left(t testing.TB, id string) {
	t.Helper()
	s := p.target.Script
	l := p.start(t)
	ctx, stop := limit(t)
	defer stop()
	o, err := l.Open(ctx, id)
	switch {
	case err != nil:
		t.Logf("the load fails: %v", err)
	case !o.History.Known:
		t.Errorf("it loads, and nothing is known of its history: %+v", o)
	case o.History.UserTurns == 0:
		t.Log("it loads, and is seen to be empty")
	default:
		if h := l.good(s.Ask); !strings.Contains(h.answer(), s.Knows) {
			t.Errorf("the history shows %d turns, and the model answers %q", o.History.UserTurns, h.answer())
		}
	}
}
