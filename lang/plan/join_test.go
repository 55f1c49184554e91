package plan_test

import (
	"strings"
	"testing"

	"xmd/lang"
	"xmd/lang/plan"
)

// Texts that stand side by side become one in linear time and space: braces of no name, author comments.
func TestJoiningTextsIsLinear(t *testing.T) {
	const line, lines = "line {x} of{/* no */} text\n", 4000
	var want = strings.Repeat("line {x} of text\n", lines)
	doc, list := lang.Parse("x.xmd", strings.Repeat(line, lines))
	var compiled *plan.Plan
	result := testing.Benchmark(func(b *testing.B) {
		for range b.N {
			compiled, _ = plan.Compiler{}.Compile(doc)
		}
	})
	if len(list) > 0 || len(compiled.Body) != 1 || compiled.Body[0].(*plan.Text).Value != want {
		t.Fatalf("%v, %d nodes", list, len(compiled.Body))
	}
	if bytes := result.AllocedBytesPerOp(); bytes > 100*int64(len(want)) {
		t.Errorf("%d bytes for a text of %d", bytes, len(want))
	}
}
