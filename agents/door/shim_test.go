package door

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
)

// case 38: what is no address of a door, and no key.
var notAddresses = map[string]string{
	"empty":             "",
	"localhost":         "http://localhost:8000/mcp",
	"no port":           "http://127.0.0.1/mcp",
	"empty port":        "http://127.0.0.1:/mcp",
	"port 0":            "http://127.0.0.1:0/mcp",
	"port 65536":        "http://127.0.0.1:65536/mcp",
	"port 99999":        "http://127.0.0.1:99999/mcp",
	"port with a sign":  "http://127.0.0.1:+8000/mcp",
	"port with zeros":   "http://127.0.0.1:08000/mcp",
	"port in hex":       "http://127.0.0.1:0x1f/mcp",
	"other path":        "http://127.0.0.1:8000/other",
	"no path":           "http://127.0.0.1:8000",
	"path below":        "http://127.0.0.1:8000/mcp/x",
	"slash at the end":  "http://127.0.0.1:8000/mcp/",
	"two slashes":       "http://127.0.0.1:8000//mcp",
	"https":             "https://127.0.0.1:8000/mcp",
	"upper case":        "HTTP://127.0.0.1:8000/mcp",
	"query":             "http://127.0.0.1:8000/mcp?a=b",
	"fragment":          "http://127.0.0.1:8000/mcp#a",
	"line end":          "http://127.0.0.1:8000/mcp\n",
	"space":             " http://127.0.0.1:8000/mcp",
	"other host":        "http://example.com:8000/mcp",
	"other loopback":    "http://127.0.0.2:8000/mcp",
	"IPv6":              "http://[::1]:8000/mcp",
	"short host":        "http://127.1:8000/mcp",
	"person":            "http://127.0.0.1:8000@example.com:80/mcp",
	"person in front":   "http://a@127.0.0.1:8000/mcp",
	"host behind":       "http://127.0.0.1:8000.example.com/mcp",
	"long":              "http://127.0.0.1:8000/mcp" + strings.Repeat("x", 10000),
	"no URL":            "127.0.0.1:8000/mcp",
	"full-width digits": "http://127.0.0.1:８０/mcp",
}

func refusedStart(t *testing.T, address, key string) {
	t.Helper()
	var stdout, stderr strings.Builder
	code := ShimMain(t.Context(), address, key, failingReader{t}, &stdout, &stderr)
	if code != 2 || stdout.String() != "" {
		t.Errorf("exit code %d, stdout %q", code, stdout.String())
	}
	if line := stderr.String(); strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") || len(line) > 400 || key != "" && strings.Contains(line, key) {
		t.Errorf("stderr is not one short line without the key: %q", line)
	}
}

// failingReader is a stdin that must not be read.
type failingReader struct{ t *testing.T }

func (r failingReader) Read([]byte) (int, error) {
	r.t.Error("stdin was read")
	return 0, io.EOF
}

func TestShimRefusesOtherAddresses(t *testing.T) {
	for name, address := range notAddresses {
		t.Run(name, func(t *testing.T) { refusedStart(t, address, "the-key") })
	}
}

// With an address that something listens at: it must see no connection.
func TestShimRefusesKeys(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{"empty": "", "two lines": "a\r\nX: y", "space": "a b", "not ASCII": "ключ"} {
		t.Run(name, func(t *testing.T) { refusedStart(t, "http://"+listener.Addr().String()+"/mcp", key) })
	}
	if err := listener.(*net.TCPListener).SetDeadline(time.Now()); err != nil {
		t.Fatal(err)
	}
	if c, err := listener.Accept(); err == nil {
		c.Close()
		t.Error("there was a connection")
	}
}

func TestAddressesOfDoors(t *testing.T) {
	for _, port := range []string{"1", "80", "8000", "65535"} {
		if err := checkAddress("http://127.0.0.1:" + port + "/mcp"); err != nil {
			t.Error(err)
		}
	}
}

// running is a shim at work.
type running struct {
	t     *testing.T
	in    *io.PipeWriter
	out   chan string // its lines; closed at its end
	ended chan int
}

