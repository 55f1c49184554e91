package runtime

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// keepHalf is how much of each stream a block with as keeps of its beginning, and of its end.
const keepHalf = 8 << 20

// headTail keeps the first and the last 8 MiB of a stream.
type headTail struct {
	head []byte
	tail []byte
	cut  int64 // bytes that are gone from the front of tail
}

func (h *headTail) add(b []byte) {
	if room := keepHalf - len(h.head); room > 0 {
		n := min(room, len(b))
		h.head = append(h.head, b[:n]...)
		b = b[n:]
	}
	h.tail = append(h.tail, b...)
	if over := len(h.tail) - keepHalf; over > keepHalf { // trimmed in large pieces, so that adding stays linear
		h.cut += int64(over)
		h.tail = append(h.tail[:0], h.tail[over:]...)
	}
}

// lost is how many bytes String leaves out.
func (h *headTail) lost() int64 { return h.cut + int64(max(0, len(h.tail)-keepHalf)) }

func (h *headTail) last() []byte { return h.tail[max(0, len(h.tail)-keepHalf):] }

// String is what was kept, with a line that says what was cut. What is not UTF-8 is replaced.
func (h *headTail) String() string {
	if h.lost() == 0 {
		return strings.ToValidUTF8(string(h.head)+string(h.tail), "\uFFFD")
	}
	head, tail := strings.ToValidUTF8(string(h.head), ""), strings.ToValidUTF8(string(h.last()), "")
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", head, h.lost(), tail)
}

// bad says whether something that was kept is not UTF-8. Where it was cut, a character may be in pieces.
func (h *headTail) bad() bool {
	return h.lost() == 0 && !utf8.Valid(append(h.head[:len(h.head):len(h.head)], h.tail...))
}

// wholeRunes hands a stream of bytes on as text: a character that is not all there yet waits for its rest, what is no character is
// replaced.
type wholeRunes struct {
	held []byte
	bad  bool
}

func (w *wholeRunes) add(b []byte) string {
	if len(w.held) > 0 {
		b = append(w.held, b...)
	}
	cut := len(b)
	for i := 1; i <= min(utf8.UTFMax-1, len(b)); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				cut = len(b) - i
			}
			break
		}
	}
	text := w.valid(b[:cut])
	w.held = append([]byte(nil), b[cut:]...)
	return text
}

// rest is what still waits when the stream has ended.
func (w *wholeRunes) rest() string {
	text := w.valid(w.held)
	w.held = nil
	return text
}

func (w *wholeRunes) valid(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	w.bad = true
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
