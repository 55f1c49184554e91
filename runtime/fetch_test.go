package runtime_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"xmd/runtime"
)

func TestFetch(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		fmt.Fprintf(w, "key %q", req.Header.Get("X-Key"))
	}))
	defer other.Close()
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "c", Value: "1"})
		switch req.URL.Path {
		case "/text":
			fmt.Fprint(w, "line </Prompt> {v}\r\n```\n")
		case "/echo":
			fmt.Fprintf(w, "%s %s %s cookie=%q key=%q", req.Method, req.Host, req.UserAgent(), req.Header.Get("Cookie"), req.Header.Get("X-Key"))
		case "/cookie":
			http.Redirect(w, req, "/echo", http.StatusFound)
		case "/ring":
			http.Redirect(w, req, "/ring", http.StatusFound)
		case "/away":
			http.Redirect(w, req, other.URL, http.StatusFound)
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("x", 16<<20+1))
		case "/full":
			_, _ = io.WriteString(w, strings.Repeat("x", 16<<20))
		case "/binary":
			w.Header().Set("Content-Type", "image/png")
			_, _ = io.WriteString(w, "\x89PNG")
		case "/slow":
			select {
			case <-stop:
			case <-req.Context().Done():
			}
		default:
			w.Header().Set("X-Why", "no")
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "no such thing\nmore")
		}
	}))
	defer srv.Close()
	defer close(stop)
	host := strings.TrimPrefix(srv.URL, "http://")
	b := newBench(t)
	b.props = map[string]any{"u": srv.URL, "one": int64(1), "name": "a\nb", "file": "file:///etc/passwd"}
	for _, c := range []struct{ doc, out, err string }{
		{`[<Fetch url={props.u + "/text"}/>]`, "[line </Prompt> {v}\r\n```\n]", ""},
		{`<Fetch url={props.u + "/text"} as="r"/>{r.status} {r.headers["content-type"]} {r.body}`, "200 text/plain; charset=utf-8 line </Prompt> {v}\r\n```\n", ""},
		{`<Fetch url={props.u + "/echo"} headers={{"X-Key": "k"}}/>`, "GET " + host + ` xmd cookie="" key="k"`, ""},
		{`<Fetch url={props.u + "/echo"} headers={{"host": "h.example", "User-Agent": "me"}}/>`, `GET h.example me cookie="" key=""`, ""},
		{`<Fetch url={props.u + "/cookie"} headers={{"X-Key": "k"}}/>`, "GET " + host + ` xmd cookie="" key="k"`, ""},
		{`<Fetch url={props.u + "/away"} headers={{"X-Key": "k"}}/>`, `key ""`, ""},
		{`<Fetch url={props.u + "/text"} method="HEAD" as="r"/>{r.status}[{r.body}]`, "200[]", ""},
		{`a<Fetch url={props.u + "/no"}/>`, "a", "test.xmd:4:2: GET " + srv.URL + "/no was answered with 404 Not Found (no such thing)"},
		{`<Fetch url={props.u + "/no"} as="r"/>{r.status} {r.headers["x-why"]} {r.body}`, "404 no no such thing\nmore", ""},
		{`<Fetch url={props.u + "/ring"}/>`, "", "redirects more than 10 times"},
		{`<Fetch url={props.u + "/large"} as="r"/>`, "", "is larger than 16 MiB"},
		{`<Fetch url={props.u + "/full"} as="r"/><Let as="n" value={len(r.body)}/>{n}`, fmt.Sprint(16 << 20), ""},
		{`<Fetch url={props.u + "/binary"}/>`, "", "is not UTF-8 text (image/png)"},
		{`<Fetch url={props.u + "/slow"} timeout="20ms"/>`, "", "GET " + srv.URL + "/slow took longer than its timeout of 20ms"},
		{`<Fetch url={props.file}/>`, "", `url must be an http or https address, is "file:///etc/passwd"`},
		{`<Fetch url="http://127.0.0.1:1/"/>`, "", "GET http://127.0.0.1:1/ failed: dial tcp"},
		{`<Fetch url="http://me:secret@127.0.0.1:1/"/>`, "", "GET http://me:xxxxx@127.0.0.1:1/ failed"},
		{`<Fetch url={props.u} headers={{"a": props.one}}/>`, "", "the header a must be a string, is a number"},
		{`<Fetch url={props.u} headers={{"a\nb": "c"}}/>`, "", `"a\nb" is no name of a header`},
		{`<Fetch url={props.u} headers={{"a": props.name}}/>`, "", "the header a holds a line end"},
	} {
		if r := b.flow(given(c.doc, "u", "one", "name", "file")); r.out != c.out || !says(r.err, c.err) {
			t.Errorf("%s\n%.200q, %v", c.doc, r.out, r.err)
		}
	}
	if r := b.flow(given(`<Fetch url={props.u + "/slow"} timeout="20ms"/>`, "u")); runtime.KindOf(r.err) != runtime.KindTimeout {
		t.Errorf("%v", r.err)
	}
}
