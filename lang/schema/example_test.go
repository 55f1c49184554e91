package schema_test

import (
	"fmt"

	"xmd/lang/expr"
	"xmd/lang/schema"
)

func Example() {
	v, _ := expr.ParseJSON(`{"type": "object", "required": ["passed"], "properties": {"passed": {"type": "boolean"}, "score": {"maximum": 10}}}`)
	s, _ := schema.Compile(v)
	fmt.Println(schema.Lines(s.Validate(map[string]any{"score": int64(11)}), 10))
	// Output:
	// the value: "passed" is missing
	// score: must be at most 10, is 11
}
