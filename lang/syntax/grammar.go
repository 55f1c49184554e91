package syntax

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"xmd/lang/scan"
)

// tagTree is what stands in one opening tag, between its name and its end, as the grammar sees it. The grammar accepts any run of a
// tag's tokens, so that it never fails and what is wrong can be said in our words.
type tagTree struct {
	Items []tagItem `parser:"@@*"`
}

// tagItem is an attribute, or something that is none. Its tokens alone are kept: captures cost more than all the rest.
type tagItem struct {
	Tokens []lexer.Token `parser:"Name Eq? Value? | Eq | Value | Bad"`
}

// tagParser is built on first use, because building works with reflection. It keeps no state between parses.
var tagParser = sync.OnceValue(func() *participle.Parser[tagTree] {
	return participle.MustBuild[tagTree](participle.Lexer(scan.TagDefinition{}), participle.UseLookahead(1))
})

// Grammar returns the grammar of an opening tag in EBNF, for specs/language.md.
func Grammar() string { return tagParser().String() }

// tagLexer feeds tags to the grammar, one after the other, from one PeekingLexer: making one for each tag would cost as much as
// parsing it. Range hands out the lexer's own tokens, so they can be set anew, and its checkpoint set back.
type tagLexer struct {
	peek  *lexer.PeekingLexer
	room  []lexer.Token
	items []tagItem
}

// filler makes n tokens, so that a PeekingLexer has room for as many.
type filler struct{ n int }

func (f *filler) Next() (lexer.Token, error) {
	if f.n--; f.n < 0 {
		return lexer.EOFToken(lexer.Position{}), nil
	}
	return lexer.Token{Type: scan.BadType}, nil
}

// load sets the tokens of one tag: blanks, its name and its end are left out.
func (l *tagLexer) load(src string, tokens []scan.Token) {
	if len(tokens) >= len(l.room) {
		size := max(64, 2*len(tokens))
		l.peek, _ = lexer.Upgrade(&filler{size}) // a filler returns no errors
		l.room = l.peek.Range(0, lexer.RawCursor(size+1))
	}
	n := 0
	for _, t := range tokens {
		switch t.Kind {
		case scan.Space, scan.TagOpen, scan.TagEnd, scan.SelfEnd:
			continue
		}
		tok := &l.room[n]
		tok.Type, tok.Value, tok.Pos.Offset = scan.TagType(t.Kind), src[t.Start:t.End], t.Start
		n++
	}
	l.room[n] = lexer.EOFToken(lexer.Position{})
	l.peek.LoadCheckpoint(lexer.Checkpoint{})
}

// parseTag parses the tokens of one opening tag. The result is valid until the next call.
func (b *builder) parseTag(tokens []scan.Token) []tagItem {
	if len(tokens) <= 2 { // a name and perhaps an end: nothing to parse
		return nil
	}
	b.lex.load(b.src.Text, tokens)
	if items, ok := b.lex.wellFormed(); ok {
		return items
	}
	return b.lex.grammar()
}

// grammar parses the tag that was loaded.
func (l *tagLexer) grammar() []tagItem {
	tree, err := tagParser().ParseFromLexer(l.peek)
	if err != nil {
		panic("the grammar refuses a tag: " + err.Error())
	}
	return tree.Items
}

// wellFormed takes the loaded tag apart as the grammar does, if it has nothing but attributes as they should be. Nearly all tags are so, and
// through the grammar they would take four times as long as scanning, tree and layout together.
func (l *tagLexer) wellFormed() ([]tagItem, bool) {
	l.items = l.items[:0]
	for at := 0; l.room[at].Type != lexer.EOF; {
		if l.room[at].Type != scan.NameType {
			return nil, false
		}
		n := 1
		if l.room[at+1].Type == scan.EqType && l.room[at+2].Type == scan.ValueType {
			n = 3
		}
		l.items = append(l.items, tagItem{l.room[at : at+n : at+n]})
		at += n
	}
	return l.items, true
}
