package door

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"sync"
	"time"

	"xmd/runtime"
)

// Environment variables of the shim.
const (
	EnvAddress = "XMD_DOOR_ADDRESS"
	EnvKey     = "XMD_DOOR_KEY" // a secret
)

// pass is one attachment's way in.
type pass struct {
	door    *Door
	host    string // set before anybody else has the pass
	key     string
	digest  [sha256.Size]byte // of the key: what is compared has one length
	tools   *toolset
	answer  func(context.Context, runtime.ToolUse) runtime.ToolAnswer
	handler http.Handler // the MCP server

	ctx  context.Context // of its calls
	stop context.CancelCauseFunc

	listed     chan struct{}
	listedOnce sync.Once

	calls sync.WaitGroup // bodies at work; joined only through enter

	mu       sync.Mutex
	ended    bool
	inFlight map[string][]*call // by the id of the request; several clients may share a pass and count alike
}

func newPass(d *Door, a runtime.Admission) (*pass, error) {
	tools, err := newToolset(a.Tools)
	if err != nil {
		return nil, err
	}
	p := &pass{door: d, key: newKey(), tools: tools, answer: a.Call, listed: make(chan struct{}), inFlight: map[string][]*call{}}
	p.digest = sha256.Sum256([]byte(p.key))
	p.ctx, p.stop = context.WithCancelCause(context.Background()) // the attachment's own life
	p.handler = newHandler(p, a.Instructions)
	return p, nil
}

// fits says whether this is the key of the pass.
func (p *pass) fits(key string) bool {
	digest := sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(digest[:], p.digest[:]) == 1
}

// Server is the way in by address. The one header is the key.
func (p *pass) Server() runtime.MCPServer {
	return runtime.MCPServer{
		Name: runtime.DoorName, URL: "http://" + p.host + path, Headers: []runtime.Pair{{Name: "Authorization", Value: "Bearer " + p.key}},
		Timeout: p.tools.timeout, Own: true,
	}
}

// Shim is the way in by command. The value of EnvKey is the key.
func (p *pass) Shim() runtime.MCPServer {
	return runtime.MCPServer{
		Name: runtime.DoorName, Command: p.door.executable, Args: []string{ShimCommand},
		Env:     []runtime.Pair{{Name: EnvAddress, Value: "http://" + p.host + path}, {Name: EnvKey, Value: p.key}},
		Timeout: p.tools.timeout, Own: true,
	}
}

// Listed is closed with the first tools/list.
func (p *pass) Listed() <-chan struct{} { return p.listed }

func (p *pass) wasListed() { p.listedOnce.Do(func() { close(p.listed) }) }

// Revoke must not be called from a Call of the same pass: it waits for it.
func (p *pass) Revoke() {
	p.door.forget(p)
	p.end(errRevoked)
	p.calls.Wait()
}

// end refuses new calls and ends those under way, for this reason.
func (p *pass) end(cause error) {
	p.mu.Lock()
	p.ended = true
	p.mu.Unlock()
	p.stop(cause)
}

// enter counts the body of a call in, which leave counts out; false after the end of the pass.
func (p *pass) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.calls.Add(1)
	}
	return !p.ended
}

func (p *pass) leave() { p.calls.Done() }

// begin notes a call as under way; over must be called.
func (p *pass) begin(id string, connection context.Context, w http.ResponseWriter) *call {
	c := &call{pass: p, id: id, w: w}
	c.ctx, c.cancel = context.WithCancelCause(p.ctx)
	c.detach = context.AfterFunc(connection, func() { c.cancel(errGone) })
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inFlight[id] = append(p.inFlight[id], c)
	return c
}

// drop takes a call out.
func (p *pass) drop(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rest := slices.DeleteFunc(p.inFlight[c.id], func(other *call) bool { return other == c })
	if p.inFlight[c.id] = rest; len(rest) == 0 {
		delete(p.inFlight, c.id)
	}
}

// cancel ends the call of that id. Where two clients of the pass use the same id at once nobody can tell whose is meant: then it ends none,
// and only the end of a connection does.
func (p *pass) cancel(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if calls := p.inFlight[id]; len(calls) == 1 {
		calls[0].cancel(errCancelled)
	}
}

// longest is the longest that one call of the tools may take; 0 where none says.
func longest(tools []runtime.Tool) time.Duration {
	var limit time.Duration
	for _, t := range tools {
		limit = max(limit, t.Timeout)
	}
	return limit
}
