package secret

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	s := some(t)
	for _, c := range []struct{ plain, encoded, masked string }{
		{`null`, `null`, `null`},
		{`"hunter2hunter2"`, `"\u001aTOKEN\u001a"`, `"***"`},
		{` {"z": 1.0, "a" : [1e999, 12345678901234567890, -0], "z": "\u00e4\/"} `, "", ""},
		{`{"b":"x hunter2hunter2","hunter2hunter2":{"a":["hunter2hunter2-and-more",3.10]}}`,
			`{"b":"x \u001aTOKEN\u001a","\u001aTOKEN\u001a":{"a":["\u001aTOKEN_LONG\u001a",3.10]}}`, `{"b":"x ***","***":{"a":["***",3.10]}}`},
		{`["\u0068unter2hunter2", "<b> &"]`, `["\u001aTOKEN\u001a", "<b> &"]`, `["***", "<b> &"]`},
		{`["a\u001aODD\u001a\"\n\\b and \"", "\\"]`, `["\u001aODD\u001a and \"", "\\"]`, `["*** and \"", "\\"]`},
		{`"schl\u00fcssel→Ω <\u0026>"`, `"\u001aWIDE\u001a <&>"`, `"*** <&>"`},
		{`"\u001a \u001A"`, `"\u001a\u001a \u001a\u001a"`, ""},
		{`"\\u001a"`, ``, ``},
		{`12345678`, ``, ``},
	} {
		if c.encoded == "" {
			c.encoded = c.plain
		}
		if c.masked == "" {
			c.masked = c.plain
		}
		encoded, err := s.EncodeJSON([]byte(c.plain))
		if string(encoded) != c.encoded || err != nil {
			t.Errorf("EncodeJSON(%s) is %s, %v; want %s", c.plain, encoded, err, c.encoded)
		}
		masked, err := s.MaskJSON([]byte(c.plain))
		if string(masked) != c.masked || err != nil {
			t.Errorf("MaskJSON(%s) is %s, %v; want %s", c.plain, masked, err, c.masked)
		}
		again, err := s.DecodeJSON(encoded)
		if !sameJSON(t, again, []byte(c.plain)) || err != nil {
			t.Errorf("DecodeJSON(%s) is %s, %v; want %s", encoded, again, err, c.plain)
		}
	}
}

// sameJSON compares values: exact numbers, all else as encoding/json reads it.
func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	read := func(raw []byte) string {
		dec := json.NewDecoder(strings.NewReader(string(raw)))
		dec.UseNumber()
		var tokens []string
		for {
			tok, err := dec.Token()
			if err != nil {
				return strings.Join(tokens, "\x00")
			}
			text, _ := json.Marshal(tok)
			tokens = append(tokens, string(text))
		}
	}
	return read(a) == read(b)
}

func TestJSONWithoutSecrets(t *testing.T) {
	for plain, want := range map[string]string{
		`"\u001A"`: `"\u001a\u001a"`, `{"\u001aA\u001a":1}`: `{"\u001a\u001aA\u001a\u001a":1}`, `"hunter2hunter2"`: `"hunter2hunter2"`,
	} {
		encoded, err := (*Set)(nil).EncodeJSON([]byte(plain))
		if string(encoded) != want || err != nil {
			t.Errorf("EncodeJSON(%s) is %s, %v", plain, encoded, err)
		}
		again, err := some(t).DecodeJSON(encoded)
		if !sameJSON(t, again, []byte(plain)) || err != nil {
			t.Errorf("%s is read as %s, %v", plain, again, err)
		}
		if masked, err := (*Set)(nil).MaskJSON([]byte(plain)); string(masked) != plain || err != nil {
			t.Errorf("MaskJSON(%s) is %s, %v", plain, masked, err)
		}
	}
}

func TestJSONFails(t *testing.T) {
	s := some(t)
	for _, bad := range []string{`{"a":`, `"\x"`, `{"a" "b"}`, `"`, "", "\x1a", `"\u001a`} {
		if got, err := s.EncodeJSON([]byte(bad)); !errors.Is(err, errNotJSON) || got != nil {
			t.Errorf("EncodeJSON(%s) is %s, %v", bad, got, err)
		}
		if got, err := s.MaskJSON([]byte(bad)); !errors.Is(err, errNotJSON) || got != nil {
			t.Errorf("MaskJSON(%s) is %s, %v", bad, got, err)
		}
	}
	var missing *MissingError
	if _, err := s.DecodeJSON([]byte(`{"a":["\u001aGONE\u001a"]}`)); !errors.As(err, &missing) || missing.Name != "GONE" {
		t.Error(err)
	}
	if _, err := s.DecodeJSON([]byte(`{"\u001aTOKEN":1}`)); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, err := s.DecodeJSON([]byte(`{"\u001aTOKEN`)); !errors.Is(err, errNotJSON) {
		t.Error(err)
	}
}

func TestNamedJSON(t *testing.T) {
	for raw, want := range map[string]string{
		`{"\u001aB\u001a":["x\u001AA\u001A","\u001a\u001aC\u001a\u001a","\\u001aD\\u001a"]}`: "A B",
		`{"a":"b"}`: "", `{"\u001aA\u001a"`: "",
	} {
		if got := strings.Join(NamedJSON([]byte(raw)), " "); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}

// FuzzJSON: a JSON value comes back as it was, and no string of what is recorded or shown holds a secret.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1.50,"hunter2hunter2"],"\u001a":null}`, `"\ud800 hunter2hunter2"`, "\"\xff\"", `["\u0068unter2hunter2"]`, `[]x`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		s := mustNew(t, map[string]string{"A": "hunter2hunter2", "B": "hunter2hunter2-and-more"})
		encoded, err := s.EncodeJSON([]byte(raw))
		if (err == nil) != json.Valid([]byte(raw)) {
			t.Fatalf("%q: %v", raw, err)
		}
		if err != nil {
			return
		}
		decoded, err := s.DecodeJSON(encoded)
		if err != nil || !sameJSON(t, decoded, []byte(raw)) {
			t.Fatalf("%q is recorded as %q and read as %q, %v", raw, encoded, decoded, err)
		}
		masked, err := s.MaskJSON([]byte(raw))
		if err != nil || !json.Valid(masked) || !json.Valid(encoded) {
			t.Fatalf("%q is shown as %q, %v", raw, masked, err)
		}
		for _, out := range [][]byte{encoded, masked} {
			_, err := rewrite(out, func(text string) (string, error) {
				if strings.Contains(text, "hunter2hunter2") {
					t.Fatalf("%q holds a secret", out)
				}
				return text, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}
