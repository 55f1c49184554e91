package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// The validator agrees with encoding/json on everything.
func FuzzValid(f *testing.F) {
	for _, s := range scanSeeds {
		f.Add([]byte(s))
	}
	for _, s := range []string{
		"", " ", "0", "-0", "01", "-", "1.", ".1", "1e", "1e+", "1E-2", "1.5e3x", "true", "tru", "nullx", "[true,false,null]", `{"a":1,}`, `{"a" 1}`, `[1 2]`, `[1,]`,
		"\"a\tb\"", "\"\x00\"", "\"\x1f\"", "\"\x7f\u0080\xff\"", `"\x"`, `"\u12g4"`, `"\u1234`, `"12345678`, `"1234567\`, `"1234567"`, `"12345678"`, "{}{}", "\ufeff{}",
		"\"0123456\x1f\"", "\"01234567890123\x00\"", "\"\xa0\xa1\xa2\xa3\xa4\xa5\xa6\x1f\"", "\"!!!!!!!\n\"", "\"]]]]]]]\\]\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := valid(b), json.Valid(b); got != want {
			t.Errorf("valid(%q) is %v, want %v", b, got, want)
		}
	})
}

func TestValidDeep(t *testing.T) {
	for _, pair := range []string{"[]", "{}"} {
		for _, n := range []int{1, maxNesting, maxNesting + 1, 5_000_000} {
			open, end := pair[:1], pair[1:]
			if open == "{" {
				open = `{"":`
			}
			text := []byte(strings.Repeat(open, n) + "1" + strings.Repeat(end, n))
			if got, want := valid(text), json.Valid(text); got != want {
				t.Errorf("%d of %s: %v, want %v", n, pair, got, want)
			}
		}
	}
}

// Each place of a word of eight bytes finds each byte that ends it.
func TestOrdinary(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			text := bytes.Repeat([]byte{'\xe2'}, 24)
			text[at] = byte(c)
			want := at
			if c >= ' ' && c != '"' && c != '\\' {
				want = len(text)
			}
			if got := ordinary(text, 0); got != want {
				t.Errorf("%q: %d, want %d", text, got, want)
			}
		}
	}
}

func BenchmarkValid(b *testing.B) {
	line, _ := json.Marshal(map[string]string{"text": strings.Repeat("a line of an answer, with \"quotes\" and an end\n", 1000)})
	for name, do := range map[string]func([]byte) bool{"own": valid, "encoding/json": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				do(line)
			}
		})
	}
}
