package layout_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"xmd/lang/layout"
)

// chunk is a piece of rendered text.
type chunk struct {
	text  string
	value bool
}

func (c chunk) put(s layout.Sink) error {
	if c.value {
		return s.Value(c.text)
	}
	return s.Author(c.text)
}

// trimmed is what Ends is to make of chunks, worked out on the whole: the author's blank lines at the ends go.
func trimmed(chunks []chunk, head, tail, bare bool) string {
	var text strings.Builder
	var solid []bool
	for _, c := range chunks {
		for i := range len(c.text) {
			text.WriteByte(c.text[i])
			solid = append(solid, c.value || !strings.ContainsRune(" \t\r\n", rune(c.text[i])))
		}
	}
	s := text.String()
	first, last := -1, -1
	for i, is := range solid {
		if is && first < 0 {
			first = i
		}
		if is {
			last = i
		}
	}
	if first < 0 {
		if strings.Contains(s, "\n") || bare {
			return ""
		}
		return s
	}
	end := len(s)
	if rest := s[last+1:]; tail {
		nl := strings.IndexByte(rest, '\n')
		switch {
		case s[last] == '\n':
			end = last + 1
		case nl > 0 && rest[nl-1] == '\r':
			end = last + nl
		case nl >= 0:
			end = last + 1 + nl
		}
	}
	start := 0
	if head {
		start = strings.LastIndexByte(s[:first], '\n') + 1
	}
	return s[start:end]
}

