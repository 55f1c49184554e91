package door

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// opened is a door with one pass, and what a test looks at.
type opened struct {
	t      *testing.T
	door   *Door
	pass   *pass
	client *http.Client
}

// open makes a door with these tools, closed with the test, after which nothing of it may be left.
func open(t *testing.T, call func(context.Context, runtime.ToolUse) runtime.ToolAnswer, tools ...runtime.Tool) *opened {
	t.Helper()
	d := New(Options{Executable: "/opt/xmd"})
	o := &opened{t: t, door: d, client: &http.Client{Transport: &http.Transport{}}}
	p, err := d.Admit(runtime.Admission{Tools: tools, Instructions: "Use the tools.", Call: call})
	if err != nil {
		t.Fatal(err)
	}
	o.pass = p.(*pass)
	t.Cleanup(func() {
		o.client.CloseIdleConnections()
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
		noneLeft(t)
	})
	return o
}

// noneLeft fails if a goroutine of this package, of the SDK's or of its server stays.
func noneLeft(t *testing.T) {
	t.Helper()
	left := regexp.MustCompile(`xmd/agents/door\.\(|modelcontextprotocol|net/http\.\(\*(conn|Server)\)`)
	deadline := time.Now().Add(patience)
	for {
		var b strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&b, 2)
		stay := ""
		for g := range strings.SplitSeq(b.String(), "\n\n") {
			if left.MatchString(g) && !strings.Contains(g, "noneLeft") && !strings.Contains(g, "testing.tRunner") {
				stay = g
			}
		}
		if stay == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("a goroutine stays:\n%s", stay)
			return
		}
		time.Sleep(5 * time.Millisecond) // the runtime gives no event for the end of a goroutine
	}
}

// request is a good request of the pass's client, to be spoiled by tests.
func (o *opened) request(ctx context.Context, body string) *http.Request {
	o.t.Helper()
	s := o.pass.Server()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		o.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range s.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	return r
}

