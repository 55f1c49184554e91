package wire

// maxSkim bounds the names and values that a skim keeps.
const maxSkim = 256

// skim finds the id and method of a message that is too long to be kept, wherever
// they stand in it. It is fed the line piece by piece.
type skim struct {
	depth    int
	inString bool
	escaped  bool
	text     []byte // of the name or value being read at depth 1
	key      string // the member whose value is being read
	id       []byte
	method   string
}

func (s *skim) feed(b []byte) {
	for _, c := range b {
		if s.inString {
			s.inside(c)
			continue
		}
		switch c {
		case '"':
			s.inString = true
			s.keep(c)
		case '{', '[':
			s.depth++
		case ':':
			if s.depth == 1 {
				s.key, _ = String(s.text)
				s.text = s.text[:0]
			}
		case ',':
			s.value()
		case '}', ']':
			s.value()
			s.depth--
		case ' ', '\t', '\r':
		default:
			s.keep(c)
		}
	}
}

func (s *skim) inside(c byte) {
	s.keep(c)
	switch {
	case s.escaped:
		s.escaped = false
	case c == '\\':
		s.escaped = true
	case c == '"':
		s.inString = false
	}
}

func (s *skim) keep(c byte) {
	if s.depth == 1 && len(s.text) < maxSkim {
		s.text = append(s.text, c)
	}
}

// value ends a member of the message.
func (s *skim) value() {
	if s.depth != 1 {
		return
	}
	switch s.key {
	case "id":
		s.id = append([]byte(nil), s.text...)
	case "method":
		s.method, _ = String(s.text)
	}
	s.key, s.text = "", s.text[:0]
}
