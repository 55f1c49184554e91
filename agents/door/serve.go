package door

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// methods are the requests of a server that has tools and nothing else.
var methods = map[string]bool{"initialize": true, "ping": true, "tools/list": true, "tools/call": true}

// serve is every request to the address.
func (d *Door) serve(w http.ResponseWriter, r *http.Request) {
	if !d.entered() {
		sendAway(w, errClosed.Error(), http.StatusServiceUnavailable)
		return
	}
	defer d.requests.Done()
	if status, reason := refused(r, d.address()); status != 0 {
		if status == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodPost)
		}
		sendAway(w, reason, status)
		return
	}
	p := d.holder(bearer(r))
	if p == nil {
		w.Header().Set("WWW-Authenticate", "Bearer")
		sendAway(w, "the key is missing, wrong or no longer valid", http.StatusUnauthorized)
		return
	}
	if !isJSON(r.Header) {
		http.Error(w, "the body must be application/json in UTF-8", http.StatusUnsupportedMediaType)
		return
	}
	body, err := d.body(w, r)
	switch tooBig := new(http.MaxBytesError); {
	case errors.As(err, &tooBig):
		http.Error(w, "the body is over 4 MiB", http.StatusRequestEntityTooLarge)
	case errors.Is(err, os.ErrDeadlineExceeded):
		sendAway(w, "the body did not come", http.StatusRequestTimeout)
	case err == nil:
		p.message(w, r, body)
	} // else the client is gone
}

// body reads what a client with a key sends, which takes a moment on loopback.
func (d *Door) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	limit := http.NewResponseController(w)
	_ = limit.SetReadDeadline(time.Now().Add(d.bodyWait)) // a connection that has none is a test's
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		_ = limit.SetReadDeadline(time.Time{}) // the end of the client is seen by reading on
	}
	return body, err
}

// sendAway answers somebody who has no business here. The connection is closed: else who has no key could hold any number of them, with a
// body that never comes or with a next request that never begins.
func sendAway(w http.ResponseWriter, reason string, status int) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(turnAway)) // a connection that has none is a test's
	http.Error(w, reason, status)
}

func (d *Door) address() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.host
}

// refused says why a request is not for the door at all, before anything else of it is looked at; 0: it may be.
func refused(r *http.Request, host string) (status int, reason string) {
	switch {
	case r.Host != host:
		return http.StatusForbidden, "this is not the host that was asked for"
	case len(r.Header.Values("Origin")) > 0:
		return http.StatusForbidden, "browsers have no business here"
	case r.RequestURI != path:
		return http.StatusNotFound, "there is only " + path
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "only POST: nothing is streamed here"
	}
	return 0, ""
}

// bearer is the key that a request brings; "" unless it brings exactly one.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, key, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return key
}

func isJSON(h http.Header) bool {
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, given := params["charset"]
	return err == nil && kind == "application/json" && len(h.Values("Content-Type")) == 1 && h.Get("Content-Encoding") == "" &&
		(!given || strings.EqualFold(charset, "utf-8"))
}

// envelope is what the door itself looks at in a message.
type envelope struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
}

// message takes one JSON-RPC message of the pass's client.
func (p *pass) message(w http.ResponseWriter, r *http.Request, body []byte) {
	var m envelope
	switch {
	case !json.Valid(body):
		writeError(w, http.StatusBadRequest, nil, codeParse, "the body is not JSON")
		return
	case bytes.TrimLeft(body, " \t\r\n")[0] != '{' || !m.read(body):
		writeError(w, http.StatusBadRequest, nil, codeRequest, "a request is one JSON-RPC message; there are no batches")
		return
	case m.ID == nil:
		if m.Method == "notifications/cancelled" {
			p.cancel(callID(m.Params.RequestID))
		}
		w.WriteHeader(http.StatusAccepted)
		return
	case m.Method == "": // an answer, and nothing was asked
		w.WriteHeader(http.StatusAccepted)
		return
	case callID(m.ID) == "":
		writeError(w, http.StatusBadRequest, nil, codeRequest, "an id is a string or a number")
		return
	case !methods[m.Method]:
		// Not the SDK's refusal in plain text: a client that tries whether there are prompts, or a newer protocol, reads this one.
		writeError(w, http.StatusOK, m.ID, codeMethod, "there is no "+strconv.Quote(m.Method)+" here: tools only")
		return
	}
	ctx := r.Context()
	if m.Method == "tools/call" {
		c := p.begin(callID(m.ID), ctx, w)
		defer c.over()
		ctx = context.WithValue(ctx, callKey{}, c)
	}
	forwarded := r.WithContext(ctx)
	forwarded.Header = r.Header.Clone()
	forwarded.Header.Set("Accept", "application/json, text/event-stream") // the SDK wants both named, the answer is always the first
	forwarded.Body = io.NopCloser(bytes.NewReader(body))
	p.handler.ServeHTTP(w, forwarded)
}

// read decodes the message; false if it is none.
func (m *envelope) read(body []byte) bool {
	var odd *json.UnmarshalTypeError
	err := json.Unmarshal(body, m)
	// Params of another shape are the method's to judge.
	return err == nil || errors.As(err, &odd) && strings.HasPrefix(odd.Field, "params")
}

// callID is a request id in one spelling, so that an id and its mention in a cancellation are equal; "" for what is no id.
func callID(raw json.RawMessage) string {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return ""
	}
	switch v := v.(type) {
	case string:
		return "s" + v
	case json.Number:
		return "n" + v.String()
	}
	return ""
}

// The codes of JSON-RPC that the door and the shim answer with.
const (
	codeParse   = -32700
	codeRequest = -32600
	codeMethod  = -32601
	codeServer  = -32000
)

// errorMessage is a JSON-RPC error; a nil id is null.
func errorMessage(id json.RawMessage, code int, message string) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	type wrong struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	text, _ := json.Marshal(struct { // these always encode: the id was valid JSON
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   wrong           `json:"error"`
	}{"2.0", id, wrong{code, message}})
	return text
}

func writeError(w http.ResponseWriter, status int, id json.RawMessage, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorMessage(id, code, message)) // a client that is gone reads nothing
}
