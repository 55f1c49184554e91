package schema

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/lang/expr"
)

var update = flag.Bool("update", false, "rewrite the goldens")

func parse(t testing.TB, text string) any {
	t.Helper()
	v, err := expr.ParseJSON(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func compile(t testing.TB, text string) *Schema {
	t.Helper()
	s, faults := Compile(parse(t, text))
	if len(faults) > 0 {
		t.Fatalf("%s: %v", text, faults)
	}
	return s
}

// review is a schema as a document would ask for.
const review = `{"type": "object", "additionalProperties": false, "required": ["passed", "score"], "properties": {
	"passed": {"type": "boolean"}, "score": {"type": "integer", "minimum": 0, "maximum": 10}, "kind": {"enum": ["bug", "style", "docs"]},
	"issues": {"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/issue"}},
	"who": {"anyOf": [{"type": "string", "pattern": "^[a-z]+$"}, {"type": "null"}]}},
	"$defs": {"issue": {"type": "object", "required": ["file"], "additionalProperties": false, "properties": {"file": {"type": "string", "minLength": 1}, "line": {"type": "integer"}}}}}`

var faulty = []struct{ schema, value string }{
	{review, `{"passed": "yes", "score": 3}`},
	{review, `{"pased": true, "score": 3}`},
	{review, `{"passed": true, "score": 11.5, "kind": "perf"}`},
	{review, `{"passed": true, "score": 11, "issues": [{"file": "a"}, {"file": "", "line": "2", "lin": 1}]}`},
	{review, `{"passed": true, "score": -1, "who": "Ada"}`},
	{review, `[1]`},
	{review, `{"passed": null, "score": 1, "issues": [1, {}, {"file": "x"}, {"file": "y"}]}`},
	{`{"const": 3}`, `4`}, {`{"enum": [1]}`, `2`}, {`{"type": ["string", "null"]}`, `1`}, {`{"minLength": 2}`, `"é"`}, {`{"maxLength": 1}`, `"ab"`},
	{`{"exclusiveMinimum": 0}`, `0`}, {`{"exclusiveMaximum": 1.5}`, `1.5`}, {`{"multipleOf": 5}`, `7`}, {`{"multipleOf": 0.5}`, `0.7`},
	{`{"uniqueItems": true}`, `[1, 2, 1.0]`}, {`{"minItems": 2}`, `[1]`}, {`{"prefixItems": [{"type": "string"}], "items": false}`, `["a", 1]`}, {`{"contains": {"type": "string"}}`, `[1]`},
	{`{"contains": {"const": 1}, "maxContains": 1}`, `[1, 1]`}, {`{"minProperties": 1}`, `{}`}, {`{"propertyNames": {"pattern": "^a"}}`, `{"b": 1}`}, {`{"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"type": "null"}}`, `{"a1": 1, "b": 1}`},
	{`{"dependentRequired": {"a": ["b"]}}`, `{"a": 1}`}, {`{"dependentSchemas": {"a": {"required": ["b"]}}}`, `{"a": 1}`}, {`{"not": {"type": "string"}}`, `"a"`}, {`{"oneOf": [{"type": "number"}, {"minimum": 1}]}`, `2`},
	{`{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}`, `{}`}, {`{"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["x"]}, "else": {"required": ["y"]}}`, `{"k": 1}`}, {`{"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["x"]}, "else": {"required": ["y"]}}`, `{"k": 2}`},
	{`{"allOf": [{"minimum": 3}, {"multipleOf": 2}]}`, `1`}, {`false`, `1`}, {`{"properties": {"a": false}}`, `{"a": 1}`}, {`{"unevaluatedProperties": false, "properties": {"a": true}}`, `{"b": 1}`}, {`{"$ref": "#/$defs/a", "$defs": {"a": {"$anchor": "x", "type": "string"}}}`, `1`},
	{`{"$ref": "#x", "$defs": {"a": {"$anchor": "x", "type": "string"}}}`, `1`}, {`{"properties": {"next": {"$ref": "#"}, "v": {"type": "integer"}}}`, `{"next": {"next": {"v": "x"}}}`}, {`{"type": "null"}`, `"` + strings.Repeat("long ", 30) + `"`},
	{`{"properties": {"a b": {"type": "string"}}}`, `{"a b": 1}`}, {`{"anyOf": [{"type": "string"}]}`, `1`}, {`{"type": "integer"}`, `1.5`}, {`{"maximum": 9007199254740993}`, `9007199254740994`},
}

func TestFaults(t *testing.T) {
	var b strings.Builder
	for _, c := range faulty {
		s := compile(t, c.schema)
		faults := s.Validate(parse(t, c.value))
		if len(faults) == 0 {
			t.Errorf("%s fits %s", c.value, c.schema)
		}
		name := c.schema
		if name == review {
			name = "the review"
		}
		fmt.Fprintf(&b, "%s\n  %s\n", name, c.value)
		for _, f := range faults {
			fmt.Fprintf(&b, "\t%s | %s\n", f, f.Hint)
		}
		for range 20 {
			if again := s.Validate(parse(t, c.value)); fmt.Sprint(again) != fmt.Sprint(faults) {
				t.Errorf("%s: another order: %v", c.value, again)
				break
			}
		}
	}
	golden(t, "faults.golden", b.String())
}

var broken = []string{`{"type": "strin"}`, `{"propertes": {}, "type": "object", "x-note": 1}`, `{"required": "a"}`, `{"properties": {"a": {"type": 3, "minLength": -1}}}`, `3`, `{"pattern": "(?=a)"}`,
	`{"properties": {"x": {"patternProperties": {"(": true}}}}`, `{"$ref": "#/$defs/isue", "$defs": {"issue": true}}`, `{"$ref": "other.json"}`, `{"$ref": "https://example.org/x"}`, `{"$schema": "http://json-schema.org/draft-07/schema#"}`,
	`{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}`, `{"enum": "a"}`, `{"items": [{"type": "string"}]}`, `{"allOf": []}`, `{"properties": {"a": {"nullable": true, "minlength": 3}}}`, `{"$ref": "https://json-schema.org/draft/2020-12/schema"}`,
	`{"default": 3, "examples": [1], "title": "x", "deprecated": true, "format": "date"}`, `{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}`}

func TestCompile(t *testing.T) {
	var b strings.Builder
	for _, text := range broken {
		s, faults := Compile(parse(t, text))
		if (s == nil) != (len(faults) > 0) {
			t.Errorf("%s: schema %v, faults %v", text, s, faults)
		}
		fmt.Fprintln(&b, text)
		for _, f := range faults {
			fmt.Fprintf(&b, "\terror %s | %s\n", f, f.Hint)
		}
		if s != nil {
			for _, f := range s.Warnings() {
				fmt.Fprintf(&b, "\twarning %s | %s\n", f, f.Hint)
			}
		}
	}
	golden(t, "compile.golden", b.String())
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; is now:\n%s", name, got)
	}
}

func TestType(t *testing.T) {
	s := compile(t, review)
	for src, want := range map[string]string{
		"v.passed": "a boolean", "v.score": "a number", "v.kind": "a string or null", "v.issues[0].line": "a number or null", "v.who": "a string or null",
		"v.pased": "did you mean passed?", "v.issues[0].fil": "did you mean file?", "v.passed.x": "", "v": "an object",
	} {
		e, errs := expr.Compile(src, 0)
		if errs != nil {
			t.Fatal(errs)
		}
		typ, bad := e.Check(func(string) *expr.Type { return s.Type() })
		got := typ.String()
		if len(bad) > 0 {
			got = bad[0].Hint
		}
		if got != want {
			t.Errorf("%s is %q, want %q", src, got, want)
		}
	}
	for text, want := range map[string]string{
		`true`: "any value", `{}`: "any value", `{"properties": {"a": true}}`: "any value", `{"type": ["string", "integer"]}`: "a string or a number", `{"const": null}`: "null",
		`{"enum": [1, "a"]}`: "a string or a number", `{"properties": {"a": {"$ref": "#"}}, "type": "object"}`: "an object", `{"allOf": [{"type": ["string", "null"]}, {"type": "string"}]}`: "a string",
		`{"type": "object", "anyOf": [{"required": ["a"]}]}`: "an object", `{"anyOf": [{"type": "string"}, {"type": "null"}]}`: "a string or null",
	} {
		if got := compile(t, text).Type().String(); got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

func TestExplosion(t *testing.T) {
	// Each definition refers twice to the next one.
	var b strings.Builder
	b.WriteString(`{"$ref": "#/$defs/a0", "$defs": {`)
	for i := range 18 {
		fmt.Fprintf(&b, `"a%d": {"allOf": [{"$ref": "#/$defs/a%d"}, {"$ref": "#/$defs/a%d"}]},`, i, i+1, i+1)
	}
	b.WriteString(`"a18": {"type": "string"}}}`)
	s := compile(t, b.String())
	if s.Type().String() != "any value" && s.Type().String() != "a string" {
		t.Errorf("type %s", s.Type())
	}
	if len(s.Validate(int64(1))) == 0 {
		t.Error("fits")
	}
}

// TestSuite runs the official test suite of JSON Schema if JSON_SCHEMA_SUITE names its folder of draft 2020-12.
func TestSuite(t *testing.T) {
	dir := os.Getenv("JSON_SCHEMA_SUITE")
	if dir == "" {
		t.Skip("JSON_SCHEMA_SUITE is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", dir, err)
	}
	var pass, fail, refused, own int
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []struct {
			Description string
			Schema      json.RawMessage
			Tests       []struct {
				Description string
				Data        json.RawMessage
				Valid       bool
			}
		}
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(err)
		}
		for _, g := range groups {
			s, faults := Compile(parse(t, string(g.Schema)))
			if s == nil {
				t.Logf("refused: %s: %s: %v", filepath.Base(file), g.Description, faults)
				refused += len(g.Tests)
				continue
			}
			for _, c := range g.Tests {
				v := parse(t, string(c.Data))
				got := s.Validate(v)
				x := s.root.explain(v)
				switch {
				case (len(got) == 0) == c.Valid:
					pass++
				default:
					fail++
					t.Errorf("%s: %s: %s: %v", filepath.Base(file), g.Description, c.Description, got)
				}
				if c.Valid && len(x) > 0 {
					t.Errorf("%s: %s: %s: explained although valid: %v", filepath.Base(file), g.Description, c.Description, x)
				}
				if !c.Valid && len(x) > 0 {
					own++
				}
			}
		}
	}
	t.Logf("%d passed, %d failed, %d of refused schemas; %d explained in own words", pass, fail, refused, own)
}