// TestEnds puts random chunks in: however a text comes, its ends are the same, and what is put out early is never taken back.
func TestEnds(t *testing.T) {
	pieces := []string{"a", "b c", " ", "\n", "\r\n", "  \n", "\n\n", "x\n", "\ny", "\t", "", " z ", "\n  "}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20000 {
		var chunks []chunk
		for range r.IntN(7) {
			chunks = append(chunks, chunk{pieces[r.IntN(len(pieces))], r.IntN(3) == 0})
		}
		for name, c := range map[string]struct {
			make func(layout.Sink) *layout.Ends
			head bool
		}{"captured": {layout.NewCaptured, true}, "component": {layout.NewComponent, false}} {
			var out layout.Buffer
			e := c.make(&out)
			for _, c := range chunks {
				if err := c.put(e); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			if want := trimmed(chunks, c.head, true, false); out.String() != want {
				t.Fatalf("%s %+v\ngot  %q\nwant %q", name, chunks, out.String(), want)
			}
		}
		var out layout.Buffer
		reply := layout.NewReply(&out)
		for i := range chunks {
			chunks[i].value = false
			if err := reply.Value(chunks[i].text); err != nil {
				t.Fatal(err)
			}
		}
		_ = reply.Close()
		if want := trimmed(chunks, true, true, true); out.String() != want {
			t.Fatalf("reply %+v\ngot  %q\nwant %q", chunks, out.String(), want)
		}
	}
}

func TestReplyStreams(t *testing.T) {
	var out layout.Buffer
	r := layout.NewReply(&out)
	for _, step := range []struct{ in, seen string }{
		{"\n", ""}, {" \n  a", "  a"}, {"b ", "  ab "}, {"\n", "  ab "}, {"\n\n", "  ab "}, {"c", "  ab \n\n\nc"}, {"\n \n", "  ab \n\n\nc"},
	} {
		if err := r.Value(step.in); err != nil {
			t.Fatal(err)
		}
		if out.String() != step.seen {
			t.Errorf("after %q: %q, want %q", step.in, out.String(), step.seen)
		}
	}
	_ = r.Close()
	if out.String() != "  ab \n\n\nc" {
		t.Errorf("at the end: %q", out.String())
	}
}

func TestStdout(t *testing.T) {
	var out layout.Buffer
	s := layout.NewStdout(&out)
	for _, in := range []string{"a\n", "\n", "", "b\n ", "\n", "\r\n"} {
		if err := s.Value(in); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Close()
	if out.String() != "a\n\nb\n " {
		t.Errorf("%q", out.String())
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		chunks []chunk
		want   string
	}{
		{nil, ""}, {[]chunk{{"", true}, {"", false}}, ""}, {[]chunk{{"a", true}}, "> a\n"}, {[]chunk{{"a\n", true}}, "> a\n"}, {[]chunk{{"\n", true}}, "> \n"},
		{[]chunk{{"a", true}, {"b", false}}, "> ab\n"}, {[]chunk{{"a\n", true}, {" ", false}}, "> a\n \n"},
	} {
		var out layout.Buffer
		l := layout.NewLine(&out, "> ", "\n")
		for _, c := range c.chunks {
			if err := c.put(l); err != nil {
				t.Fatal(err)
			}
		}
		_ = l.Gap("  ")
		_ = l.Close()
		if out.String() != c.want {
			t.Errorf("%+v: %q, want %q", c.chunks, out.String(), c.want)
		}
	}
}

func TestGap(t *testing.T) {
	var out layout.Buffer
	l := layout.NewLine(&out, "> ", "\n")
	_ = l.Gap(" ")
	_ = l.Value("a")
	_ = l.Gap("  ")
	_ = l.Value("")
	_ = l.Gap("\t")
	_ = l.Author("b")
	_ = l.Gap("   ")
	_ = l.Close()
	if out.String() != ">  a  \tb\n" {
		t.Errorf("%q", out.String())
	}
}

func TestFillLengthens(t *testing.T) {
	for _, c := range []struct {
		marker string
		chunks []chunk
		want   string
	}{
		{"```", []chunk{{"a ```` b\n", false}, {"c", true}}, "```x\na ```` b\nc```"},
		{"```", []chunk{{"``", true}, {"\n", false}}, "```x\n``\n```"},
		{"```", []chunk{{"`", false}, {"``", true}, {"\n", false}}, "````x\n```\n````"},
		{"~~~~", []chunk{{"~~~~~~", true}, {"```", true}, {"\n", false}}, "~~~~~~~x\n~~~~~~```\n~~~~~~~"},
	} {
		var out layout.Buffer
		f := layout.NewFill(&out, c.marker+"x\n", c.marker, c.marker)
		for _, c := range c.chunks {
			if err := c.put(f); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("%+v: %q, want %q", c.chunks, out.String(), c.want)
		}
	}
}

// closed is a Sink whose output is gone after some texts.
type closed struct{ left int }

var errClosed = errors.New("closed")

func (c *closed) Author(string) error {
	if c.left--; c.left < 0 {
		return errClosed
	}
	return nil
}
func (c *closed) Value(text string) error { return c.Author(text) }

type closer interface {
	layout.Sink
	Close() error
}

// TestErrorsPass has every Sink hand up the error of the one under it, wherever it comes.
func TestErrorsPass(t *testing.T) {
	sinks := map[string]func(layout.Sink) closer{
		"line":     func(s layout.Sink) closer { return layout.NewLine(s, " ", "\n") },
		"captured": func(s layout.Sink) closer { return layout.NewCaptured(s) },
		"file":     func(s layout.Sink) closer { return layout.NewFile(s, true) },
		"reply":    func(s layout.Sink) closer { return layout.NewReply(s) },
		"stdout":   func(s layout.Sink) closer { return layout.NewStdout(s) },
		"fill":     func(s layout.Sink) closer { return layout.NewFill(s, "```\n", "```", "```") },
	}
	for name, make := range sinks {
		for left := range 3 {
			s := make(&closed{left})
			var err error
			for _, c := range []chunk{{"a\n", false}, {"b\n", true}, {"\n", false}, {"c", true}, {"d", true}} {
				err = errors.Join(err, c.put(s))
			}
			if err = errors.Join(err, s.Close()); !errors.Is(err, errClosed) {
				t.Errorf("%s: the error after %d texts is lost", name, left)
			}
		}
	}
}

func TestAsValue(t *testing.T) {
	var out layout.Buffer
	e := layout.NewCaptured(&out)
	v := layout.AsValue(e)
	_ = v.Author("\na\n")
	_ = e.Close()
	if out.String() != "\na\n" {
		t.Errorf("%q", out.String())
	}
}

// A reply that is there as a whole is trimmed to what it is when it comes in pieces.
func TestTrimReply(t *testing.T) {
	letters := []string{"a", " ", "\t", "\n", "\r\n", "é"}
	var each func(text string, n int)
	each = func(text string, n int) {
		var out layout.Buffer
		r := layout.NewReply(&out)
		_ = r.Value(text)
		_ = r.Close()
		if got := layout.TrimReply(text); got != out.String() {
			t.Errorf("%q: %q, in pieces %q", text, got, out.String())
		}
		if n > 0 {
			for _, l := range letters {
				each(text+l, n-1)
			}
		}
	}
	each("", 6)
}
