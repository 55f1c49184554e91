package syntax

import (
	"strings"
	"unicode/utf8"

	"xmd/lang/diag"
	"xmd/lang/scan"
)

// MaxDepth is how deep elements may be nested.
const MaxDepth = 200

// MaxErrors is how many diagnostics of one text are kept; one more says that there were others.
const MaxErrors = 1000

// Parse builds the tree of a text, before layout. It never fails: what is wrong is in the list, sorted by place, and the tree is
// complete as far as it could be understood. The document is never nil.
func Parse(src *diag.Source) (*Document, diag.List) {
	b := &builder{src: src, doc: &Document{Source: src}, opened: map[string]int{}, forced: map[string]int{}}
	b.frames = append(b.frames, frame{})
	b.checkUTF8()
	s := scan.New(src.Text)
	for t := s.Next(); t.Kind != scan.EOF; {
		t = b.token(s, t)
	}
	b.end(s.Open())
	b.doc.Body = b.frames[0].nodes
	list := append(b.diags, s.Diagnostics()...)
	list.Sort()
	b.doc.Incomplete = incomplete(list, s.Open())
	if len(list) > MaxErrors {
		list = list[:MaxErrors:MaxErrors]
		list.Add(diag.CodeTooManyErrors, list[MaxErrors-1].Span, "more is wrong than is listed here", "mend the first ones and check again")
	}
	return b.doc, list
}

// incomplete tells whether all errors are something left open at the end. What is reported behind the first comment, brace or
// string without its end may be inside it, so it does not count.
func incomplete(list diag.List, open []scan.Open) bool {
	limit := int(^uint(0) >> 1)
	for _, o := range open {
		limit = min(limit, o.Span.Start)
	}
	unclosed := false
	for _, d := range list {
		switch {
		case d.Span.Start >= limit || d.Severity != diag.Error:
		case d.Code != diag.CodeUnclosed || len(d.Related) > 0 && !strings.Contains(d.Related[0].Summary, "runs to the end"):
			return false
		default:
			unclosed = true
		}
	}
	return unclosed || len(open) > 0
}

// frame is an open element, or the document.
type frame struct {
	el       *Element
	nodes    []Node
	broken   bool        // its opening tag has no end: that was reported, a missing closing tag is not
	mismatch *scan.Token // a closing tag inside that names nothing that is open
}

// builder makes a tree of tokens.
type builder struct {
	src    *diag.Source
	doc    *Document
	diags  diag.List
	lex    tagLexer
	tokens []scan.Token // of the current tag
	frames []frame      // the document first
	opened map[string]int
	forced map[string]int // names of elements that a closing tag of an outer one closed
	deep   bool           // nesting too deep was reported
	texts  []Text         // room for text nodes: one allocation for many
}

// top is the frame that takes nodes: the innermost, as far as the tree goes.
func (b *builder) top() *frame { return &b.frames[min(len(b.frames)-1, MaxDepth)] }

// add appends a node to the innermost element.
func (b *builder) add(n Node) {
	f := b.top()
	f.nodes = append(f.nodes, n)
}

// token takes a token, and what belongs to it, and returns the next one.
func (b *builder) token(s *scan.Scanner, t scan.Token) scan.Token {
	switch t.Kind {
	case scan.TagOpen:
		return b.openTag(s, t)
	case scan.CloseTag:
		b.closeTag(t)
	case scan.FenceOpen:
		return b.activeFence(s, t)
	case scan.Front:
		b.front(t)
	case scan.Prolog:
	default:
		f := b.top()
		f.nodes = b.appendToken(f.nodes, t)
	}
	return s.Next()
}

