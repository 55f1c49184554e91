package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
)

// Bounds of one fetch.
const (
	maxFetched   = 16 << 20 // bytes of the body
	maxRedirects = 10
	answerLimit  = 60 * time.Second // to the first line of an answer
)

// fetch runs one <Fetch>. In place it renders the body; bound, it is {status, headers, body}, whatever the status.
func (r *Runner) fetch(ctx context.Context, n *plan.Fetch, at place, out layout.Sink) error {
	req, err := at.request(ctx, n)
	if err != nil {
		return err
	}
	limit, err := at.duration(n.TimeoutMS, n.Timeout, n.Step)
	if err != nil {
		return err
	}
	v, err := r.effect(ctx, at, n.Step, "fetch", r.inputOf(req.Method, req.URL.String(), req.Header), func() (any, error) {
		got, err := fetched(req, limit)
		if err != nil {
			return nil, err
		}
		if n.As == "" && (got.status < 200 || got.status > 299) {
			return nil, Errorf(KindFailed, "%s %s was answered with %d %s%s; with as=\"…\" that is data", req.Method, req.URL.Redacted(), got.status, http.StatusText(got.status), got.hint())
		}
		return map[string]any{"status": int64(got.status), "headers": got.headers, "body": got.body}, nil
	})
	if err != nil {
		return err
	}
	if n.As != "" {
		at.vars.set(n.As, v)
		return nil
	}
	return out.Value(v.(map[string]any)["body"].(string))
}

// request makes the request out of the attributes.
func (at place) request(ctx context.Context, n *plan.Fetch) (*http.Request, error) {
	text, err := at.text(n.URL, n.Step, "url")
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, at.wrong(n.URL, n.Step, "url must be an http or https address, is %q", text)
	}
	req, err := http.NewRequestWithContext(ctx, orWord(n.Method, http.MethodGet), u.String(), nil)
	if err != nil {
		return nil, at.wrong(n.URL, n.Step, "the request cannot be made: %w", err)
	}
	req.Header.Set("User-Agent", "xmd")
	return req, at.headers(n, req)
}

// headers puts the author's headers into the request.
func (at place) headers(n *plan.Fetch, req *http.Request) error {
	if !n.Headers.Given {
		return nil
	}
	v, err := at.value(n.Headers, n.Step)
	if err != nil {
		return err
	}
	given, ok := v.(map[string]any)
	if !ok {
		return at.wrong(n.Headers, n.Step, "headers must be an object of strings, is %s", expr.KindName(v))
	}
	for _, name := range expr.Keys(given) {
		text, ok := given[name].(string)
		if !ok {
			return at.wrong(n.Headers, n.Step, "the header %s must be a string, is %s", name, expr.KindName(given[name]))
		}
		if strings.ContainsFunc(text, func(c rune) bool { return (c < ' ' && c != '\t') || c == 0x7f }) {
			return at.wrong(n.Headers, n.Step, "the header %s holds a line end or another control character, which no header can", name)
		}
		if name == "" || strings.ContainsFunc(name, notOfHeaderName) {
			return at.wrong(n.Headers, n.Step, "%q is no name of a header", name)
		}
		if strings.EqualFold(name, "Host") {
			req.Host = text
			continue
		}
		req.Header.Set(name, text)
	}
	return nil
}

// notOfHeaderName says of a character that no header's name holds it (RFC 9110, token).
func notOfHeaderName(c rune) bool {
	letter := (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
	return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
}

// answered is the answer to a request.
type answered struct {
	status  int
	headers map[string]any // by lower-case name; several of one name are joined by ", "
	body    string
}

// hint is the first line of a short body, which often says why.
func (a answered) hint() string {
	line, _, _ := strings.Cut(strings.TrimSpace(a.body), "\n")
	if line == "" || len(line) > 200 || strings.HasPrefix(line, "<") {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.TrimSpace(line))
}

// fetched sends the request and reads the whole answer.
func fetched(req *http.Request, limit time.Duration) (answered, error) {
	ctx := req.Context()
	if limit > 0 {
		var stop context.CancelFunc
		cause := Errorf(KindTimeout, "%s %s took longer than its timeout of %s", req.Method, req.URL.Redacted(), limit)
		ctx, stop = context.WithTimeoutCause(ctx, limit, cause)
		defer stop()
	}
	a, err := exchange(req.WithContext(ctx))
	if err == nil {
		return a, nil
	}
	if ctx.Err() != nil {
		return a, asError(context.Cause(ctx))
	}
	var ours *Error
	if errors.As(err, &ours) {
		return a, ours
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err // the rest of its text is the method and the address again
	}
	e := Errorf(KindFailed, "%s %s failed: %w", req.Method, req.URL.Redacted(), err)
	e.Retryable = true
	return a, e
}

func exchange(req *http.Request) (answered, error) {
	client := http.Client{Transport: transport(), CheckRedirect: redirected}
	res, err := client.Do(req)
	if err != nil {
		return answered{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxFetched+1))
	switch {
	case err != nil:
		return answered{}, err
	case len(body) > maxFetched:
		return answered{}, Errorf(KindFailed, "the body of %s is larger than %d MiB, which is all that Fetch takes; use an exec block", req.URL.Redacted(), maxFetched>>20)
	case !utf8.Valid(body):
		return answered{}, Errorf(KindFailed, "the body of %s is not UTF-8 text (%s); use an exec block", req.URL.Redacted(), orWord(res.Header.Get("Content-Type"), "no content type"))
	}
	a := answered{status: res.StatusCode, headers: map[string]any{}, body: string(body)}
	for name, values := range res.Header {
		a.headers[strings.ToLower(name)] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	return a, nil
}

// redirected looks at each redirect: not too many, never from https to http, and the author's headers, which may hold a key, go to
// the host they were written for only.
func redirected(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > maxRedirects:
		return Errorf(KindFailed, "%s redirects more than %d times", first.URL.Redacted(), maxRedirects)
	case first.URL.Scheme == "https" && req.URL.Scheme != "https":
		return Errorf(KindFailed, "%s redirects to %s, which is not https", first.URL.Redacted(), req.URL.Redacted())
	case !strings.EqualFold(req.URL.Host, first.URL.Host):
		req.Header = http.Header{"User-Agent": {"xmd"}}
	}
	return nil
}

// transport is made at the first fetch. There is no jar anywhere: cookies are neither kept nor sent.
var transport = sync.OnceValue(func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = answerLimit
	return t
})
