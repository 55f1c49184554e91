package secret

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// plainly finds words as one would by hand: at each place the longest, then behind it.
func plainly(words []string, text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		best := -1
		for n, w := range words {
			if strings.HasPrefix(text[i:], w) && (best < 0 || len(w) > len(words[best])) {
				best = n
			}
		}
		if best < 0 {
			i++
			continue
		}
		fmt.Fprintf(&b, "%d+%d=%d ", i, len(words[best]), best)
		i += len(words[best])
	}
	return b.String()
}

func found(m *matcher, text string) string {
	var b strings.Builder
	m.each(text, func(start, end, word int) { fmt.Fprintf(&b, "%d+%d=%d ", start, end-start, word) })
	return b.String()
}

func TestMatcher(t *testing.T) {
	for _, c := range []struct {
		words []string
		text  string
		want  string
	}{
		{nil, "text", ""},
		{[]string{"ab"}, "", ""},
		{[]string{"ab"}, "xxabxabab", "2+2=0 5+2=0 7+2=0 "},
		{[]string{"ab", "abcd"}, "abcabcdab", "0+2=0 3+4=1 7+2=0 "},
		{[]string{"ab", "b"}, "abb", "0+2=0 2+1=1 "},
		{[]string{"abc", "bcd"}, "abcd", "0+3=0 "},
		{[]string{"abcx", "bc"}, "abcd", "1+2=1 "},
		{[]string{"aaab", "a"}, "aaaaab", "0+1=1 1+1=1 2+4=0 "},
		{[]string{"x", "x"}, "x", "0+1=0 "},
		{[]string{"ab", "babbababbbaa", "babbabaaba"}, "babbabaabb", "1+2=0 4+2=0 7+2=0 "}, // two long words share what is settled
	} {
		if got := found(newMatcher(c.words), c.text); got != c.want {
			t.Errorf("%q in %q: got %s, want %s", c.words, c.text, got, c.want)
		}
	}
}

// TestMatcherAsByHand compares with finding by hand: few letters, so that words overlap in all ways.
func TestMatcherAsByHand(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := func(n, of int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = 'a' + byte(r.IntN(of))
		}
		return string(b)
	}
	for range 20_000 {
		of := 1 + r.IntN(3)
		var words []string
		for range 1 + r.IntN(8) {
			words = append(words, letters(1+r.IntN(14), of))
		}
		text := letters(r.IntN(40), of)
		for range r.IntN(3) { // random letters rarely are a long word
			text += words[r.IntN(len(words))] + letters(r.IntN(3), of)
		}
		if got, want := found(newMatcher(words), text), plainly(words, text); !sameWords(words, got, want) {
			t.Fatalf("%q in %q: got %s, want %s", words, text, got, want)
		}
	}
}

// sameWords forgives another number of an equal word.
func sameWords(words []string, got, want string) bool {
	for i, w := range words {
		for j := range i {
			if words[j] == w {
				got = strings.ReplaceAll(got, fmt.Sprintf("=%d ", i), fmt.Sprintf("=%d ", j))
				want = strings.ReplaceAll(want, fmt.Sprintf("=%d ", i), fmt.Sprintf("=%d ", j))
			}
		}
	}
	return got == want
}

// TestMatcherIsLinear: a long word that fails at its last byte, at every place of the text. Reading again from each place would take
// 200,000 times as long, which is minutes.
func TestMatcherIsLinear(t *testing.T) {
	m := newMatcher([]string{strings.Repeat("a", 200_000) + "b", "aaaaaaaac"})
	if got := found(m, strings.Repeat("a", 1<<20)+"c"); got != "1048568+9=1 " {
		t.Error(got)
	}
}

func BenchmarkMask(b *testing.B) {
	values := map[string]string{}
	for i := range 100 {
		values[fmt.Sprintf("TOKEN_%d", i)] = fmt.Sprintf("%c%c-token-%08d-0123456789abcdef", 'a'+i%26, 'a'+i/26, i)
	}
	prose := strings.Repeat("The quick brown fox jumps over the lazy dog; a token is not a secret, and bb-token-0 neither.\n", 1<<20/95)
	for name, text := range map[string]string{
		"nothing":     prose,
		"many":        strings.Repeat(prose[:200]+values["TOKEN_7"], 1<<20/240),
		"near":        strings.Repeat(values["TOKEN_9"][:20], 1<<20/20),
		"overlapping": strings.Repeat("a", 1<<20),
	} {
		b.Run(name, func(b *testing.B) {
			values["LONG"], values["SHORT"] = strings.Repeat("a", 10_000)+"b", strings.Repeat("a", 9)
			s, err := New(values)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Mask(text)
			}
		})
	}
}

func BenchmarkMasker(b *testing.B) {
	s, err := New(map[string]string{"A": "correct horse battery staple", "B": strings.Repeat("a", 10_000) + "b"})
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Repeat("aaaaaaaaaaaaaaaa correct horse battery tape. ", 1<<20/45)
	for _, size := range []int{1, 100, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				k := s.Masker()
				for rest := text; rest != ""; {
					n := min(size, len(rest))
					k.Write(rest[:n])
					rest = rest[n:]
				}
				k.Flush()
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	values := map[string]string{"LONG": strings.Repeat("-----BEGIN KEY-----\n0123456789", 1000)}
	for i := range 100 {
		values[fmt.Sprintf("TOKEN_%d", i)] = fmt.Sprintf("token-%08d-0123456789abcdef", i)
	}
	for b.Loop() {
		if _, err := New(values); err != nil {
			b.Fatal(err)
		}
	}
}