// do gives status and body.
func (o *opened) do(r *http.Request) (int, string) {
	o.t.Helper()
	response, err := o.client.Do(r)
	if err != nil {
		o.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		o.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func (o *opened) post(body string) (int, string) {
	o.t.Helper()
	return o.do(o.request(o.t.Context(), body))
}

// callBody is a tools/call.
func callBody(id int, name, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, name, args)
}

// text is the text of a tool's result; failed says that it is an error of the tool.
func toolText(t *testing.T, body string) (text string, failed bool) {
	t.Helper()
	var m struct {
		Result map[string]json.RawMessage `json:"result"`
	}
	var content []struct{ Type, Text string }
	if err := json.Unmarshal([]byte(body), &m); err != nil || json.Unmarshal(m.Result["content"], &content) != nil || len(content) != 1 {
		t.Fatalf("no result of a tool: %v\n%s", err, body)
	}
	if _, structured := m.Result["structuredContent"]; structured {
		t.Errorf("the result has structuredContent: %s", body)
	}
	return content[0].Text, string(m.Result["isError"]) == "true"
}

var (
	review = runtime.Tool{Name: "review", Description: "Reviews a file.", Timeout: 7 * time.Minute, Schema: json.RawMessage(
		`{"type":"object","properties":{"file":{"type":"string"},"lines":{"type":"integer","minimum":1}},"required":["file"],"additionalProperties":false}`)}
	ask = runtime.Tool{Name: "ask", Description: "Asks."}
)

func echo(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
	return runtime.ToolAnswer{Text: use.Name + " " + string(use.Args)}
}

const listBody = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`

func TestRefused(t *testing.T) {
	o := open(t, echo, review)
	other := New(Options{})
	theirs, err := other.Admit(runtime.Admission{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close(context.Background()) })
	key := o.pass.key
	cases := map[string]struct {
		spoil func(r *http.Request)
		want  int
	}{
		"good":                 {func(r *http.Request) {}, 200},
		"own origin":           {func(r *http.Request) { r.Header.Set("Origin", "http://"+o.pass.host) }, 403},
		"empty origin":         {func(r *http.Request) { r.Header.Set("Origin", "") }, 403},
		"null origin":          {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"localhost":            {func(r *http.Request) { r.Host = strings.Replace(o.pass.host, "127.0.0.1", "localhost", 1) }, 403},
		"other host":           {func(r *http.Request) { r.Host = "evil.example" }, 403},
		"host without port":    {func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		"other path":           {func(r *http.Request) { r.URL.Path = "/" }, 404},
		"path below":           {func(r *http.Request) { r.URL.Path = "/mcp/" }, 404},
		"query":                {func(r *http.Request) { r.URL.RawQuery = "a=b" }, 404},
		"GET":                  {func(r *http.Request) { r.Method = "GET" }, 405},
		"GET without key":      {func(r *http.Request) { r.Method = "GET"; r.Header.Del("Authorization") }, 405},
		"DELETE":               {func(r *http.Request) { r.Method = "DELETE" }, 405},
		"OPTIONS":              {func(r *http.Request) { r.Method = "OPTIONS" }, 405},
		"no key":               {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"bare key":             {func(r *http.Request) { r.Header.Set("Authorization", key) }, 401},
		"empty key":            {func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }, 401},
		"part of the key":      {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key[:63]) }, 401},
		"key and more":         {func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+key+"0") }, 401},
		"key of another door":  {func(r *http.Request) { r.Header.Set("Authorization", theirs.Server().Headers[0].Value) }, 401},
		"two keys":             {func(r *http.Request) { r.Header.Add("Authorization", "Bearer "+key) }, 401},
		"lower-case scheme":    {func(r *http.Request) { r.Header.Set("Authorization", "bearer "+key) }, 200},
		"no type":              {func(r *http.Request) { r.Header.Del("Content-Type") }, 415},
		"form":                 {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"two types":            {func(r *http.Request) { r.Header.Add("Content-Type", "application/json") }, 415},
		"charset":              {func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=UTF-8") }, 200},
		"other charset":        {func(r *http.Request) { r.Header.Set("Content-Type", "application/json; charset=latin1") }, 415},
		"packed":               {func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415},
		"accept anything":      {func(r *http.Request) { r.Header.Del("Accept") }, 200},
		"unknown old protocol": {func(r *http.Request) { r.Header.Set("Mcp-Protocol-Version", "2020-01-01") }, 400},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := o.request(t.Context(), listBody)
			c.spoil(r)
			status, body := o.do(r)
			if status != c.want {
				t.Errorf("status %d, want %d: %s", status, c.want, body)
			}
			if strings.Contains(body, key) {
				t.Errorf("the answer holds the key: %s", body)
			}
		})
	}
}

func TestBodySize(t *testing.T) {
	o := open(t, echo, review)
	padded := func(size int) string {
		body := callBody(1, "review", `{"file":"…"}`)
		return strings.Replace(body, "…", strings.Repeat("x", size-len(body)+len("…")), 1)
	}
	if status, _ := o.post(padded(maxBody)); status != 200 {
		t.Errorf("4 MiB: status %d", status)
	}
	for _, length := range []int64{0, -1} { // said, and in chunks
		r := o.request(t.Context(), padded(maxBody+1))
		if length < 0 {
			r.ContentLength = -1
		}
		if status, body := o.do(r); status != 413 {
			t.Errorf("over 4 MiB: status %d: %s", status, body)
		}
	}
}

func TestMessages(t *testing.T) {
	o := open(t, echo, review)
	cases := []struct {
		name, body string
		status     int
		want       string // part of the answer
	}{
		{"empty", "", 400, `"id":null,"error":{"code":-32700`},
		{"no JSON", "{", 400, `"code":-32700`},
		{"two values", listBody + listBody, 400, `"code":-32700`},
		{"text", `"a"`, 400, `"code":-32600`},
		{"batch", "[" + listBody + "]", 400, `"code":-32600`},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`, 400, `"code":-32600`},
		{"object as id", `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`, 400, `"code":-32600`},
		{"method is a number", `{"jsonrpc":"2.0","id":1,"method":7}`, 400, `"code":-32600`},
		{"notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, ""},
		{"unknown notification", `{"jsonrpc":"2.0","method":"what"}`, 202, ""},
		{"cancel of nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`, 202, ""},
		{"an answer", `{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ""},
		{"ping", `{"jsonrpc":"2.0","id":"p","method":"ping"}`, 200, `"id":"p","result":{}`},
		{"prompts", `{"jsonrpc":"2.0","id":3,"method":"prompts/list"}`, 200, `"id":3,"error":{"code":-32601`},
		{"newest protocol", `{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{}}`, 200, `"id":0,"error":{"code":-32601`},
		{"params are a list", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":[]}`, 200, `"code":-32602`},
		{"unknown tool", callBody(4, "delete", "{}"), 200, `"id":4,"error":{"code":-32602,"message":"unknown tool`},
		{"page two", `{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"x"}}`, 200, `"code":-32602`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if status, body := o.post(c.body); status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("status %d, want %d and %s:\n%s", status, c.status, c.want, body)
			}
		})
	}
}

func TestInitialize(t *testing.T) {
	o := open(t, echo, review)
	for asked, want := range map[string]string{"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25"} {
		status, body := o.post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + asked +
			`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
		for _, part := range []string{`"serverInfo":{"name":"xmd"`, `"instructions":"Use the tools."`, `"capabilities":{"tools":{}}`, `"protocolVersion":"` + want + `"`} {
			if status != 200 || !strings.Contains(body, part) {
				t.Errorf("%s: status %d, no %s in %s", asked, status, part, body)
			}
		}
	}
}

func TestListIsInTheOrderGiven(t *testing.T) {
	o := open(t, echo, review, ask)
	select {
	case <-o.pass.Listed():
		t.Fatal("listed before anybody asked")
	default:
	}
	_, body := o.post(listBody)
	want := `"tools":[{"description":"Reviews a file.","inputSchema":` + string(review.Schema) +
		`,"name":"review"},{"description":"Asks.","inputSchema":` + string(noArguments) + `,"name":"ask"}]`
	if !strings.Contains(body, want) {
		t.Errorf("listed as\n%s\nwant\n%s", body, want)
	}
	<-o.pass.Listed()
	o.post(listBody) // a second time is fine
}

func TestCall(t *testing.T) {
	o := open(t, func(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
		switch {
		case strings.Contains(string(use.Args), "fail"):
			return runtime.ToolAnswer{Text: "the body failed", Failed: true}
		case strings.Contains(string(use.Args), "panic"):
			panic("secret detail")
		case strings.Contains(string(use.Args), "silent"):
			return runtime.ToolAnswer{}
		}
		return runtime.ToolAnswer{Text: use.Name + string(use.Args)}
	}, review, ask)
	cases := []struct {
		tool, args, want string
		failed           bool
	}{
		{"review", `{"file":"a.go"}`, `review{"file":"a.go"}`, false},
		{"review", `{"file":"<&> 😀 \u0000"}`, `review{"file":"<&> 😀 \u0000"}`, false},
		{"review", `{"file":"fail"}`, "the body failed", true},
		{"review", `{"file":"panic"}`, "the tool review broke down in the workflow; calling it again is of no use", true},
		{"review", `{"file":"silent"}`, "", false},
		{"review", `{"lines":0}`, "the arguments do not fit the schema of review; correct them and call it again:\n" +
			"the value: \"file\" is missing\nlines: must be at least 1, is 0", true},
		{"review", `{"file":"a","line":3}`, "", true},
		{"review", `null`, "", true},
		{"review", `[]`, "", true},
		{"ask", `null`, "ask{}", false},
		{"ask", `{"x":1}`, "", true},
	}
	for _, c := range cases {
		status, body := o.post(callBody(1, c.tool, c.args))
		text, failed := toolText(t, body)
		if status != 200 || failed != c.failed || c.want != "" && text != c.want {
			t.Errorf("%s %s: status %d, failed %v, text\n%s", c.tool, c.args, status, failed, text)
		}
		if strings.Contains(body, "secret detail") {
			t.Errorf("what a panic says went out: %s", body)
		}
	}
}

// What an agent says of its own call reaches the runtime.
func TestMetaOfACall(t *testing.T) {
	o := open(t, func(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
		return runtime.ToolAnswer{Text: string(use.Meta)}
	}, ask)
	_, body := o.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":{"claudecode/toolUseId":"toolu_1","progressToken":2}}}`)
	if text, _ := toolText(t, body); text != `{"claudecode/toolUseId":"toolu_1","progressToken":2}` {
		t.Error(text)
	}
	_, body = o.post(callBody(1, "ask", "{}"))
	if text, _ := toolText(t, body); text != "" {
		t.Error(text)
	}
}

func TestNobodyAnswers(t *testing.T) {
	o := open(t, nil, review)
	_, body := o.post(callBody(1, "review", `{"file":"a"}`))
	if text, failed := toolText(t, body); !failed || text != "the workflow does not answer review" {
		t.Errorf("%v %s", failed, text)
	}
}
