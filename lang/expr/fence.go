package expr

import (
	"regexp"
	"strings"
	"sync"

	"github.com/expr-lang/expr/parser/lexer"
)

// fence checks the tokens for what leaves no trace in expr-lang's tree (pipes, comments, words for operators, chained
// conditions) or would be reported in its words there.
type fence struct {
	src  *source
	list []lexer.Token
	open []opened
	errs []*Error
}

// opened is a bracket that waits for its closing one.
type opened struct {
	token lexer.Token
	call  string // the function whose arguments it holds
	comma bool
}

// operators are the tokens that the language has; operators made of others are refused.
var operators = map[string]bool{
	"!": true, "&&": true, "||": true, "==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true,
	"+": true, "-": true, "*": true, "/": true, "%": true, "?": true, ":": true, "??": true, "?.": true, ".": true,
	",": true, "#": true, "in": true, "contains": true, "startsWith": true, "endsWith": true, "matches": true,
}

// instead says what to write for tokens of expr-lang and of JavaScript that are not in the language.
var instead = map[string]string{
	"and": "write &&", "or": "write ||", "not": "write !", "=": "write == to compare",
	"|": "write f(x) for x | f(); write || for or", ";": "an expression has one value and no statements",
	"let": "bind a name with <Let as=…> before", "if": "write a ? b : c", "else": "write a ? b : c",
	"**": "write x * x", "^": "write x * x", "..": "",
	"::": "write the function's name alone", "&": "write &&", "##": "# is the item of the innermost predicate",
}

var words = map[string]bool{
	"true": true, "false": true, "null": true, "nil": true, "in": true, "let": true, "not": true, "and": true, "or": true,
	"if": true, "else": true, "contains": true, "startsWith": true, "endsWith": true, "matches": true,
}

// IsWord reports whether s is a word of the language, which no name may be.
func IsWord(s string) bool { return words[s] }

var jsonNumber = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
})

func (f *fence) fail(t lexer.Token, code, message, hint string) {
	f.errs = append(f.errs, errorAt(f.src.location(t.Location), code, message, hint))
}

// check looks at each token in turn.
func (f *fence) check() []*Error {
	end := 0
	for i, t := range f.list {
		from := f.src.byteAt(t.From)
		if gap := f.src.text[min(end, from):from]; strings.TrimSpace(gap) != "" {
			f.errs = append(f.errs, errorAt(f.src.span(end, from), CodeRefused, "comments are not part of expressions",
				"write {/* … */} outside the tag"))
		}
		end = f.src.byteAt(t.To)
		f.token(i, t)
		if len(f.errs) > 0 && t.Is(lexer.Operator, "let", "if") && !f.afterDot(i) {
			break // all that follows would be faults of the same kind
		}
		if len(f.open) > maxDepth {
			f.fail(t, CodeSyntax, "the expression is nested too deeply", "")
			break
		}
	}
	if len(f.errs) == 0 && len(f.open) > 0 {
		t := f.open[len(f.open)-1].token
		f.fail(t, CodeSyntax, t.Value+" is not closed", "")
	}
	return f.errs
}

func (f *fence) token(i int, t lexer.Token) {
	switch t.Kind {
	case lexer.Number:
		f.number(t)
	case lexer.String:
		if strings.HasPrefix(f.src.raw(t), "`") {
			f.fail(t, CodeRefused, "strings stand in quotes", `write "…" or '…'`)
		}
	case lexer.Bytes:
		f.fail(t, CodeRefused, "byte strings are not part of expressions", `write "…"`)
	case lexer.Identifier:
		f.identifier(i, t)
	case lexer.Operator:
		f.operator(i, t)
	case lexer.Bracket:
		f.bracket(i, t)
	}
}

func (f *fence) number(t lexer.Token) {
	if !jsonNumber().MatchString(t.Value) {
		f.fail(t, CodeSyntax, t.Value+" is not a number", "write numbers as JSON does: 10, -0.5, 1e6")
		return
	}
	n, err := parseNumber(t.Value)
	if _, isFloat := n.(float64); err != nil || isFloat && !strings.ContainsAny(t.Value, ".eE") {
		f.fail(t, CodeSyntax, "the number "+t.Value+" is too large", "whole numbers have 64 bits")
	}
}

