package secret

import "strings"

// Masker masks one stream of text that comes in pieces, however secrets are split over them. It is used by one goroutine at a time.
// The zero Masker masks nothing.
type Masker struct{ s pieces }

// Masker begins a stream that is shown. Secrets that are added later are hidden from the next piece on.
func (s *Set) Masker() *Masker { return &Masker{s: pieces{set: s}} }

// Write takes the next piece and returns what may be shown by now. What is held back may be the beginning of a secret or of a
// reference: always less than the longest of them. Of a stream in whole characters what is shown is so too.
func (k *Masker) Write(piece string) string { return k.s.write(piece) }

// Flush ends the stream: it returns what was held back. Another stream may follow.
func (k *Masker) Flush() string { return k.s.flush() }

// Encoder is Masker for a stream that is recorded: all that it returns, joined, is what Encode makes of the whole. It is used by one
// goroutine at a time. The zero Encoder only escapes.
type Encoder struct{ s pieces }

// Encoder begins a stream that is recorded. Secrets that are added later are hidden from the next piece on.
func (s *Set) Encoder() *Encoder { return &Encoder{s: pieces{set: s, encode: true}} }

// Write takes the next piece and returns what may be recorded by now; never a part of a reference. See Masker.Write.
func (k *Encoder) Write(piece string) string { return k.s.write(piece) }

// Flush ends the stream: it returns what was held back. Another stream may follow.
func (k *Encoder) Flush() string { return k.s.flush() }

// pieces is a stream of text with something else in the place of each word.
type pieces struct {
	set    *Set
	words  *words   // that are looked for
	m      *matcher // of them; nil: there are none
	encode bool     // references, and all else is escaped; else marks
	state  int32
	held   []byte // the text of the state
}

func (p *pieces) write(piece string) string {
	if w := p.set.words(); w != p.words { // what is not decided yet is looked at anew
		piece = string(p.held) + piece
		p.state, p.held = 0, p.held[:0]
		p.words, p.m = w, w.shown
		if p.encode {
			p.m = w.found
		}
	}
	if p.m == nil {
		return p.plain(piece)
	}
	var b strings.Builder
	from := 0
	state, at := p.m.feed(p.state, len(p.held), piece, func(start, end, word int) {
		p.copy(&b, piece, from, start)
		p.put(&b, word)
		from = end
	})
	p.state = state
	if from == 0 && len(p.held) == 0 {
		p.held = append(p.held, piece[at:]...)
		return p.plain(piece[:at])
	}
	p.copy(&b, piece, from, at)
	if at < len(p.held) {
		p.held = append(p.held[at:], piece...)
	} else {
		p.held = append(p.held[:0], piece[at-len(p.held):]...)
	}
	return b.String()
}

func (p *pieces) flush() string {
	if p.state == 0 {
		return ""
	}
	var b strings.Builder
	from := 0
	p.m.drain(p.state, 0, func(start, end, word int) {
		p.copy(&b, "", from, start)
		p.put(&b, word)
		from = end
	})
	p.copy(&b, "", from, len(p.held))
	p.state, p.held = 0, p.held[:0]
	return b.String()
}

// plain is text without words.
func (p *pieces) plain(text string) string {
	if p.encode {
		return escape(text)
	}
	return text
}

// put writes what stands in the place of a word.
func (p *pieces) put(b *strings.Builder, word int) {
	if p.encode {
		b.WriteString(p.words.recorded(word))
	} else {
		b.WriteString(Mark)
	}
}

// copy writes a part, without words, of what is held and the piece behind it.
func (p *pieces) copy(b *strings.Builder, piece string, from, to int) {
	n := len(p.held)
	if from < n {
		b.WriteString(p.plain(string(p.held[from:min(to, n)])))
	}
	if to > n {
		b.WriteString(p.plain(piece[max(from-n, 0) : to-n]))
	}
}
