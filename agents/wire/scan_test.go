package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

var scanSeeds = []string{
	`{"id":1,"method":"a","params":{"id":2},"id":3}`, ` { "method" : "x" , "id" : null } `, `{}`, `{"id":{"a":[1,{"b":"}"}]},"params":[]}`,
	`{"\u0069d":"\ud83d\ude00\/\b\f\n\r\t\"\\"}`, `{"id":"\ud83d","method":"\udc00\ud83d"}`, "{\"id\":\"\xff\",\"m\xff\":1}", `[1,[2,"]"],{"a":"["}]`,
	`"\\"`, `{"":{"":""}}`, `{"id":-1.5e+3,"result":true}`, `{"id":"\\\\\\"}`, "[\n]", `{"id":1,`, `{"id"`, `{"id":"\u12`, `"`, `{"id":"a\\`, `[`, `[,`, `{"a":}`,
}

// The scanner agrees with encoding/json on everything valid, and survives the rest.
func FuzzScan(f *testing.F) {
	for _, s := range scanSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var m [memberCount][]byte
		isObject := Pick(b, memberNames, m[:])
		elements := slices.Collect(Elements(b))
		text, isText := String(b)
		var s skim
		s.feed(b)
		if !json.Valid(b) {
			return
		}
		checkObject(t, b, isObject, m[:], &s)
		checkArray(t, b, elements)
		var want string
		trimmed := bytes.TrimSpace(b)
		if wantText := trimmed[0] == '"' && json.Unmarshal(b, &want) == nil; len(trimmed) == len(b) && (isText != wantText || text != want) {
			t.Errorf("String(%q) = %q, %v; want %q, %v", b, text, isText, want, wantText)
		}
	})
}

func checkObject(t *testing.T, b []byte, isObject bool, m [][]byte, s *skim) {
	var want map[string]json.RawMessage
	if err := json.Unmarshal(b, &want); (err == nil && want != nil) != isObject {
		t.Fatalf("Pick(%q) says object: %v", b, isObject)
	}
	for k, name := range memberNames {
		if !bytes.Equal(m[k], want[name]) || (m[k] == nil) != (want[name] == nil) {
			t.Errorf("Pick(%q): %s is %q, want %q", b, name, m[k], want[name])
		}
	}
	id := want["id"]
	scalar := len(id) > 0 && id[0] != '{' && id[0] != '['
	if scalar && len(id) <= maxSkim && string(s.id) != string(id) {
		t.Errorf("skim(%q): id %q, want %q", b, s.id, id)
	}
	if method, ok := String(want["method"]); ok && len(want["method"]) <= maxSkim && s.method != method {
		t.Errorf("skim(%q): method %q, want %q", b, s.method, method)
	}
}

func checkArray(t *testing.T, b []byte, got [][]byte) {
	var want []json.RawMessage
	if json.Unmarshal(b, &want) != nil {
		want = nil
	}
	if !slices.EqualFunc(got, want, func(a []byte, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		t.Errorf("Elements(%q) = %q, want %q", b, got, want)
	}
}

// Lines come out as they went in, however they arrive and wherever the bound is.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), 2, uint8(1))
	f.Add([]byte("{\"id\":1}\n"), 100, uint8(3))
	f.Add(bytes.Repeat([]byte("0123456789"), 9000), 70000, uint8(0))
	f.Fuzz(func(t *testing.T, b []byte, max int, chunk uint8) {
		if max <= 0 {
			return
		}
		l := lineReader{r: &chunks{b: b, n: int(chunk)}, max: max}
		want := bytes.Split(b, []byte("\n"))
		if last := len(want) - 1; len(want[last]) == 0 {
			want = want[:last]
		}
		for i := 0; ; i++ {
			line, overlong, err := l.next()
			if err != nil {
				if err != io.EOF || i != len(want) {
					t.Fatalf("%v after %d of %d lines", err, i, len(want))
				}
				return
			}
			switch {
			case i == len(want):
				t.Fatalf("more than %d lines", i)
			case len(want[i]) <= max:
				if overlong != nil || !bytes.Equal(line, want[i]) {
					t.Fatalf("line %d is %q, want %q", i, line, want[i])
				}
			case overlong == nil || overlong.size != int64(len(want[i])) || !bytes.HasPrefix(want[i], overlong.head):
				t.Fatalf("line %d of %d bytes: %q, %+v", i, len(want[i]), line, overlong)
			}
		}
	})
}

// chunks is a reader of at most n bytes at a time, 0 for no limit.
type chunks struct {
	b []byte
	n int
}

func (c *chunks) Read(b []byte) (int, error) {
	if len(c.b) == 0 {
		return 0, io.EOF
	}
	if c.n > 0 && len(b) > c.n {
		b = b[:c.n]
	}
	k := copy(b, c.b)
	c.b = c.b[k:]
	return k, nil
}

func TestSpans(t *testing.T) {
	v := []byte(`{"a":{"b":["x",{"c":"y"}]},"kind":"tool_call","n":null}`)
	if got := Path(v, "a", "b"); string(got) != `["x",{"c":"y"}]` {
		t.Errorf("Path = %s", got)
	}
	if Path(v, "a", "x", "y") != nil || Field(v, "A") != nil || Field([]byte(`[1]`), "a") != nil {
		t.Error("found what is not there")
	}
	if !Is(Field(v, "kind"), "tool_call") || Is(Field(v, "kind"), "tool") || Is(nil, "") {
		t.Error("Is")
	}
	if _, ok := String(Field(v, "n")); ok {
		t.Error("null is no string")
	}
	for range Elements(Path(v, "a", "b")) {
		break
	}
	if dst, ok := AppendString([]byte("> "), []byte(`"a\n\u00e9"`)); !ok || string(dst) != "> a\né" {
		t.Errorf("AppendString = %q", dst)
	}
	if dst, ok := AppendString([]byte("> "), []byte(`"a\q"`)); ok || string(dst) != "> " {
		t.Errorf("AppendString of a broken escape = %q, %v", dst, ok)
	}
}

// Searching must not become quadratic on quotes and backslashes.
func BenchmarkSkipString(b *testing.B) {
	for _, unit := range []string{`\\`, `\"`, `\\\"`, `é`} {
		v := []byte(`{"a":"` + strings.Repeat(unit, 1<<20/len(unit)) + `","b":1}`)
		b.Run(unit, func(b *testing.B) {
			b.SetBytes(int64(len(v)))
			for b.Loop() {
				if Field(v, "b") == nil {
					b.Fatal("lost")
				}
			}
		})
	}
}

func ExamplePick() {
	update := []byte(`{"content":{"text":"caf\u00e9"},"sessionUpdate":"agent_message_chunk"}`)
	var m [2][]byte
	Pick(update, []string{"sessionUpdate", "content"}, m[:])
	text, _ := String(Field(m[1], "text"))
	fmt.Println(Is(m[0], "agent_message_chunk"), text)
	// Output: true café
}
