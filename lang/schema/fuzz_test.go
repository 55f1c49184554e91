package schema

import (
	"testing"

	"xmd/lang/expr"
)

// FuzzExplain: the explainer says nothing about what the library accepts, and the same each time about the rest.
func FuzzExplain(f *testing.F) {
	for _, c := range faulty {
		f.Add(c.schema, c.value)
	}
	for _, s := range broken {
		f.Add(s, `{"a": [1, "b", null, 1.5]}`)
	}
	f.Fuzz(func(t *testing.T, schema, value string) {
		sv, err := expr.ParseJSON(schema)
		if err != nil {
			return
		}
		s, faults := Compile(sv)
		if (s == nil) != (len(faults) > 0) {
			t.Fatalf("schema %v, faults %v", s, faults)
		}
		v, err := expr.ParseJSON(value)
		if s == nil || err != nil {
			return
		}
		bad := s.Validate(v)
		said := s.root.explain(v)
		if len(bad) == 0 && len(said) > 0 {
			t.Fatalf("explained although valid: %v", said)
		}
		if len(bad) != len(s.Validate(v)) {
			t.Fatal("another result the second time")
		}
		s.Type()
	})
}
