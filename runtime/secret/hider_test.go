package secret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// odd is a value that every encoding writes in another way.
const odd = "corréct <horse>/battery+\"staple\"~?&\n"

func TestHider(t *testing.T) {
	h := NewHider(mustNew(t, map[string]string{"TOKEN": "hunter2hunter2", "LONG": "hunter2hunter2-and-more"}), "well-known-value", "short", "\xffinvalid-value")
	for text, want := range map[string]string{
		"": "", "plain": "plain", "a hunter2hunter2 b": "a *** b", "hunter2hunter2-and-more": "***", "hunter2hunter2-and-mor": "***-and-mor",
		"well-known-value,hunter2hunter2": "***,***", "short": "short", "\x1aTOKEN\x1a": "\x1aTOKEN\x1a",
	} {
		got, n := h.Hide(text)
		if got != want || n != strings.Count(want, Mark) || len(h.Find(text)) != n {
			t.Errorf("%q becomes %q, %d", text, got, n)
		}
	}
	if at := h.Find("é hunter2hunter2!"); !slices.Equal(at, []Span{{3, 17}}) {
		t.Error(at)
	}
	for _, none := range []*Hider{nil, NewHider(nil), NewHider(nil, "short"), NewHider(mustNew(t, nil))} {
		k := none.Masker()
		if got, n := none.Hide("hunter2hunter2"); none != nil || got != "hunter2hunter2" || n != 0 || k.Write("x")+k.Flush() != "x" {
			t.Errorf("%q, %d", got, n)
		}
	}
}

// written are the ways in which odd may be written, each whole.
func written() map[string]string {
	inJSON, _ := json.Marshal(odd)
	plain := strings.TrimSuffix(strings.TrimPrefix(odd, "\x00"), "\x00")
	return map[string]string{
		"raw": plain, "query": url.QueryEscape(odd), "path": url.PathEscape(odd), "component": strings.ReplaceAll(url.QueryEscape(odd), "+", "%20"),
		"small hex": strings.ToLower(url.QueryEscape(odd)), "std": base64.StdEncoding.EncodeToString([]byte(odd)),
		"url": base64.URLEncoding.EncodeToString([]byte(odd)), "raw std": base64.RawStdEncoding.EncodeToString([]byte(odd)),
		"raw url": base64.RawURLEncoding.EncodeToString([]byte(odd)), "json": strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(inJSON[1 : len(inJSON)-1])),
	}
}

func TestHiderForms(t *testing.T) {
	h := NewHider(nil, odd)
	for name, text := range written() {
		if got, n := h.Hide("a:" + text + ":b"); got != "a:***:b" || n != 1 {
			t.Errorf("%s: %q becomes %q, %d", name, text, got, n)
		}
	}
}

// TestHiderInsideBase64: at every alignment, with whatever stands around, no more is left than the characters that hold bits of both.
func TestHiderInsideBase64(t *testing.T) {
	for _, value := range []string{"12345678", "123456789", "1234567890", odd} {
		h := NewHider(nil, value)
		for before := range 7 {
			for after := range 7 {
				for name, enc := range map[string]*base64.Encoding{
					"std": base64.StdEncoding, "url": base64.URLEncoding, "raw std": base64.RawStdEncoding, "raw url": base64.RawURLEncoding} {
					text := enc.EncodeToString([]byte(strings.Repeat("\xfb", before) + value + strings.Repeat("\xff", after)))
					got, n := h.Hide(text)
					if n != 1 || len(got) > len(text)-len(value)*8/6+len(Mark)+1 {
						t.Fatalf("%s, %d before, %d after: %q becomes %q", name, before, after, text, got)
					}
				}
			}
		}
	}
}

// TestHiderStreams: values and their forms are found however a stream splits them.
func TestHiderStreams(t *testing.T) {
	h := NewHider(mustNew(t, map[string]string{"TOKEN": "hunter2hunter2"}), odd)
	for name, text := range written() {
		text = "a " + text + " b hunter2hunter2 " + base64.StdEncoding.EncodeToString([]byte("xhunter2hunter2y"))
		want, _ := h.Hide(text)
		if strings.Count(want, Mark) != 3 {
			t.Fatalf("%s: %q", name, want)
		}
		for size := 1; size <= len(text); size++ {
			var b strings.Builder
			k := h.Masker()
			for piece := range slices.Chunk([]byte(text), size) {
				b.WriteString(k.Write(string(piece)))
			}
			b.WriteString(k.Flush())
			if b.String() != want {
				t.Fatalf("%s by %d: %q, want %q", name, size, b.String(), want)
			}
		}
	}
}

func TestWellKnown(t *testing.T) {
	var environ []string
	for i, name := range []string{
		"OPENAI_API_KEY", "GH_TOKEN", "github_token", "AWS_SECRET_ACCESS_KEY", "PGPASSWORD", "TOKEN", "SLACK_WEBHOOK_URL", "DB_PASSWORD", // these are
		"PATH", "HOME", "MAX_OUTPUT_TOKENS", "TOKENIZER", "KEYBOARD", "SSH_AUTH_SOCK", "API_KEY_FILE", "MYTOKEN",
	} {
		environ = append(environ, fmt.Sprintf("%s=value=%03d", name, i))
	}
	environ = append(environ, "A_TOKEN=short", "B_TOKEN=", "C_TOKEN", "D_TOKEN=1234567\xff", "=C:=C:\\")
	got := WellKnown(environ)
	if len(got) != 8 || got[0] != "value=000" || got[7] != "value=007" {
		t.Error(got)
	}
	if _, n := NewHider(nil, got...).Hide("value=003 value=009"); n != 1 {
		t.Error(n)
	}
}

// FuzzHider: no form of a value is left, whole or in pieces.
func FuzzHider(f *testing.F) {
	f.Add("hunter2hunter2", "a ", "%2F", uint8(3))
	f.Add(odd, "", "x", uint8(1))
	f.Fuzz(func(t *testing.T, value, before, after string, size uint8) {
		h := NewHider(nil, value)
		if h == nil {
			return
		}
		for _, form := range forms(value) {
			text := before + form + after
			want, n := h.Hide(text)
			if n == 0 {
				t.Fatalf("%q is not found in %q", form, text)
			}
			var b strings.Builder
			k := h.Masker()
			for piece := range slices.Chunk([]byte(text), int(size)+1) {
				b.WriteString(k.Write(string(piece)))
			}
			if got := b.String() + k.Flush(); got != want {
				t.Fatalf("%q in pieces of %d: %q, want %q", text, int(size)+1, got, want)
			}
		}
	})
}