func (f *fence) identifier(i int, t lexer.Token) {
	switch {
	case t.Value == "nil" && !f.afterDot(i):
		f.fail(t, CodeRefused, "nil is not part of expressions", "write null")
	case f.prev(i).Is(lexer.Operator, "#", "##"):
		f.fail(t, CodeRefused, "#"+t.Value+" is not part of expressions", "# is the item, .name its member")
	case !IsName(t.Value) && f.afterDot(i):
		f.fail(t, CodeSyntax, t.Value+" cannot stand after a dot", `write ["`+t.Value+`"]`)
	case !IsName(t.Value):
		f.fail(t, CodeSyntax, t.Value+" is not a name", "names are letters, digits and _")
	}
}

func (f *fence) operator(i int, t lexer.Token) {
	if words[t.Value] && f.afterDot(i) {
		return // o.in is a member like any other
	}
	switch {
	case words[t.Value] && f.isKey(i):
		f.fail(t, CodeSyntax, t.Value+" is a word of the language", `as a key it is quoted: "`+t.Value+`"`)
	case t.Value == "!" && f.next(i).Is(lexer.Operator, "in"):
		f.fail(t, CodeSyntax, "unexpected !", "write !(a in b)")
	case t.Is(lexer.Operator, "=") && f.prev(i).Is(lexer.Operator, "==", "!="):
		f.fail(t, CodeSyntax, "unexpected =", f.prev(i).Value+" compares values of all kinds")
	case !operators[t.Value]:
		f.fail(t, CodeRefused, t.Value+" is not part of expressions", instead[t.Value])
	case t.Value == "?" && f.next(i).Is(lexer.Operator, ":"):
		f.fail(t, CodeRefused, "?: needs a value between", "write a ?? b for a value that may be null")
	case t.Value == ",":
		f.comma(i)
	}
}

// comma sees the one place where a brace would begin a predicate's block.
func (f *fence) comma(i int) {
	if len(f.open) == 0 {
		return
	}
	top := &f.open[len(f.open)-1]
	if predicates[top.call] && !top.comma && f.next(i).Is(lexer.Bracket, "{") {
		f.fail(f.next(i), CodeRefused, "a brace cannot begin the predicate of "+top.call,
			"an object stands in parentheses: "+top.call+`(items, ({"key": .name}))`)
	}
	top.comma = true
}

func (f *fence) bracket(i int, t lexer.Token) {
	switch t.Value {
	case "(", "[", "{":
		o := opened{token: t}
		if p := f.prev(i); t.Value == "(" && p.Kind == lexer.Identifier && !f.afterDot(i-1) {
			o.call = p.Value
		}
		f.open = append(f.open, o)
		return
	}
	n := len(f.open)
	if n == 0 {
		f.fail(t, CodeSyntax, "nothing is open that "+t.Value+" could close", "")
		return
	}
	if o := f.open[n-1].token; o.Value+t.Value != "()" && o.Value+t.Value != "[]" && o.Value+t.Value != "{}" {
		f.fail(t, CodeSyntax, t.Value+" does not close "+o.Value, "")
	}
	if o := f.open[n-1]; predicates[o.call] && !o.comma {
		f.fail(t, CodeFunction, o.call+" takes an array and a predicate", o.call+"(items, .ok)")
	}
	f.open = f.open[:n-1]
}

// isKey tells whether the token stands where an object has a key.
func (f *fence) isKey(i int) bool {
	n := len(f.open)
	return n > 0 && f.open[n-1].token.Value == "{" && f.next(i).Is(lexer.Operator, ":") &&
		(f.prev(i).Is(lexer.Bracket, "{") || f.prev(i).Is(lexer.Operator, ","))
}

func (f *fence) afterDot(i int) bool { return f.prev(i).Is(lexer.Operator, ".", "?.") }

func (f *fence) prev(i int) lexer.Token {
	if i == 0 {
		return lexer.Token{}
	}
	return f.list[i-1]
}

func (f *fence) next(i int) lexer.Token {
	if i+1 >= len(f.list) {
		return lexer.Token{}
	}
	return f.list[i+1]
}
