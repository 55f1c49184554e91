package resolve

import (
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// compileAttr compiles an attribute's expression with places in the document.
func compileAttr(src string, a *syntax.Attr) (*expr.Expr, []*expr.Error) {
	if len(a.Value) == a.ValueSpan.End-a.ValueSpan.Start {
		return expr.Compile(a.Value, a.ValueSpan.Start)
	}
	places := align(a.Value, src[a.ValueSpan.Start:a.ValueSpan.End], a.ValueSpan.Start)
	return expr.CompileAt(a.Value, func(i int) int { return places[i] })
}

// align finds the place of each byte of a value in the source it was taken from, where something was left out in between:
// the "> " before the lines of a quote.
func align(value, source string, off int) []int {
	places := make([]int, len(value)+1)
	j := 0
	for i := range len(value) {
		for j < len(source) && source[j] != value[i] {
			j++
		}
		places[i] = off + min(j, len(source))
		j++
	}
	places[len(value)] = off + len(source)
	return places
}
