package door

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"xmd/runtime"
)

var seeds = []string{
	"", "{", "null", "[]", "7", `"x"`, listBody, "[" + listBody + "]", listBody + listBody, callBody(1, "review", `{"file":"a"}`),
	callBody(1, "review", `{"lines":1e999}`), callBody(1, "review", "null"), callBody(1, "ask", `{"a":{"a":{"a":[1,2,{}]}}}`),
	`{"jsonrpc":"2.0","id":1e3,"method":"tools/call","params":{}}`, `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
	`{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"review","arguments":"x"}}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","id":2}`, `{"JSONRPC":"2.0","ID":1,"Method":"tools/list"}`,
	`{"jsonrpc":"1.0","id":1,"method":"tools/list"}`, `{"id":1,"method":"initialize"}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`,
	`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`,
	`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
}

// FuzzMessage: whatever the body, the door answers, what is called fits the schema, and an answer is one JSON-RPC message.
func FuzzMessage(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	d := New(Options{})
	tools, err := newToolset([]runtime.Tool{review, ask})
	if err != nil {
		f.Fatal(err)
	}
	made, err := newPass(d, runtime.Admission{Tools: []runtime.Tool{review, ask}, Call: func(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
		if _, err := tools.check(use.Name, use.Args); err != nil || len(use.Args) == 0 {
			panic("the arguments do not fit")
		}
		return runtime.ToolAnswer{Text: "called"}
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, path, nil)
		r.Header.Set("Content-Type", "application/json")
		made.message(w, r, body)
		if strings.Contains(w.Body.String(), "broke down") {
			t.Fatalf("called with arguments that do not fit: %s", body)
		}
		if w.Header().Get("Content-Type") == "application/json" && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("no JSON: %s", w.Body)
		}
		if w.Code != 200 && w.Code != 202 && w.Code != 400 {
			t.Fatalf("status %d for %s", w.Code, body)
		}
		if len(made.inFlight) != 0 {
			t.Fatalf("a call stays in flight after %s", body)
		}
	})
}

// FuzzShim: whatever the client writes, each line it gets is one JSON-RPC answer, and the shim ends with stdin.
func FuzzShim(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s + "\n" + listBody + "\n"))
	}
	f.Add([]byte(strings.Join(seeds, "\n")))
	d := New(Options{})
	p, err := d.Admit(runtime.Admission{Tools: []runtime.Tool{review, ask}, Call: echo})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = d.Close(context.Background()) })
	env := p.Shim().Env
	f.Fuzz(func(t *testing.T, stdin []byte) {
		var out, stderr bytes.Buffer
		if code := ShimMain(t.Context(), env[0].Value, env[1].Value, bytes.NewReader(stdin), &out, &stderr); code != 0 || stderr.Len() > 0 {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		lines := bufio.NewScanner(&out)
		for lines.Scan() {
			var m struct {
				ID            json.RawMessage
				Result, Error json.RawMessage
			}
			if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil || (m.Result == nil) == (m.Error == nil) {
				t.Fatalf("not an answer: %s", lines.Bytes())
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzRequest: bytes that are no HTTP, or HTTP of others, never reach a call without the key.
func FuzzRequest(f *testing.F) {
	call := callBody(1, "ask", "{}")
	for _, s := range []string{
		"GET /mcp HTTP/1.1\r\nHost: HOST\r\n\r\n", "POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Length: 2\r\n\r\n{}", "\x16\x03\x01", "POST",
		"POST http://HOST/mcp HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{}}",
		"POST /mcp HTTP/1.0\r\nAuthorization: Bearer 00\r\nContent-Type: application/json\r\n\r\n" + call,
		"POST /mcp HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n0\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	d := New(Options{})
	called := false
	p, err := d.Admit(runtime.Admission{Tools: []runtime.Tool{ask}, Call: func(context.Context, runtime.ToolUse) runtime.ToolAnswer {
		called = true
		return runtime.ToolAnswer{}
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = d.Close(context.Background()) })
	host := p.(*pass).host
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(bytes.ReplaceAll(raw, []byte("HOST"), []byte(host)))))
		if err != nil {
			return
		}
		w := httptest.NewRecorder()
		d.serve(w, r)
		if called || w.Code < 400 || w.Code >= 500 {
			t.Fatalf("let in with status %d", w.Code)
		}
		_, _ = io.Copy(io.Discard, r.Body)
	})
}
