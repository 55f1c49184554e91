package expr_test

import (
	"fmt"

	"xmd/lang/expr"
)

func Example() {
	e, _ := expr.Compile(`verdict.score / 2 > 4 ? "good" : join(verdict.issues, ", ")`, 0)
	v, _ := e.Eval(map[string]any{"verdict": map[string]any{"score": int64(7), "issues": []any{"slow", "long"}}})
	fmt.Println(v)
	_, errs := expr.Compile(`a and b`, 0)
	fmt.Println(errs[0].Message, "-", errs[0].Hint)
	// Output:
	// slow, long
	// and is not part of expressions - write &&
}
