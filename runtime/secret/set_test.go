package secret

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func mustNew(t testing.TB, values map[string]string) *Set {
	t.Helper()
	s, err := New(values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// some secrets: one begins another, one is inside of another, two overlap, one is not ASCII, one holds what is special here.
func some(t testing.TB) *Set {
	t.Helper()
	return mustNew(t, map[string]string{
		"TOKEN": "hunter2hunter2", "TOKEN_LONG": "hunter2hunter2-and-more", "INNER": "2hunter2-and", "OVERLAP": "more-and-others",
		"WIDE": "schlüssel→Ω", "ODD": "a\x1aODD\x1a\"\n\\b", "TWICE": "hunter2hunter2",
	})
}

func TestNew(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"T", "1234567", "the secret T has fewer than 8 characters, so it could not be masked safely"},
		{"T", "", "the secret T has fewer than 8 characters, so it could not be masked safely"},
		{"T", "ÄÄÄÄÄÄÄ", "the secret T has fewer than 8 characters, so it could not be masked safely"}, // 14 bytes
		{"T", "12345678", ""},
		{"T", "12345678\xff", "the secret T is not UTF-8 text, so it could not be masked safely"},
		{"A-B", "12345678", `"A-B" cannot be the name of a secret: names are letters, digits and _`},
		{"", "12345678", `"" cannot be the name of a secret: names are letters, digits and _`},
	} {
		_, err := New(map[string]string{c.name: c.value, "Z": "long enough"})
		if got := text(err); got != c.want {
			t.Errorf("%q: got %q, want %q", c.value, got, c.want)
		}
		if err != nil && len(c.value) > 1 && strings.Contains(err.Error(), c.value) {
			t.Errorf("%v shows the value", err)
		}
	}
	values := map[string]string{"T": "12345678"}
	s := mustNew(t, values)
	values["T"] = "87654321"
	if got, err := s.Decode("\x1aT\x1a"); got != "12345678" || err != nil {
		t.Errorf("the Set changes with the map it was made from: %q, %v", got, err)
	}
	names := some(t).Names()
	if want := []string{"INNER", "ODD", "OVERLAP", "TOKEN", "TOKEN_LONG", "TWICE", "WIDE"}; !slices.Equal(names, want) {
		t.Error(names)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEncodeAndMask(t *testing.T) {
	s := some(t)
	for _, c := range []struct{ plain, encoded, masked string }{
		{"", "", ""},
		{"nothing of hunter2", "nothing of hunter2", "nothing of hunter2"},
		{"hunter2hunter2", "\x1aTOKEN\x1a", "***"},
		{"a hunter2hunter2, b", "a \x1aTOKEN\x1a, b", "a ***, b"},
		{"hunter2hunter2hunter2hunter2", "\x1aTOKEN\x1a\x1aTOKEN\x1a", "******"},
		{"hunter2hunter2-and-more", "\x1aTOKEN_LONG\x1a", "***"},
		{"hunter2hunter2-and-mor", "\x1aTOKEN\x1a-and-mor", "***-and-mor"},
		{"hunter2hunter2-and-more-and-others", "\x1aTOKEN_LONG\x1a-and-others", "***-and-others"},
		{"xhunter2-and", "xhunter2-and", "xhunter2-and"},
		{"x2hunter2-and", "x\x1aINNER\x1a", "x***"},
		{"der schlüssel→Ω.", "der \x1aWIDE\x1a.", "der ***."},
		{"a\x1aODD\x1a\"\n\\b", "\x1aODD\x1a", "***"},
		{"\x1a", "\x1a\x1a", "\x1a"},
		{"\x1aTOKEN\x1a", "\x1a\x1aTOKEN\x1a\x1a", "***"},
		{"\x1aELSE\x1a", "\x1a\x1aELSE\x1a\x1a", "\x1aELSE\x1a"},
		{"\x1ahunter2hunter2\x1a", "\x1a\x1a\x1aTOKEN\x1a\x1a\x1a", "\x1a***\x1a"},
		{"\xff\xc3hunter2hunter2\xbc", "\xff\xc3\x1aTOKEN\x1a\xbc", "\xff\xc3***\xbc"},
	} {
		if got := s.Encode(c.plain); got != c.encoded {
			t.Errorf("Encode(%q) is %q, want %q", c.plain, got, c.encoded)
		}
		if got, err := s.Decode(c.encoded); got != c.plain || err != nil {
			t.Errorf("Decode(%q) is %q, %v", c.encoded, got, err)
		}
		if got := s.Mask(c.plain); got != c.masked {
			t.Errorf("Mask(%q) is %q, want %q", c.plain, got, c.masked)
		}
	}
}

func TestMaskReferences(t *testing.T) {
	if got := some(t).Mask("a \x1aTOKEN\x1a and \x1aWIDE\x1a"); got != "a *** and ***" {
		t.Errorf("%q", got)
	}
}

// TestWithoutSecrets: what looks like a reference is escaped by every Set, so that any other reads it.
func TestWithoutSecrets(t *testing.T) {
	for name, s := range map[string]*Set{"nil": nil, "zero": {}, "empty": mustNew(t, nil)} {
		if s.Names() != nil && len(s.Names()) > 0 {
			t.Error(name, s.Names())
		}
		for _, x := range []string{"", "plain", "\x1a", "\x1aTOKEN\x1a", "a\x1a\x1ab"} {
			encoded := s.Encode(x)
			if got, err := s.Decode(encoded); got != x || err != nil {
				t.Errorf("%s: %q becomes %q, %v", name, x, got, err)
			}
			if got, err := some(t).Decode(encoded); got != x || err != nil {
				t.Errorf("%s: %q is read as %q, %v", name, x, got, err)
			}
			if got := s.Mask(x); got != x {
				t.Errorf("%s: Mask(%q) is %q", name, x, got)
			}
			if names := Named(encoded); len(names) > 0 {
				t.Errorf("%s: %q names %q", name, x, names)
			}
		}
		k, e := s.Masker(), s.Encoder()
		if got := k.Write("a\x1a") + k.Flush(); got != "a\x1a" {
			t.Errorf("%s: %q", name, got)
		}
		if got := e.Write("a\x1a") + e.Flush(); got != "a\x1a\x1a" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestDecodeFails(t *testing.T) {
	var missing *MissingError
	for name, s := range map[string]*Set{"nil": nil, "others": some(t)} {
		_, err := s.Decode("a \x1aNOT_GIVEN\x1a")
		if !errors.As(err, &missing) || missing.Name != "NOT_GIVEN" || err.Error() != "the secret NOT_GIVEN is not given" {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"\x1a", "a\x1a\x1a\x1a", "\x1aTOKEN", "\x1aA-B\x1a", "\x1aTOKEN\x1a\x1a"} {
		if got, err := some(t).Decode(bad); !errors.Is(err, ErrDamaged) || got != "" {
			t.Errorf("Decode(%q) is %q, %v", bad, got, err)
		}
	}
}

func TestNamed(t *testing.T) {
	s := some(t)
	for plain, want := range map[string]string{
		"none \x1aTOKEN\x1a": "", "hunter2hunter2 schlüssel→Ω hunter2hunter2": "TOKEN WIDE",
	} {
		if got := strings.Join(Named(s.Encode(plain)), " "); got != want {
			t.Errorf("%q: %q, want %q", plain, got, want)
		}
	}
	if got := Named("\x1aA\x1a \x1aB"); !slices.Equal(got, []string{"A"}) {
		t.Errorf("a damaged end: %q", got)
	}
}

// TestStandIns: who has only the names sees, compares and records what the holder of the values did.
func TestStandIns(t *testing.T) {
	s := some(t)
	names := s.Names()
	reader, err := StandIns(names)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []string{"", "a\x1ab", "hunter2hunter2-and-more!", "xhunter2hunter2schlüssel→Ω\x1a", "a\x1aODD\x1a\"\n\\b"} {
		encoded := s.Encode(x)
		read, err := reader.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := reader.Mask(read), s.Mask(x); got != want {
			t.Errorf("%q is shown as %q, was %q", x, got, want)
		}
		if got := reader.Encode(read); got != encoded {
			t.Errorf("%q is recorded as %q, was %q", x, got, encoded)
		}
	}
	if s, err := StandIns([]string{"A B"}); err == nil {
		t.Error("a name that is none:", s)
	}
}

// TestNoCopies: text without secrets costs no memory.
func TestNoCopies(t *testing.T) {
	s := some(t)
	k := s.Masker()
	plain, raw := "a text that holds nothing of them, hunter2", []byte(`{"a":"b"}`)
	for name, do := range map[string]func(){
		"Encode": func() { s.Encode(plain) }, "Encode of none": func() { (*Set)(nil).Encode(plain) },
		"Mask": func() { s.Mask(plain) }, "Mask of none": func() { (*Set)(nil).Mask(plain) },
		"Decode": func() { _, _ = s.Decode(plain) }, "Masker": func() { k.Write("words "); k.Write("more ") },
		"EncodeJSON of none": func() { _, _ = (*Set)(nil).EncodeJSON(raw) }, "DecodeJSON": func() { _, _ = s.DecodeJSON(raw) },
	} {
		if n := testing.AllocsPerRun(20, do); n > 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

// FuzzEncode: what is recorded gives the text back, with all, some and none of the secrets it holds; none of them is in it.
func FuzzEncode(f *testing.F) {
	for _, seed := range []string{"", "hunter2hunter2", "hunter2hunter2-and-more-and-others", "\x1a\x1aTOKEN\x1a", "a\x1aODD\x1a\"\n\\b", "\xff2hunter2-and\xc3"} {
		f.Add(seed, "s3cret-of-8")
	}
	f.Fuzz(func(t *testing.T, x, value string) {
		values := map[string]string{"A": "hunter2hunter2", "B": "hunter2hunter2-and-more", "C": "2hunter2-and"}
		if Check("D", value) == nil {
			values["D"] = value
		}
		s := mustNew(t, values)
		encoded := s.Encode(x)
		if got, err := s.Decode(encoded); got != x || err != nil {
			t.Fatalf("%q is read as %q, %v", x, got, err)
		}
		for _, name := range Named(encoded) {
			if !slices.Contains(s.Names(), name) || !strings.Contains(x, values[name]) {
				t.Fatalf("%q names %s", encoded, name)
			}
		}
		if len(Named(encoded)) == 0 {
			if got, err := (*Set)(nil).Decode(encoded); got != x || err != nil {
				t.Fatalf("%q without secrets is read as %q, %v", x, got, err)
			}
		}
		reader, err := StandIns(s.Names())
		if err != nil {
			t.Fatal(err)
		}
		read, err := reader.Decode(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := reader.Mask(read), s.Mask(x); got != want && !strings.Contains(x+value, lead) {
			t.Fatalf("%q is shown as %q, was %q", x, got, want)
		}
		masked := s.Mask(x)
		for _, v := range values {
			if strings.Contains(strings.ReplaceAll(masked, Mark, "\x00"), v) { // together with a mark it may
				t.Fatalf("%q is shown as %q, which holds %q", x, masked, v)
			}
		}
	})
}
