package runtime

import (
	"testing"

	"xmd/lang/expr"
	"xmd/lang/schema"
)

func schemaOf(t testing.TB, text string) *schema.Schema {
	t.Helper()
	v, err := expr.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	s, faults := schema.Compile(v)
	if s == nil {
		t.Fatal(faults)
	}
	return s
}

func TestFindJSON(t *testing.T) {
	object := schemaOf(t, `{"type":"object"}`)
	number := schemaOf(t, `{"type":"integer"}`)
	text := schemaOf(t, `{"type":"string"}`)
	for _, c := range []struct {
		name string
		in   string
		want *schema.Schema
		out  string // JSON, or the error
	}{
		{"the whole text", ` {"a": 1} `, object, `{"a":1}`},
		{"in a fence", "Here:\n```json\n{\"a\": 1}\n```\nDone.", object, `{"a":1}`},
		{"the last of two", `First {"a": 1}, then {"a": 2}.`, object, `{"a":2}`},
		{"the last of two fences", "```json\n{\"a\":1}\n```\nno:\n```\n{\"a\":2}\n```", object, `{"a":2}`},
		{"a footnote behind it", `{"a": 1} as in [1] and [2, 3]`, object, `{"a":1}`},
		{"nested ones are not the last", `x {"a": {"b": [1, {"c": 2}]}} y`, object, `{"a":{"b":[1,{"c":2}]}}`},
		{"braces in prose", `Use {x} or {{y}} and then {"a": 1} {`, object, "the JSON in it ends too early"},
		{"braces in prose before", `Use {x} or {{y}} [see] and then {"a": 1}`, object, `{"a":1}`},
		{"braces in strings", `say {"a": "}{[\"", "b": "\\"} end`, object, `{"a":"}{[\"","b":"\\"}`},
		{"a quote in prose before", `He said ["hello {"a": 1} ok`, object, `{"a":1}`},
		{"an apostrophe and quotes", `It's "{" fine: {"a": "it's"}`, object, `{"a":"it's"}`},
		{"cut off", `{"issues": [{"file": "a"}], "text": "abc`, object, "the JSON in it ends too early"},
		{"cut off after an example", "{\"a\": 1}\nand now {\"b\": [", object, "the JSON in it ends too early"},
		{"a comma too many", `{"a": 1,}`, object, "is not JSON: invalid character '}' looking for beginning of object key string"},
		{"no quotes", `{a: 1}`, object, "is not JSON: invalid character 'a' looking for beginning of object key string"},
		{"no value", "All is well.", object, "it holds no JSON value"},
		{"nothing", " \n", object, "it is empty, where a JSON value must be"},
		{"a number on the last line", "I count:\n42", number, "42"},
		{"a number in a fence", "I count:\n```\n42\n```\n", number, "42"},
		{"a number behind a list", "of [1, 2]:\n42", number, "42"},
		{"a string", `"a [1] b"`, text, `"a [1] b"`},
		{"a string on the last line", "It is:\n\"x\"", text, `"x"`},
		{"of the wrong kind is still what was meant", `[1, 2]`, object, `[1,2]`},
		{"large numbers are exact", `{"n": 9007199254740993}`, nil, `{"n":9007199254740993}`},
		{"CRLF", "```json\r\n{\r\n \"a\": 1\r\n}\r\n```\r\n", object, `{"a":1}`},
		{"not values", `{"a": tru} {"b": 01} {"c": 1}`, nil, `{"c":1}`},
	} {
		v, err := findJSON(c.in, c.want)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = expr.JSON(v)
		}
		if got != c.out {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.out)
		}
	}
}

func FuzzFindJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2]} x`, "```\n[1]\n```", `["[ {"a":"}"}`, `{"é":"\u00e9"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := findJSON(s, nil)
		if err != nil {
			return
		}
		again, err := findJSON("so: "+expr.JSON(v)+"\n", nil)
		if _, container := v.(map[string]any); container && (err != nil || !expr.Equal(v, again)) {
			t.Errorf("%q gives %s, which is read as %v (%v)", s, expr.JSON(v), again, err)
		}
	})
}
