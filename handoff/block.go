package handoff

import (
	"slices"

	"xmd/runtime"
)

// Writer implements runtime.Handoff. The zero Writer is ready; it is safe for concurrent use.
type Writer struct{}

var _ runtime.Handoff = Writer{}

// Block renders h. Without entries there is nothing to hand over, and the block is empty. Time and memory are bounded by what the block
// can hold, and by the longest text that is looked at; only what Handover says is read further.
func (Writer) Block(h runtime.Handover) runtime.Handed {
	b := builder{h: h, room: maxBlock - ofLeftOut*2}
	now := redactor{hide: h.Hide}
	standing := standingOf(h.Now, &now)
	b.secrets = now.found
	b.room -= len(opening) + len(frame) + len(says(h.Reason)) + len(closing) + 4 + standing.size
	b.collect()
	if b.newest == 0 {
		return runtime.Handed{}
	}
	first := b.choose()
	return runtime.Handed{Text: b.text(first, standing), LeftOut: b.count - len(b.turns), Secrets: b.secrets, UpTo: b.newest}
}

// builder chooses what is in one block.
type builder struct {
	h       runtime.Handover
	room    int
	turns   []turn // newest first
	count   int    // of all there are
	newest  int
	oldest  runtime.Entry // if all were read
	all     bool          // all fit
	secrets int
}

type turn struct {
	number  int
	sheet   *sheet
	secrets int
}

// collect takes turns as long as there is room, and reads on only for what it must know.
func (b *builder) collect() {
	if b.h.Entries == nil {
		return
	}
	full, read := false, 0
	for e := range b.h.Entries {
		read++
		b.oldest = e
		if read == 1 {
			b.newest = e.Number
		}
		if !full {
			full = !b.take(e)
		}
		if full && b.h.Count > 0 && b.h.First != nil {
			break
		}
	}
	b.all = !full
	b.count = max(read, b.h.Count)
}

func (b *builder) take(e runtime.Entry) bool {
	p := pageOf(e, redactor{hide: b.h.Hide})
	s := p.sheet()
	if s.size > b.room {
		return false
	}
	b.room -= s.size
	b.turns = append(b.turns, turn{e.Number, s, p.found})
	return true
}

// choose makes room for the first request if not all turns are kept, and writes it; nil if there is no need.
func (b *builder) choose() *sheet {
	var request *sheet
	if !b.all {
		first := b.oldest
		if b.h.First != nil {
			first = *b.h.First
		}
		p := requestOf(first, redactor{hide: b.h.Hide})
		for p.begin.size+p.end.size > b.room {
			last := len(b.turns) - 1
			b.room += b.turns[last].sheet.size
			b.turns = b.turns[:last]
		}
		request = p.sheet()
		b.secrets += p.found
	}
	for _, t := range b.turns {
		b.secrets += t.secrets
	}
	return request
}

// text puts the block together.
func (b *builder) text(first, standing *sheet) string {
	var s sheet
	s.line(opening)
	s.b.WriteString(frame)
	if why := says(b.h.Reason); why != "" {
		s.line(why)
	}
	if b.secrets > 0 {
		s.linef(leftSecrets, b.secrets)
	}
	if first != nil {
		s.add(first)
	}
	if left := b.count - len(b.turns); left > 0 {
		s.line("")
		s.linef(leftTurns, left)
	}
	for _, t := range slices.Backward(b.turns) {
		s.add(t.sheet)
	}
	s.add(standing)
	return s.b.String() + closing
}

func says(reason runtime.Reason) string {
	for _, w := range why {
		if w.reason == reason {
			return w.says
		}
	}
	return ""
}
