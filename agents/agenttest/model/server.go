package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is a running scripted model. Its methods may be called from any
// goroutine. Make one with Start; end it with Close.
type Server struct {
	url    string
	http   *http.Server
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	counted []Request
	hidden  []Request
	strays  []string
	changed chan struct{} // closed and replaced whenever a request is recorded
}

// Start listens on a free port of the loopback address and serves until Close.
func Start() (*Server, error) { return StartAt("127.0.0.1:0") }

// StartAt is Start on a given loopback address, for a run that has to find
// the model where an earlier one left it.
func StartAt(addr string) (*Server, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		url: "http://" + ln.Addr().String(), ctx: ctx, cancel: cancel,
		changed: make(chan struct{}),
	}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(ln) }() // ends with Close
	return s, nil
}

// URL is the server's root, without a trailing slash: what Claude takes as
// ANTHROPIC_BASE_URL. Codex takes URL()+"/v1".
func (s *Server) URL() string { return s.url }

// Close ends the server and every request in it, hanging ones too.
func (s *Server) Close() error {
	s.cancel()
	return s.http.Close()
}

// Requests are the counted requests so far, oldest first: those that carry a
// person's conversation. The slice is the caller's; its contents are shared
// and must not be changed.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.counted...)
}

// Hidden are the requests an agent made on its own account.
func (s *Server) Hidden() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.hidden...)
}

// Strays are the method and path of requests to addresses the server does not
// have; they were answered 404.
func (s *Server) Strays() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.strays...)
}

// Await returns the first n counted requests once there are so many, or the
// context's error. A request is recorded before its answer begins, so a test
// that awaits a hanging or slow prompt knows that the turn is running.
func (s *Server) Await(ctx context.Context, n int) ([]Request, error) {
	for {
		s.mu.Lock()
		got, changed := append([]Request(nil), s.counted...), s.changed
		s.mu.Unlock()
		if len(got) >= n {
			return got[:n], nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return got, fmt.Errorf("the model saw %d of %d requests: %w", len(got), n, ctx.Err())
		}
	}
}

func (s *Server) record(r Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Hidden {
		s.hidden = append(s.hidden, r)
		return
	}
	s.counted = append(s.counted, r)
	close(s.changed)
	s.changed = make(chan struct{})
}

// routes is the one list of addresses; a further provider is a further
// dialect and a line here.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/responses", s.serve(responses{}))
	mux.Handle("POST /v1/messages", s.serve(messages{}))
	mux.Handle("POST /v1/chat/completions", s.serve(chat{}))
	// Grok asks which models there are and speaks Chat Completions to one that is listed, else, below /v1, Responses to one of its own.
	mux.HandleFunc("GET /xai/v1/models", listModels)
	mux.Handle("POST /xai/v1/chat/completions", s.serve(chat{}))
	mux.HandleFunc("POST /v1/messages/count_tokens", countTokens)
	mux.Handle("POST /v1beta/models/{call}", s.serveGemini())
	mux.HandleFunc("/", s.stray)
	return mux
}

// stray answers what the server has no address for.
func (s *Server) stray(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.strays = append(s.strays, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	http.NotFound(w, r)
}

// maxRequest bounds what is read of one request.
const maxRequest = 256 << 20

func (s *Server) serve(d dialect) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
		if err != nil {
			return // the agent went away
		}
		req, err := d.parse(body)
		if err != nil {
			d.refuse(w, http.StatusBadRequest, "the scripted model cannot read this: "+err.Error())
			return
		}
		req.Raw = body
		p := plan(req)
		s.record(req)
		if p.status != 0 {
			d.refuse(w, p.status, fmt.Sprintf("scripted failure %d", p.status))
			return
		}
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		defer context.AfterFunc(s.ctx, stop)()
		s.answer(ctx, w, d, req, p)
	})
}

// answer writes the reply; a reply that may not be complete ends by breaking
// the connection, which is how a real one ends early.
func (s *Server) answer(ctx context.Context, w http.ResponseWriter, d dialect, req Request, p reply) {
	out := newStream(ctx, w, req.Stream)
	if err := d.write(out, req, p); err != nil {
		if !errors.Is(err, errIncomplete) {
			return
		}
		panic(http.ErrAbortHandler)
	}
}
