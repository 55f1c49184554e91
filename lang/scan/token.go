package scan

import (
	"io"

	"github.com/alecthomas/participle/v2/lexer"

	"xmd/lang/diag"
)

// Kind is the kind of a token. Every byte of the source belongs to exactly one token.
type Kind uint8

const (
	EOF        Kind = iota
	Text            // author text, line ends included
	Escape          // backslashes before something they keep from acting; half of them, rounded down, are text
	CodeSpan        // `…`, delimiters included
	Fence           // an inert fence, from its first delimiter to the end of its closing line, without that line's end
	Comment         // <!-- … -->
	Author          // {/* … */}
	Interp          // {path}
	FenceOpen       // the opening line of an exec or filled fence, without line end
	FenceBody       // what follows to the closing line, line ends included
	FenceClose      // the closing line's delimiter and blanks
	Prolog          // byte order mark, #! line, blank lines after the frontmatter
	Front           // the frontmatter, both --- lines included
	CloseTag        // </Name>
	TagOpen         // <Name
	Space           // blanks inside a tag, and quote markers of its continuation lines
	Name            // an attribute's name
	Eq              // =
	String          // "…" or '…', quotes included
	Expr            // {…}, braces included
	Bare            // a value without quotes
	Bad             // what cannot stand in a tag
	TagEnd          // >
	SelfEnd         // />
	kinds           // how many there are
)

var kindNames = [kinds]string{"EOF", "Text", "Escape", "CodeSpan", "Fence", "Comment", "Author", "Interp", "FenceOpen", "FenceBody", "FenceClose",
	"Prolog", "Front", "CloseTag", "TagOpen", "Space", "Name", "Eq", "String", "Expr", "Bare", "Bad", "TagEnd", "SelfEnd"}

// String returns the kind's name as grammars spell it.
func (k Kind) String() string { return kindNames[k] }

// Token is a piece of the source.
type Token struct {
	Kind       Kind
	Quotes     uint16 // TagOpen, CloseTag, Author, FenceOpen: the block quotes it stands in
	Indent     int32  // FenceOpen: columns of its indentation, behind the quote markers
	Start, End int    // byte offsets
}

// Span returns the token's place.
func (t Token) Span() diag.Span { return diag.Span{Start: t.Start, End: t.End} }

// tokenType is participle's number for a kind: it wants negative ones, -1 being the end of the input.
func (k Kind) tokenType() lexer.TokenType { return lexer.TokenType(-1 - int(k)) }

// symbols is made by a function so that no order of package variables matters to a grammar that is built in one.
func symbols() map[string]lexer.TokenType {
	m := make(map[string]lexer.TokenType, kinds)
	for k := EOF; k < kinds; k++ {
		m[k.String()] = k.tokenType()
	}
	return m
}

// Definition is the scanner as participle's grammars know it. The zero value is ready. The lexers it makes never return an error;
// their diagnostics are lost, which is why syntax drives a Scanner itself.
type Definition struct{}

// Symbols maps the names of the kinds to participle's token types.
func (Definition) Symbols() map[string]lexer.TokenType { return symbols() }

// Lex returns a lexer of the whole of r; only reading r can fail.
func (d Definition) Lex(filename string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return d.LexString(filename, string(text))
}

// LexString returns a lexer of text. The error is always nil.
func (Definition) LexString(filename, text string) (lexer.Lexer, error) {
	return &lexed{file: filename, scan: New(text)}, nil
}

// lexed hands out a Scanner's tokens with line and column, which it counts as it goes.
type lexed struct {
	file string
	scan *Scanner
	pos  lexer.Position
}

func (l *lexed) Next() (lexer.Token, error) {
	t := l.scan.Next()
	if l.pos.Line == 0 {
		l.pos = lexer.Position{Filename: l.file, Line: 1, Column: 1}
	}
	tok := lexer.Token{Type: t.Kind.tokenType(), Value: l.scan.src[t.Start:t.End], Pos: l.pos}
	l.pos.Advance(tok.Value)
	return tok, nil
}

// TagDefinition is the inside of an opening tag as its grammar knows it. A value is a Value however it is written: fewer kinds make
// fewer branches, and those are what a parse costs.
type TagDefinition struct{ Definition }

// Token types of TagDefinition.
var (
	NameType  = Name.tokenType()
	EqType    = Eq.tokenType()
	ValueType = String.tokenType()
	BadType   = Bad.tokenType()
)

// Symbols maps the names that the grammar of a tag uses.
func (TagDefinition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{"EOF": lexer.EOF, "Name": NameType, "Eq": EqType, "Value": ValueType, "Bad": BadType}
}

// TagType returns the token type of a kind in TagDefinition.
func TagType(k Kind) lexer.TokenType {
	if k == Expr || k == Bare {
		k = String
	}
	return k.tokenType()
}