// appendToken appends the node of a token that stands alone.
func (b *builder) appendToken(nodes []Node, t scan.Token) []Node {
	raw := b.src.Text[t.Start:t.End]
	switch t.Kind {
	case scan.Interp:
		return append(nodes, &Interp{Pos: t.Span(), Path: raw[1 : len(raw)-1]})
	case scan.Author:
		return append(nodes, &Comment{Pos: t.Span(), Quotes: int(t.Quotes)})
	case scan.Escape:
		if raw = raw[:len(raw)/2]; raw == "" {
			return nodes
		}
	}
	if len(b.texts) == cap(b.texts) {
		b.texts = make([]Text, 0, 64)
	}
	b.texts = append(b.texts, Text{Pos: t.Span(), Value: raw, Inert: t.Kind == scan.CodeSpan})
	text := &b.texts[len(b.texts)-1]
	if t.Kind == scan.Fence || t.Kind == scan.Comment {
		text.Inert, text.Block = true, true
	}
	return append(nodes, text)
}

// activeFence takes the tokens of an exec or filled fence.
func (b *builder) activeFence(s *scan.Scanner, open scan.Token) scan.Token {
	var body, end *scan.Token
	t := s.Next()
	if t.Kind == scan.FenceBody {
		kept := t
		body, t = &kept, s.Next()
	}
	if t.Kind == scan.FenceClose {
		kept := t
		end, t = &kept, s.Next()
	}
	b.add(b.fence(open, body, end))
	return t
}

// front keeps the raw frontmatter.
func (b *builder) front(t scan.Token) {
	raw := b.src.Text[t.Start:t.End]
	first := strings.IndexByte(raw, '\n') + 1
	last := first + strings.LastIndexByte(strings.TrimRight(raw[first:], " \t\r\n"), '\n') + 1
	b.doc.Front = &Front{Pos: t.Span(), YAML: raw[first:last], Off: t.Start + first}
}

// openTag takes the tokens of an opening tag and makes an element of them.
func (b *builder) openTag(s *scan.Scanner, open scan.Token) scan.Token {
	b.tokens = append(b.tokens[:0], open)
	t := s.Next()
	for t.Kind > scan.TagOpen {
		b.tokens = append(b.tokens, t)
		end := t
		t = s.Next()
		if end.Kind == scan.TagEnd || end.Kind == scan.SelfEnd {
			break
		}
	}
	last := b.tokens[len(b.tokens)-1]
	for last.Kind == scan.Space { // a tag that breaks off ends behind what was understood
		b.tokens = b.tokens[:len(b.tokens)-1]
		last = b.tokens[len(b.tokens)-1]
	}
	span := Span{Start: open.Start, End: last.End}
	ended := last.Kind == scan.TagEnd || last.Kind == scan.SelfEnd
	el := &Element{
		Pos: span, Open: span, Name: b.src.Text[open.Start+1 : open.End], NameSpan: Span{Start: open.Start + 1, End: open.End},
		Attrs: b.attrs(b.parseTag(b.tokens), int(open.Quotes), ended), Quotes: int(open.Quotes), CloseQuotes: int(open.Quotes),
	}
	el.Close = Span{Start: span.End, End: span.End}
	b.add(el)
	if last.Kind == scan.SelfEnd {
		el.SelfClosing = true
		return t
	}
	b.push(frame{el: el, broken: !ended})
	return t
}

// push opens an element.
func (b *builder) push(f frame) {
	if len(b.frames) > MaxDepth && !b.deep {
		b.deep = true
		b.diags.Add(diag.CodeTooDeep, f.el.Open, "elements are nested more than 200 deep", "put a part of the document into a component file")
	}
	b.frames = append(b.frames, f)
	b.opened[f.el.Name]++
}

// checkUTF8 reports the first byte that is not UTF-8.
func (b *builder) checkUTF8() {
	if utf8.ValidString(b.src.Text) {
		return
	}
	for i := 0; i < len(b.src.Text); {
		r, size := utf8.DecodeRuneInString(b.src.Text[i:])
		if r == utf8.RuneError && size == 1 {
			b.diags.Add(diag.CodeNotUTF8, Span{Start: i, End: i + 1}, "the text is not UTF-8", "save the file as UTF-8")
			return
		}
		i += size
	}
}
