package secret

import "slices"

// matcher finds words in text: from left to right, at each place the longest, none inside of another. It looks at each byte of the
// text once, however the words overlap. It is immutable.
//
// Its states are the beginnings of words, as a tree. The state is at all times exactly the text that is not decided yet. When no
// word goes on with the next byte, the state says what its text was (words and what lies between) as far as that is settled by now, and
// which shorter beginning is left of it. This is worked out beforehand, so nothing is read again.
type matcher struct {
	nodes []node     // the first is the root: nothing is undecided
	first [256]int32 // states after one byte; 0: no word begins with it
}

type node struct {
	child, sibling int32 // 0: none
	by             byte  // that leads here from the parent
	word           int32 // that ends here; -1: none

	// When no child fits the next byte:
	plain int32  // so many bytes are no word,
	parts []part // then come these,
	rest  int32  // and this state is left
}

// part is a piece of text that is settled.
type part struct{ size, word int32 } // word -1: no word

// newMatcher makes a matcher of words, none of which is empty. Of equal words the first counts.
func newMatcher(words []string) *matcher {
	size := 1
	for _, w := range words {
		size += len(w)
	}
	m := &matcher{nodes: make([]node, 1, size)}
	m.nodes[0].word = -1
	for i, w := range words {
		at := int32(0)
		for j := range len(w) {
			next := m.next(at, w[j])
			if next == 0 {
				next = m.grow(at, w[j])
			}
			at = next
		}
		if m.nodes[at].word < 0 {
			m.nodes[at].word = int32(i)
		}
	}
	m.settle()
	return m
}

// next is the state after one byte more; 0: there is none.
func (m *matcher) next(at int32, by byte) int32 {
	if at == 0 {
		return m.first[by]
	}
	at = m.nodes[at].child
	for at != 0 && m.nodes[at].by != by {
		at = m.nodes[at].sibling
	}
	return at
}

func (m *matcher) grow(at int32, by byte) int32 {
	made := int32(len(m.nodes))
	m.nodes = append(m.nodes, node{by: by, word: -1, sibling: m.nodes[at].child})
	m.nodes[at].child = made
	if at == 0 {
		m.first[by] = made
	}
	return made
}

// settle works out all states, shorter ones first.
func (m *matcher) settle() {
	type state struct{ at, parent, size int32 }
	queue := make([]state, 1, len(m.nodes))
	for i := 0; i < len(queue); i++ {
		s := queue[i]
		if s.at != 0 {
			m.settleOne(s.at, s.parent, s.size)
		}
		for c := m.nodes[s.at].child; c != 0; c = m.nodes[c].sibling {
			queue = append(queue, state{c, s.at, s.size + 1})
		}
	}
}

// settleOne works out one state of so many bytes: a word, or what its parent's text was, followed by one byte.
func (m *matcher) settleOne(at, parent, size int32) {
	n := &m.nodes[at]
	switch {
	case n.word >= 0:
		n.parts = []part{{size, n.word}}
		return
	case parent == 0:
		n.plain = 1
		return
	}
	p := &m.nodes[parent]
	n.plain, n.parts, n.rest = p.plain, p.parts, p.rest
	for {
		if next := m.next(n.rest, n.by); next != 0 {
			n.rest = next
			return
		}
		if n.rest == 0 {
			n.add(part{1, -1})
			return
		}
		left := &m.nodes[n.rest]
		if left.plain > 0 {
			n.add(part{left.plain, -1})
		}
		for _, p := range left.parts {
			n.add(p)
		}
		n.rest = left.rest
	}
}

// add appends a part. The list may be another state's too, so it is not changed in place.
func (n *node) add(p part) {
	last := len(n.parts) - 1
	switch {
	case last < 0 && p.word < 0:
		n.plain += p.size
	case last >= 0 && p.word < 0 && n.parts[last].word < 0:
		n.parts = slices.Clone(n.parts)
		n.parts[last].size += p.size
	default:
		n.parts = append(slices.Clip(n.parts), p)
	}
}

// each calls found for each word of text, in order.
func (m *matcher) each(text string, found func(start, end, word int)) {
	state, at := m.feed(0, 0, text, found)
	m.drain(state, at, found)
}

// feed goes on with text in a state whose own text is held bytes long. Places count from the first of these. It returns the new state
// and where its text begins.
func (m *matcher) feed(state int32, held int, text string, found func(start, end, word int)) (now int32, begins int) {
	at := 0
	for i := 0; i < len(text); {
		if state == 0 {
			for i < len(text) && m.first[text[i]] == 0 {
				i++
			}
			at = held + i
			if i == len(text) {
				break
			}
		}
		next := m.next(state, text[i])
		if next != 0 {
			state = next
			i++
			if n := &m.nodes[state]; n.child != 0 || n.word < 0 {
				continue
			} // else no word is longer: it is settled at once
		}
		at = m.pass(state, at, found)
		state = m.nodes[state].rest
	}
	if state == 0 {
		at = held + len(text)
	}
	return state, at
}

// pass tells of what is settled when nothing fits a state, and returns where the text of the rest begins.
func (m *matcher) pass(state int32, at int, found func(start, end, word int)) int {
	n := &m.nodes[state]
	at += int(n.plain)
	for _, p := range n.parts {
		if p.word >= 0 {
			found(at, at+int(p.size), int(p.word))
		}
		at += int(p.size)
	}
	return at
}

// drain tells of the words in a state's text, which begins at a place, when no text follows.
func (m *matcher) drain(state int32, at int, found func(start, end, word int)) {
	for state != 0 {
		at = m.pass(state, at, found)
		state = m.nodes[state].rest
	}
}
