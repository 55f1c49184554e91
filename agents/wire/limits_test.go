package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// listen runs a connection over what an agent wrote and returns at its end.
func listen(r io.Reader, o Options) *Conn {
	c := New(io.NopCloser(r), discard{}, o)
	<-c.Done()
	return c
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Close() error                { return nil }

func TestJunk(t *testing.T) {
	h, in := &recorder{}, strings.Join([]string{
		"npm notice new version", "", "   ", `{"method":"one"}`, `[{"method":"batched"}]`, `{"method":7}`, `{}`, `"text"`,
		`{"method":"two"`, "{\"method\":\"bad\x01\"}", `{"id":5,"result":{}}`, "\xff\xfe", `{"Method":"x","ID":1}`, `{"method":"two"}`, `{"metho`}, "\n")
	var got []Skipped
	c := listen(strings.NewReader(in), Options{Handler: h, Skipped: func(s Skipped) { got = append(got, s) }})
	if want := []string{"one", "two"}; !reflect.DeepEqual(h.seen(), want) {
		t.Errorf("handled %q", h.seen())
	}
	want := []Skipped{
		{NotJSON, 22, "npm notice new version", ""}, {NotMessage, 22, `[{"method":"batched"}]`, ""}, {NotMessage, 12, `{"method":7}`, ""},
		{NotMessage, 2, "{}", ""}, {NotMessage, 6, `"text"`, ""}, {NotJSON, 15, `{"method":"two"`, ""},
		{NotJSON, 17, "{\"method\":\"bad\x01\"}", ""}, {NoCall, 20, `{"id":5,"result":{}}`, ""}, {NotJSON, 2, "\ufffd", ""},
		{NotMessage, 21, `{"Method":"x","ID":1}`, ""}, {NotJSON, 7, `{"metho`, ""},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("skipped\n%+v", got)
	}
	if s := c.Stats(); s.NotJSON != 5 || s.NotMessage != 5 || s.NoCall != 1 || s.LinesIn != 15 {
		t.Errorf("stats %+v", s)
	}
}

func TestReportsAreCapped(t *testing.T) {
	n := 0
	c := listen(strings.NewReader(strings.Repeat(strings.Repeat("é", 4000)+"\n", 500)), Options{Skipped: func(s Skipped) {
		n++
		if len(s.Head) != 200 || s.Size != 8000 {
			t.Errorf("head of %d bytes, size %d", len(s.Head), s.Size)
		}
	}})
	if n != MaxReports || c.Stats().NotJSON != 500 {
		t.Errorf("%d reports, %+v", n, c.Stats())
	}
}

// Lines beyond the bound are skipped alone, and what waited for them fails.
func TestOverlong(t *testing.T) {
	fill := strings.Repeat(`{"a":["\"}",{"id":3}]},`, 100)
	long := []string{
		`{"id":1,"result":[` + fill + `0]}`,
		`{"result":[` + fill + `0], "id" : "1" }`,
		`{"result":"` + strings.Repeat(`\\\"{`, 300) + `","\u0069d":1}`,
		`{"error":{"message":"` + strings.Repeat("x", 1500) + `","id":2},"id":1}`,
	}
	for _, answer := range long {
		t.Run(answer[:20], func(t *testing.T) {
			var got []Skipped
			h := &recorder{}
			c, p := connect(t, Options{Handler: h, MaxLine: 1000, Skipped: func(s Skipped) { got = append(got, s) }})
			go func() {
				p.read()
				p.send(`{"method":"before"}`)
				p.send(`{"method":"big","params":"%s"}`, strings.Repeat("y", 5000))
				p.send("%s", answer)
				p.send(`{"method":"after"}`)
				p.send(`{"id":9,"method":"ask","params":[%s1]}`, fill)
				if f := p.read(); string(f.ID) != "9" || f.Error == nil || f.Error.Code != CodeInvalidRequest {
					t.Errorf("an overlong request got %+v", f)
				}
				p.out.Close()
			}()
			_, err := c.Call(t.Context(), "m", nil)
			var e *OverlongError
			if !errors.As(err, &e) || e.Size != int64(len(answer)) || e.Max != 1000 || e.Head != answer[:200] {
				t.Errorf("err = %v", err)
			}
			<-c.Done()
			if want := []string{"before", "after"}; !reflect.DeepEqual(h.seen(), want) {
				t.Errorf("handled %q", h.seen())
			}
			if len(got) != 3 || got[0].Method != "big" || got[1].Method != "" || got[2].Method != "ask" || c.Stats().TooLong != 3 {
				t.Errorf("skipped %+v", got)
			}
		})
	}
}

func TestBoundIsExact(t *testing.T) {
	for _, size := range []int{63, 64, 65} {
		line := `{"method":"m","params":"` + strings.Repeat("x", size-26) + `"}`
		for name, in := range map[string]string{"line": line + "\n", "last": line, "two": line + "\n" + line + "\n"} {
			h := &recorder{}
			listen(strings.NewReader(in), Options{Handler: h, MaxLine: 64})
			if got, want := len(h.seen()) > 0, size <= 64; got != want {
				t.Errorf("%s of %d bytes: handled %v", name, len(line), got)
			}
		}
	}
}

// The default bound takes a line of exactly 64 MiB and skips a longer one.
func TestHugeLines(t *testing.T) {
	const frame = len(`{"method":"m","params":""}`)
	huge := func(size int) io.Reader {
		fill := io.LimitReader(letters{}, int64(size-frame))
		return io.MultiReader(strings.NewReader(`{"method":"m","params":"`), fill, strings.NewReader("\"}\n"))
	}
	sizes := []int{}
	h := &recorder{each: func(m *Message) { sizes = append(sizes, len(m.Raw)); m.Params = nil }}
	c := listen(io.MultiReader(huge(DefaultMaxLine), huge(DefaultMaxLine+1), huge(1000)), Options{Handler: h})
	if !reflect.DeepEqual(sizes, []int{DefaultMaxLine, 1000}) || c.Stats().TooLong != 1 {
		t.Errorf("handled %v, %+v", sizes, c.Stats())
	}
}

type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// A burst of small updates is neither queued nor dropped.
func TestBurst(t *testing.T) {
	n := 1_000_000
	if raceEnabled || testing.Short() {
		n = 50_000
	}
	seen, bytes := 0, 0
	h := &counter{func(m *Message) {
		seen++
		text, _ := String(Path(m.Params, "update", "content", "text"))
		bytes += len(text)
	}}
	listen(&repeat{frame: update(20), n: n}, Options{Handler: h})
	if seen != n || bytes != 20*n {
		t.Errorf("%d updates, %d bytes", seen, bytes)
	}
}

type counter struct{ f func(*Message) }

func (h *counter) Notification(m *Message)      { h.f(m) }
func (h *counter) Request(*Message, Reply) bool { return false }

// repeat is a stream of n equal frames in reads of at most 64 KiB.
type repeat struct {
	frame []byte
	n     int
	rest  []byte
}

func (r *repeat) Read(b []byte) (int, error) {
	total := 0
	for b = b[:min(len(b), 64<<10)]; len(b) > 0; {
		if len(r.rest) == 0 {
			if r.n == 0 {
				break
			}
			r.n--
			r.rest = r.frame
		}
		k := copy(b, r.rest)
		b, r.rest, total = b[k:], r.rest[k:], total+k
	}
	if total == 0 {
		return 0, io.EOF
	}
	return total, nil
}

// update is a frame like an agent's message chunk with size bytes of text.
func update(size int) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`+"\n",
		bytes.Repeat([]byte("x"), size))
}

// Characters that arrive in pieces, and bytes that are none.
func TestSplitUTF8(t *testing.T) {
	in := "{\"method\":\"t\",\"params\":\"é€😀 \\ud83d\\ude00\"}\r\n{\"method\":\"t\",\"params\":\"a\xff\xc3 \\ud83d z\"}\n"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "one": iotest.OneByteReader(strings.NewReader(in)),
		"half": iotest.HalfReader(strings.NewReader(in)), "data with EOF": iotest.DataErrReader(strings.NewReader(in))} {
		var got []string
		listen(r, Options{Handler: &counter{func(m *Message) { s, _ := String(m.Params); got = append(got, s) }}})
		if want := []string{"é€😀 😀", "a\ufffd\ufffd \ufffd z"}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestReadError(t *testing.T) {
	boom := errors.New("boom")
	c := listen(io.MultiReader(strings.NewReader("{\"method\":\"m\"}\n{\"met"), iotest.ErrReader(boom)), Options{})
	if c.Err() != boom || c.Stats().NotJSON != 1 {
		t.Errorf("Err = %v, %+v", c.Err(), c.Stats())
	}
}
