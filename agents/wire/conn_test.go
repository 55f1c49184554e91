package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestFramesAsSent(t *testing.T) {
	cases := []struct {
		name string
		o    Options
		send func(c *Conn)
		want string
	}{
		{"call", Options{}, func(c *Conn) { c.Start("a/b", map[string]any{"x": "<&>\n"}) },
			`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{"x":"<&>\n"}}`},
		{"call without params", Options{}, func(c *Conn) { c.Start("a", nil) }, `{"jsonrpc":"2.0","id":1,"method":"a"}`},
		{"call without version", Options{NoVersion: true}, func(c *Conn) { c.Start("a", struct{}{}) },
			`{"id":1,"method":"a","params":{}}`},
		{"raw params lose their newlines", Options{}, func(c *Conn) { c.Notify("n", json.RawMessage("{\n \"a\": 1}")) },
			`{"jsonrpc":"2.0","method":"n","params":{"a":1}}`},
		{"notification without version", Options{NoVersion: true}, func(c *Conn) { c.Notify("initialized", nil) },
			`{"method":"initialized"}`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			c, p := connect(t, tc.o)
			tc.send(c)
			if got := p.line(); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestParamsThatCannotBeSent(t *testing.T) {
	c, p := connect(t, Options{})
	if _, err := c.Call(t.Context(), "m", func() {}); err == nil || !strings.HasPrefix(err.Error(), "m: cannot be sent as JSON") {
		t.Errorf("err = %v", err)
	}
	go c.Call(t.Context(), "next", nil)
	if f := p.read(); f.Method != "next" {
		t.Errorf("the agent got %+v", f)
	}
}

func TestAnswers(t *testing.T) {
	long := strings.Repeat("é", 400)
	cases := []struct{ answer, want, err string }{
		{`{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}`, `{"a":[1,2]}`, ""},
		{`{"id":1,"result":null}`, `null`, ""},
		{`{"id":1}`, `null`, ""},
		{`{"id":"1","result":7}`, `7`, ""},
		{`{"result":7,"id":1.0}`, `7`, ""},
		{`  {"\u0069d":1,"result":"x"}` + "\r", `"x"`, ""},
		{`{"id":1,"error":null,"result":{}}`, `{}`, ""},
		{`{"id":1,"error":{"code":-32600,"message":"no"}}`, ``, "m: no (code -32600)"},
		{`{"id":1,"error":{"code":"-32603","message":"a\nb","data":{"k":1}}}`, ``, "m: a b (code -32603)"},
		{`{"id":1,"error":{"code":{"x":1},"message":7}}`, ``, "m: 7"},
		{`{"id":1,"error":{"code":1e99}}`, ``, "m: error without a message"},
		{`{"id":1,"error":"boom"}`, ``, "m: boom"},
		{`{"id":1,"error":{"code":1,"message":"` + long + `"}}`, ``, "m: " + strings.Repeat("é", 150) + "… (code 1)"},
	}
	for _, tc := range cases {
		t.Run(tc.answer[:min(50, len(tc.answer))], func(t *testing.T) {
			c, p := connect(t, Options{})
			go func() { p.read(); p.send("%s", tc.answer) }()
			got, err := c.Call(t.Context(), "m", nil)
			if string(got) != tc.want || fmt.Sprint(err) != orNil(tc.err) {
				t.Errorf("got %s, %v", got, err)
			}
			if e := (*Error)(nil); tc.err != "" && !errors.As(err, &e) {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

func orNil(s string) string {
	if s == "" {
		return "<nil>"
	}
	return s
}

// Requests and notifications reach the handler in wire order, and the call returns
// only when all that came before its answer has been handled.
func TestOrder(t *testing.T) {
	h := &recorder{answer: func(m *Message, r Reply) bool { go r(m.Params, nil); return true }}
	c, p := connect(t, Options{Handler: h})
	var want []string
	go func() {
		id := p.read().ID
		for i := range 300 {
			if i%10 == 3 {
				p.send(`{"id":%d,"method":"ask","params":[%d]}`, i, i)
				if f := p.read(); string(f.ID) != fmt.Sprint(i) || string(f.Result) != fmt.Sprintf("[%d]", i) {
					t.Errorf("reply %+v to %d", f, i)
				}
				continue
			}
			p.send(`{"method":"up","params":%d}`, i)
		}
		p.send(`{"id":%s,"result":true}`, id)
	}()
	for i := range 300 {
		if i%10 == 3 {
			want = append(want, fmt.Sprintf("ask#%d[%d]", i, i))
		} else {
			want = append(want, fmt.Sprintf("up%d", i))
		}
	}
	if _, err := c.Call(t.Context(), "m", nil); err != nil {
		t.Fatal(err)
	}
	if got := h.seen(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
}

// The agent numbers its own requests as it likes; ids are echoed as they came.
func TestServerRequests(t *testing.T) {
	h := &recorder{answer: func(m *Message, r Reply) bool {
		switch m.Method {
		case "twice":
			if err := errors.Join(r("one", nil), r("two", nil)); !errors.Is(err, errAnswered) {
				t.Errorf("second reply: %v", err)
			}
		case "bad":
			if err := r(make(chan int), nil); err == nil {
				t.Error("a channel was sent as JSON")
			}
		case "fail":
			r(nil, fmt.Errorf("wrapped: %w", &Error{Code: 5, Message: "five", Data: json.RawMessage(`{"d":1}`)}))
		case "plain":
			r(nil, errors.New("oops"))
		case "nil":
			r(nil, nil)
		default:
			return false
		}
		return true
	}}
	c, p := connect(t, Options{Handler: h})
	waiting, err := c.Start("mine", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.read()
	cases := []struct{ send, want string }{
		{`{"id":1,"method":"twice"}`, `{"jsonrpc":"2.0","id":1,"result":"one"}`},
		{`{"id":"x\u0041","method":"nil"}`, `{"jsonrpc":"2.0","id":"x\u0041","result":null}`},
		{`{"id":0,"method":"plain"}`, `{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"oops"}}`},
		{`{"id":12345678901234567890,"method":"fail"}`, `{"jsonrpc":"2.0","id":12345678901234567890,"error":{"code":5,"message":"five","data":{"d":1}}}`},
		{`{"id":2,"method":"_x/y"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"method not found: _x/y"}}`},
	}
	for _, tc := range cases {
		p.send("%s", tc.send)
		if got := p.line(); got != tc.want {
			t.Errorf("%s\ngot  %s\nwant %s", tc.send, got, tc.want)
		}
	}
	p.send(`{"id":3,"method":"bad"}`)
	if f := p.read(); f.Error == nil || f.Error.Code != CodeInternal {
		t.Errorf("a result that cannot be encoded: %+v", f)
	}
	if waiting.Answered() {
		t.Error("an agent's request 1 answered our call 1")
	}
	p.send(`{"id":1,"result":"mine"}`)
	if got, err := waiting.Wait(t.Context()); string(got) != `"mine"` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestNoHandler(t *testing.T) {
	_, p := connect(t, Options{NoVersion: true})
	p.send(`{"method":"n"}`)
	p.send(`{"id":null,"method":"n"}`)
	p.send(`{"id":4,"method":"q"}`)
	if got, want := p.line(), `{"id":4,"error":{"code":-32601,"message":"method not found: q"}}`; got != want {
		t.Errorf("got %s", got)
	}
}

// An agent that answers and exits at once has answered, however slow the handler.
func TestAnswerThenExit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &recorder{each: func(*Message) { time.Sleep(time.Millisecond) }}
		c, p := connect(t, Options{Handler: h})
		go func() {
			id := p.read().ID
			var all strings.Builder
			for i := range 200 {
				fmt.Fprintf(&all, "{\"method\":\"up\",\"params\":%d}\n", i)
			}
			fmt.Fprintf(&all, `{"id":%s,"result":"done"}`, id) // no newline either
			io.WriteString(p.out, all.String())
			p.out.Close()
			p.raw.Close()
		}()
		other, err := c.Start("other", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := other.Wait(t.Context())
		if string(got) != `"done"` || err != nil || len(h.seen()) != 200 {
			t.Errorf("got %s, %v after %d updates", got, err, len(h.seen()))
		}
		<-c.Done()
		if c.Err() != io.EOF {
			t.Errorf("Err = %v", c.Err())
		}
	})
}

func TestEndFailsCalls(t *testing.T) {
	c, p := connect(t, Options{})
	go func() { p.read(); p.out.Close() }()
	_, err := c.Call(t.Context(), "m", nil)
	if e := (*EndedError)(nil); !errors.As(err, &e) || !errors.Is(err, io.EOF) || err.Error() != "m: the agent closed the connection" {
		t.Errorf("err = %v", err)
	}
	if _, err := c.Call(t.Context(), "m", nil); !errors.Is(err, io.EOF) {
		t.Errorf("a call after the end: %v", err)
	}
	if err := c.Notify("n", nil); !errors.Is(err, io.EOF) {
		t.Errorf("a notification after the end: %v", err)
	}
}
