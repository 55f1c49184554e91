package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"xmd/lang/diag"
	"xmd/lang/scan"
)

// spanOf returns the place of a grammar's token.
func spanOf(t lexer.Token) Span {
	return Span{Start: t.Pos.Offset, End: t.Pos.Offset + len(t.Value)}
}

// attrs checks the items of a tag and returns its attributes, also those that are reported: what follows should not speak of them again.
// ended tells whether the tag has its end.
func (b *builder) attrs(items []tagItem, quotes int, ended bool) []*Attr {
	if len(items) == 0 {
		return nil
	}
	store := make([]Attr, 0, len(items))
	for i, it := range items {
		if it.Tokens[0].Type != scan.NameType {
			b.stray(it.Tokens[0])
			continue
		}
		last := i == len(items)-1 || isOpener(items[i+1].Tokens[0])
		store = append(store, b.attr(it.Tokens, quotes, last && !ended))
	}
	out := make([]*Attr, len(store))
	for i := range store {
		out[i] = &store[i]
	}
	b.repeated(out)
	return out
}

// isOpener tells whether a token is a string or brace whose end is missing: the scanner has said so.
func isOpener(t lexer.Token) bool {
	return t.Type == scan.BadType && strings.IndexByte(`"'{`, t.Value[0]) >= 0
}

// attr makes an attribute of a name, perhaps = and perhaps a value. What breaks off at the end of a broken tag has been reported.
func (b *builder) attr(tokens []lexer.Token, quotes int, broken bool) Attr {
	name := tokens[0].Value
	a := Attr{Pos: spanOf(tokens[0]), Name: name, NameSpan: spanOf(tokens[0])}
	last := tokens[len(tokens)-1]
	a.Pos.End = spanOf(last).End
	if last.Type != scan.ValueType {
		if last.Type == scan.EqType && !broken {
			b.diags.Add(diag.CodeNoValue, a.Pos, name+"= has no value", "write "+name+`="text" or `+name+"={expression}")
		}
		return a
	}
	raw, v := last.Value, spanOf(last)
	a.ValueSpan = Span{Start: v.Start + 1, End: v.End - 1}
	switch raw[0] {
	case '"', '\'':
		a.Kind, a.Value = AttrString, Unescape(unquoteLines(raw[1:len(raw)-1], quotes))
	case '{':
		a.Kind, a.Value = AttrExpr, blankMarkers(raw[1:len(raw)-1], quotes)
		if strings.TrimSpace(a.Value) == "" {
			b.diags.Add(diag.CodeEmptyExpr, v, name+"={} holds no expression", "write "+name+"={expression}; an empty object is {{}}")
		}
	default:
		a.Kind, a.Value, a.ValueSpan = AttrString, raw, v
		b.unquoted(name, raw, v)
		return a
	}
	if len(tokens) == 2 {
		b.diags.Add(diag.CodeAttrBad, v, "= is missing between "+name+" and its value", "write "+name+"="+short(raw))
	}
	return a
}

func (b *builder) unquoted(name, raw string, at Span) {
	hint := "write " + name + `="` + raw + `" or ` + name + "={" + raw + "}"
	if strings.ContainsAny(raw, `"{}`) {
		hint = "write " + name + `="text" or ` + name + "={expression}"
	}
	b.diags.Add(diag.CodeUnquoted, at, "the value of "+name+" needs quotes or braces", hint)
}

// stray reports an item that is no attribute.
func (b *builder) stray(t lexer.Token) {
	switch {
	case isOpener(t):
	case t.Type == scan.ValueType && t.Value[0] == '{' && strings.HasPrefix(strings.TrimLeft(t.Value[1:], " \t\r\n"), "..."):
		b.diags.Add(diag.CodeSpread, spanOf(t), "attributes cannot be spread", "write each attribute out: name={value}")
	case t.Type == scan.ValueType:
		b.diags.Add(diag.CodeAttrBad, spanOf(t), "a value in a tag needs a name", "write name="+short(t.Value))
	case t.Type == scan.EqType:
		b.diags.Add(diag.CodeAttrBad, spanOf(t), "= needs an attribute's name before it", `write name="text" or name={expression}`)
	default:
		b.diags.Add(diag.CodeAttrBad, spanOf(t), strconv.Quote(t.Value)+" cannot stand in a tag", `attributes are name, name="text" or name={expression}`)
	}
}

// repeated reports attributes that a tag has twice.
func (b *builder) repeated(attrs []*Attr) {
	var seen map[string]*Attr
	for i, a := range attrs {
		if len(attrs) <= 8 { // few: no map
			for _, before := range attrs[:i] {
				if before.Name == a.Name {
					b.twice(a, before)
					break
				}
			}
			continue
		}
		if seen == nil {
			seen = make(map[string]*Attr, len(attrs))
		}
		if before := seen[a.Name]; before != nil {
			b.twice(a, before)
			continue
		}
		seen[a.Name] = a
	}
}

func (b *builder) twice(a, before *Attr) {
	b.diags.Add(diag.CodeRepeated, a.NameSpan, a.Name+" is given twice", "leave one of them out",
		diag.Related{Summary: "first given here", Span: before.NameSpan})
}

// short cuts a text that is quoted in a hint.
func short(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 || len(s) > 40 {
		return "…"
	}
	return s
}

// unquoteLines takes the quote markers off the continuation lines of an attribute's string.
func unquoteLines(s string, quotes int) string {
	if quotes == 0 || !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i := 1; i < len(lines); i++ {
		lines[i] = scan.Unquote(lines[i], quotes)
	}
	return strings.Join(lines, "")
}

// blankMarkers puts blanks in place of the quote markers of an expression's continuation lines: its offsets stay right.
func blankMarkers(s string, quotes int) string {
	if quotes == 0 || !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.SplitAfter(s, "\n")
	for i := 1; i < len(lines); i++ {
		rest := scan.Unquote(lines[i], quotes)
		lines[i] = strings.Repeat(" ", len(lines[i])-len(rest)) + rest
	}
	return strings.Join(lines, "")
}

// entities are the named ones that attribute strings decode.
var entities = map[string]string{"lt": "<", "gt": ">", "amp": "&", "quot": `"`, "apos": "'"}

// maxEntity bounds the length of an entity between & and ;.
const maxEntity = 10

// Unescape decodes the entities of an attribute's string: &lt; &gt; &amp; &quot; &apos; &#n; &#xh;. Others stay as they are.
func Unescape(s string) string {
	if strings.IndexByte(s, '&') < 0 {
		return s
	}
	var out strings.Builder
	for {
		at := strings.IndexByte(s, '&')
		if at < 0 {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(s[:at])
		s = s[at:]
		end := strings.IndexByte(s[:min(len(s), maxEntity+2)], ';')
		if text, ok := entity(s, end); ok {
			out.WriteString(text)
			s = s[end+1:]
			continue
		}
		out.WriteByte('&')
		s = s[1:]
	}
}

// entity decodes the one between the & at the start of s and the ; at end.
func entity(s string, end int) (string, bool) {
	if end < 2 {
		return "", false
	}
	name := s[1:end]
	if text, ok := entities[name]; ok {
		return text, true
	}
	digits, isNumber := strings.CutPrefix(name, "#")
	if !isNumber {
		return "", false
	}
	base := 10
	if hex, ok := strings.CutPrefix(strings.ToLower(digits), "x"); ok {
		digits, base = hex, 16
	}
	n, err := strconv.ParseUint(digits, base, 32)
	if err != nil || n == 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
		return "", false
	}
	return string(rune(n)), true
}
