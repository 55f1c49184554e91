package secret

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// masked and encoded are a text that comes in pieces.
func masked(t testing.TB, s *Set, x string, sizes []byte) string {
	k := s.Masker()
	return inPieces(t, s, &k.s, x, sizes)
}

func encoded(t testing.TB, s *Set, x string, sizes []byte) string {
	k := s.Encoder()
	return inPieces(t, s, &k.s, x, sizes)
}

// inPieces writes a text in pieces of the given sizes; what is left then, in pieces of a few bytes.
func inPieces(t testing.TB, s *Set, k *pieces, x string, sizes []byte) string {
	t.Helper()
	longest := 0
	for _, name := range s.Names() {
		longest = max(longest, len(s.words().values[name]), len(reference(name)))
	}
	var b strings.Builder
	taken := 0
	for rest := x; rest != ""; {
		n := min(len(x)%7+1, len(rest))
		if len(sizes) > 0 {
			n, sizes = min(int(sizes[0]), len(rest)), sizes[1:]
		}
		b.WriteString(k.write(rest[:n]))
		taken += n
		rest = rest[n:]
		if len(k.held) >= max(longest, 1) {
			t.Fatalf("after %q %d bytes are held back, the longest secret has %d", x[:taken], len(k.held), longest)
		}
	}
	b.WriteString(k.flush())
	if again := k.flush(); again != "" || len(k.held) > 0 {
		t.Fatalf("held after the end: %q", again)
	}
	return b.String()
}

func TestMasker(t *testing.T) {
	s := some(t)
	for _, x := range []string{
		"", "no secret", "hunter2hunter2", "hunter2hunter2-and-mor", "hunter2hunter2-and-more-and-others", "hunter2hunter2hunter2hunter",
		"xhunter2hunter", "der schlüssel→Ω, der schlüssel→", "a\x1aODD\x1a\"\n\\b\x1aTOKEN\x1a\x1aTOKE", "hunter2hunter2hunter2-and-more",
	} {
		for size := 1; size <= len(x)+1; size++ {
			var sizes []byte
			for range len(x)/size + 1 {
				sizes = append(sizes, byte(size))
			}
			if got, want := masked(t, s, x, sizes), s.Mask(x); got != want {
				t.Errorf("%q by %d: %q, want %q", x, size, got, want)
			}
			if got, want := encoded(t, s, x, sizes), s.Encode(x); got != want {
				t.Errorf("%q by %d: recorded as %q, want %q", x, size, got, want)
			}
		}
	}
}

// TestMaskerHoldsLittle: what cannot be the beginning of a secret is shown at once.
func TestMaskerHoldsLittle(t *testing.T) {
	k := some(t).Masker()
	for _, step := range []struct{ write, want string }{
		{"plain text ", "plain text "}, {"hunter2", ""}, {" no", "hunter2 no"}, {"hunter2hunter2", ""}, {"!", "***!"},
		{"2hunter2-an", ""}, {"d", "***"}, {"hunter2hunter2-and-mor", ""}, {"e", "***"}, {"x\x1aTOK", "x"}, {"EN", ""}, {"\x1a", "***"}, {".", "."},
	} {
		if got := k.Write(step.write); got != step.want {
			t.Errorf("after %q: %q, want %q", step.write, got, step.want)
		}
	}
}

// TestMaskerWholeCharacters: pieces of whole characters give pieces of whole characters.
func TestMaskerWholeCharacters(t *testing.T) {
	k := some(t).Masker()
	x := "schlüssel, schlüssel→Ä, schlüssel→Ω→Ω"
	var b strings.Builder
	for _, r := range x {
		got := k.Write(string(r))
		if !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		b.WriteString(got)
	}
	if got := b.String() + k.Flush(); got != "schlüssel, schlüssel→Ä, ***→Ω" {
		t.Errorf("%q", got)
	}
}

// TestEncoderOnTheWay: what was recorded by now can be read by itself.
func TestEncoderOnTheWay(t *testing.T) {
	s := some(t)
	k := s.Encoder()
	x := "a\x1ab hunter2hunter2-and-more-and-others 2hunter2-an\x1a"
	var read strings.Builder
	for i := range len(x) {
		part, err := s.Decode(k.Write(x[i : i+1]))
		if err != nil {
			t.Fatalf("after %q: %v", x[:i+1], err)
		}
		read.WriteString(part)
	}
	rest, err := s.Decode(k.Flush())
	if got := read.String() + rest; got != x || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzMasker: in whatever pieces a text comes, it is shown and recorded as the whole is.
func FuzzMasker(f *testing.F) {
	f.Add("hunter2hunter2-and-more-and-others", []byte{3, 9, 1}, "s3cret-of-8")
	f.Add("aaaaaaaaaaaab aaaaaaaab", []byte{1}, "aaaaaaaab")
	f.Add("\xffschl\xc3\xbcssel→Ω\x1aD\x1a", []byte{5, 1}, "schlüssel→Ω")
	f.Fuzz(func(t *testing.T, x string, sizes []byte, value string) {
		values := map[string]string{"A": "hunter2hunter2", "B": "hunter2hunter2-and-more", "C": "aaaaaaaa"}
		if Check("D", value) == nil {
			values["D"] = value
		}
		s := mustNew(t, values)
		if got, want := masked(t, s, x, sizes), s.Mask(x); got != want {
			t.Fatalf("%q in pieces of %v: %q, want %q", x, sizes, got, want)
		}
		if got, want := encoded(t, s, x, sizes), s.Encode(x); got != want {
			t.Fatalf("%q in pieces of %v: recorded as %q, want %q", x, sizes, got, want)
		}
	})
}
