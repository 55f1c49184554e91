package expr

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser/lexer"

	"xmd/lang/diag"
)

// Bounds of one expression: what is deeper or longer is an error, so that no input can exhaust the stack.
const (
	maxDepth  = 200
	maxTokens = 20_000
)

// source is an expression's text with the way from its characters to the document.
type source struct {
	text  string
	at    func(i int) int // byte of text → byte of the document
	bytes []int           // rune → byte of text; nil if they are the same
}

func newSource(text string, at func(int) int) *source {
	s := &source{text: text, at: at}
	for i := 0; i < len(text); i++ {
		if text[i] >= utf8.RuneSelf {
			s.countRunes()
			break
		}
	}
	return s
}

func (s *source) countRunes() {
	s.bytes = make([]int, 0, len(s.text)+1)
	for i := range s.text {
		s.bytes = append(s.bytes, i)
	}
	s.bytes = append(s.bytes, len(s.text))
}

// byteAt turns a rune index of expr-lang, which may lie outside, into a byte index of the text.
func (s *source) byteAt(r int) int {
	if s.bytes == nil {
		return min(max(r, 0), len(s.text))
	}
	return s.bytes[min(max(r, 0), len(s.bytes)-1)]
}

// span gives the document's span for bytes from..to of the text.
func (s *source) span(from, to int) diag.Span {
	start := s.at(from)
	if to <= from {
		return diag.Span{Start: start, End: start}
	}
	// The end goes with the last byte, since what stands behind it may be far away in the document.
	return diag.Span{Start: start, End: s.at(to-1) + 1}
}

func (s *source) location(l file.Location) diag.Span { return s.span(s.byteAt(l.From), s.byteAt(l.To)) }

// raw is the text of a token as it was written.
func (s *source) raw(t lexer.Token) string { return s.text[s.byteAt(t.From):s.byteAt(t.To)] }

// lex reads all tokens, the last being EOF with an empty span. The tokens before an error come with it.
func lex(s *source) ([]lexer.Token, *Error) {
	l := lexer.New()
	l.Reset(file.NewSource(s.text))
	list := make([]lexer.Token, 0, min(len(s.text)/3+2, maxTokens))
	for {
		t, err := l.Next()
		var bad *file.Error
		switch {
		case errors.Is(err, io.EOF):
			return list, nil
		case errors.As(err, &bad):
			return list, lexError(s, list, bad)
		}
		if t.Kind == lexer.EOF {
			t.From = t.To
		}
		if list = append(list, t); len(list) > maxTokens {
			return list, errorAt(s.location(t.Location), CodeSyntax, "the expression is too long",
				"put the data into a file and read it")
		}
	}
}

// lexError says in our words what expr-lang's lexer did not take.
func lexError(s *source, before []lexer.Token, bad *file.Error) *Error {
	start := 0
	if n := len(before); n > 0 {
		start = s.byteAt(before[n-1].To)
	}
	start += len(s.text[start:]) - len(strings.TrimLeft(s.text[start:], " \t\r\n"))
	end := max(s.byteAt(bad.To), min(start+1, len(s.text)))
	span := s.span(start, end)
	switch msg := bad.Message; {
	case strings.HasPrefix(msg, "literal not terminated"):
		return errorAt(s.span(start, min(start+1, len(s.text))), CodeSyntax, "the string is not closed",
			"close it on the same line; a line break in it is written \\n")
	case strings.HasPrefix(msg, "unclosed comment"):
		return errorAt(span, CodeRefused, "comments are not part of expressions", "write {/* … */} outside the tag")
	case strings.HasPrefix(msg, "unrecognized character"):
		return errorAt(s.location(bad.Location), CodeSyntax, "unexpected "+quoted(s, bad), "")
	case strings.HasPrefix(msg, "bad number syntax"):
		for end < len(s.text) && (isNameStart(s.text[end]) || isDigit(s.text[end])) {
			end++
		}
		return errorAt(s.span(start, end), CodeSyntax, s.text[start:end]+" is neither a number nor a name", "")
	}
	return errorAt(s.location(bad.Location), CodeSyntax, "the string has an escape that is not known",
		`known are \" \' \\ \n \r \t \uXXXX`)
}

func quoted(s *source, bad *file.Error) string {
	return strconv.Quote(s.text[s.byteAt(bad.From):s.byteAt(bad.To)])
}
