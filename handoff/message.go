package handoff

import "unicode/utf8"

// kept is what stays of one text of a message: all of it, or its beginning and its end with what is left out between.
type kept struct {
	head, tail string
	left       int  // characters that are left out between the two, counted at the text in which the first part ends
	cut        bool // head is not all of the text
}

// halves fits the texts of one message into its bound. Each takes of besides its own lines. Where they are too long, the middle is left
// out, which may be whole texts; these are kept empty.
func halves(texts []string, of int) []kept {
	out := make([]kept, len(texts))
	if whole(texts, of) {
		for i, text := range texts {
			out[i].head = text
		}
		return out
	}
	room := (maxMessage - ofLeftOut) / 2
	first, to := forward(texts, of, room)
	last, from := backward(texts, of, room)
	left := 0
	for i := first; i <= last; i++ {
		begin, end := 0, len(texts[i])
		if i == first {
			begin = to
		}
		if i == last {
			end = from
		}
		left += utf8.RuneCountInString(texts[i][begin:end])
	}
	for i, text := range texts {
		switch {
		case i < first || i > last:
			out[i].head = text
		default:
			out[i].cut = true
		}
	}
	out[first].head, out[first].left = texts[first][:to], left
	out[last].tail = texts[last][from:]
	return out
}

func whole(texts []string, of int) bool {
	room := maxMessage
	for _, text := range texts {
		room -= of + ofLine
		if room < 0 || !fits(text, room) {
			return false
		}
		room -= cost(text, 0, len(text))
	}
	return true
}

// forward is how far room reaches from the first text on: into which, and to which place in it.
func forward(texts []string, of, room int) (text, to int) {
	for i, t := range texts {
		room -= of + ofLine
		if room <= 0 {
			return i, 0
		}
		if !fits(t, room) {
			return i, beginning(t, room)
		}
		room -= cost(t, 0, len(t))
	}
	return len(texts) - 1, len(texts[len(texts)-1])
}

// backward is how far room reaches from the last text back.
func backward(texts []string, of, room int) (text, from int) {
	for i := len(texts) - 1; i >= 0; i-- {
		t := texts[i]
		room -= of + ofLine
		if room <= 0 {
			return i, len(t)
		}
		if !fits(t, room) {
			return i, ending(t, room)
		}
		room -= cost(t, 0, len(t))
	}
	return 0, 0
}