func startShim(t *testing.T, address, key string) *running {
	t.Helper()
	stdin, in := io.Pipe()
	stdout, out := io.Pipe()
	s := &running{t: t, in: in, out: make(chan string, 100), ended: make(chan int, 1)}
	go func() {
		s.ended <- ShimMain(context.Background(), address, key, stdin, out, io.Discard)
		out.Close()
	}()
	go func() {
		defer close(s.out)
		lines := bufio.NewReader(stdout)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			s.out <- line
		}
	}()
	t.Cleanup(func() {
		in.Close()
		for range s.out {
			continue
		}
	})
	return s
}

func (o *opened) shim() *running {
	s := o.pass.Shim()
	return startShim(o.t, s.Env[0].Value, s.Env[1].Value)
}

func (s *running) send(lines ...string) {
	s.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(s.in, l+"\n"); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *running) want(parts ...string) string {
	s.t.Helper()
	line := next(s.t, "an answer", s.out)
	if !json.Valid([]byte(line)) || strings.Count(line, "\n") != 1 {
		s.t.Errorf("not one line of JSON: %q", line)
	}
	for _, part := range parts {
		if !strings.Contains(line, part) {
			s.t.Errorf("no %s in %s", part, line)
		}
	}
	return line
}

func TestShimCarries(t *testing.T) {
	o := open(t, echo, review, ask)
	s := o.shim()
	s.send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	s.want(`"id":0`, `"protocolVersion":"2025-06-18"`, `"instructions":"Use the tools."`)
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", "  "+listBody+"\r")
	s.want(`"id":1`, `"name":"review"`, `"name":"ask"`)
	s.send(callBody(2, "review", `{"file":"a\nb"}`))
	s.want(`"id":2`, `review {\"file\":\"a\\nb\"}`)
	s.send(callBody(3, "review", `{}`))
	s.want(`"id":3`, `"isError":true`)
	s.send(`{"jsonrpc":"2.0","id":"x","method":"prompts/list"}`)
	s.want(`"id":"x"`, `-32601`)
	s.in.Close()
	if code := next(t, "the end", s.ended); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestShimAnswersBadLines(t *testing.T) {
	o := open(t, echo, review)
	s := o.shim()
	for line, want := range map[string]string{
		"{": "-32700", "hello": "-32700", listBody + " x": "-32700", "\x00": "-32700", "\xff": "-32700",
		"[" + listBody + "]": "-32600", `7`: "-32600", `{"id":true,"method":"ping"}`: "-32600", `{"id":1,"method":{}}`: "-32600",
	} {
		s.send(line)
		s.want(`"id":null`, `"code":`+want)
	}
	s.send(listBody) // it lives
	s.want(`"id":1`)
}

func TestShimBigLines(t *testing.T) {
	o := open(t, echo, review)
	s := o.shim()
	s.send(callBody(1, "review", `{"file":"`+strings.Repeat("x", maxBody)+`"}`))
	s.want(`"id":1`, `the message is over 4 MiB`)
	s.send(strings.Repeat("x", maxLine) + "x")
	s.want(`"id":null`, `-32700`, "over 64 MiB")
	s.send(callBody(2, "review", `{"file":"`+strings.Repeat("x", 2<<20)+`"}`))
	if line := s.want(`"id":2`); len(line) < 2<<20 {
		t.Errorf("an answer of %d bytes", len(line))
	}
}

func TestShimSlowCallsDelayNoOther(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	s := o.shim()
	s.send(callBody(1, "review", `{"file":"a"}`))
	next(t, "the slow call", h.began)
	s.send(callBody(1, "review", `{"file":"b"}`))
	s.want(`"id":1`, "under way")
	s.send(strings.Replace(listBody, `"id":1`, `"id":2`, 1))
	s.want(`"id":2`, `"tools"`)
	close(h.leave)
	s.want(`"id":1`, "done")
	s.send(callBody(1, "review", `{"file":"c"}`)) // the id is free again
	s.want(`"id":1`, "done")
}

func TestShimPassesCancellationOn(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	s := o.shim()
	s.send(callBody(1, "review", `{"file":"a"}`), callBody(2, "review", `{"file":"b"}`))
	next(t, "a call", h.began)
	next(t, "a call", h.began)
	s.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	next(t, "the end of one", h.ended)
	close(h.leave)
	s.want(`"id":2`, "done") // and nothing for 1
	s.send(listBody)
	s.want(`"id":1`, `"tools"`)
}

func TestShimEndsWithStdin(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	s := o.shim()
	s.send(callBody(1, "review", `{"file":"a"}`))
	next(t, "the call", h.began)
	s.in.Close()
	if code := next(t, "the end", s.ended); code != 0 {
		t.Errorf("exit code %d", code)
	}
	next(t, "the end of the call", h.ended)
}

func TestShimEndsWhenNobodyReads(t *testing.T) {
	o := open(t, echo, review)
	in, stdin := io.Pipe()
	out, stdout := io.Pipe()
	out.Close()
	ended := make(chan int, 1)
	env := o.pass.Shim().Env
	go func() { ended <- ShimMain(context.Background(), env[0].Value, env[1].Value, in, stdout, io.Discard) }()
	if _, err := io.WriteString(stdin, "{\n"); err != nil {
		t.Fatal(err)
	}
	if code := next(t, "the end", ended); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestShimRefusedKey(t *testing.T) {
	o := open(t, echo, review)
	env := o.pass.Shim().Env
	s := startShim(t, env[0].Value, "wrong")
	s.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":"a","method":"ping"}`)
	s.want(`"id":"a"`, `"error"`, "HTTP 401")
	mine := o.shim()
	o.pass.Revoke()
	mine.send(listBody)
	mine.want(`"id":1`, `"error"`, "HTTP 401")
	_ = o.door.Close(context.Background())
	mine.send(listBody)
	mine.want(`"id":1`, `"error"`, "the workflow cannot be reached")
}

// What answers at the address instead of the door.
func TestShimAndOthers(t *testing.T) {
	seen := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { seen <- "redirected" }))
	defer other.Close()
	bodies := map[string]func(w http.ResponseWriter){
		"redirect":   func(w http.ResponseWriter) { w.Header().Set("Location", other.URL+"/mcp"); w.WriteHeader(307) },
		"text":       func(w http.ResponseWriter) { fmt.Fprint(w, "hello") },
		"another id": func(w http.ResponseWriter) { fmt.Fprint(w, `{"jsonrpc":"2.0","id":2,"result":{}}`) },
		"not an answer": func(w http.ResponseWriter) {
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage"}`)
		},
		"accepted": func(w http.ResponseWriter) { w.WriteHeader(202) },
		"cut":      func(w http.ResponseWriter) { w.Header().Set("Content-Length", "99"); fmt.Fprint(w, "{") },
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer k" || r.URL.Path != "/mcp" {
					t.Errorf("asked %s with %v", r.URL, r.Header)
				}
				body(w)
			}))
			defer server.Close()
			s := startShim(t, server.URL+"/mcp", "k")
			s.send(listBody)
			s.want(`"id":1`, `"error":{"code":-32000`)
		})
	}
	if len(seen) > 0 {
		t.Error("a redirect was followed")
	}
}

func TestShimUsesNoProxy(t *testing.T) {
	for _, name := range []string{"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:1") // nothing listens there
	}
	s := newShim(t.Context(), "http://127.0.0.1:8000/mcp", "k", io.Discard)
	if s.client.Transport.(*http.Transport).Proxy != nil { // net/http never asks a proxy for loopback, unless told so
		t.Error("the shim may use a proxy")
	}
	o := open(t, echo, review)
	sh := o.shim()
	sh.send(listBody)
	sh.want(`"tools"`)
}

func TestShimAnswersAfterSigns(t *testing.T) {
	h := newHeld()
	o := open(t, h.call, review)
	o.door.sign = time.Millisecond
	s := o.shim()
	s.send(callBody(1, "review", `{"file":"a"}`))
	next(t, "the call", h.began)
	time.Sleep(20 * time.Millisecond) // some signs go by; the answer is the same without
	close(h.leave)
	s.want(`"id":1`, "done")
}

var _ runtime.Pass = (*pass)(nil)
