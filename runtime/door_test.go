package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"xmd/runtime"
)

// fakeDoor hands calls over in the test's own process.
type fakeDoor struct {
	mu      sync.Mutex
	passes  []*fakePass
	byWords map[string]int
}

// passOf is the n-th way in that was made.
func (d *fakeDoor) passOf(n int) *fakePass {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passes[n]
}

// passFor is the way in of whoever is sent these words.
func (d *fakeDoor) passFor(words string) *fakePass { return d.passOf(d.byWords[words]) }

// find calls a tool through whichever way in has it in scope in a running turn.
func (d *fakeDoor) find(ctx context.Context, tool string) runtime.ToolAnswer {
	d.mu.Lock()
	passes := slices.Clone(d.passes)
	d.mu.Unlock()
	var last runtime.ToolAnswer
	for _, p := range slices.Backward(passes) {
		if last = p.call(ctx, tool, `{}`); !last.Failed || !strings.Contains(last.Text, "not in scope") && last.Text != worthless {
			return last
		}
	}
	return last
}

type fakePass struct {
	runtime.Admission
	key    string
	listed chan struct{}

	mu      sync.Mutex
	calls   sync.WaitGroup
	revoked bool
	stop    context.CancelFunc
	ctx     context.Context
}

func (d *fakeDoor) Admit(a runtime.Admission) (runtime.Pass, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := &fakePass{Admission: a, key: fmt.Sprintf("key-of-attachment-%d", len(d.passes)+1), listed: make(chan struct{})}
	p.ctx, p.stop = context.WithCancel(context.Background())
	d.passes = append(d.passes, p)
	return p, nil
}

func (d *fakeDoor) Close(context.Context) error { return nil }

// last is the newest way in.
func (d *fakeDoor) last() *fakePass {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passes[len(d.passes)-1]
}

func (p *fakePass) Server() runtime.MCPServer {
	return runtime.MCPServer{Name: runtime.DoorName, URL: "http://127.0.0.1:1/mcp", Headers: []runtime.Pair{{Name: "Authorization", Value: "Bearer " + p.key}}, Own: true}
}

func (p *fakePass) Shim() runtime.MCPServer {
	return runtime.MCPServer{Name: runtime.DoorName, Command: "xmd", Env: []runtime.Pair{{Name: "XMD_DOOR_KEY", Value: p.key}}, Own: true}
}

func (p *fakePass) Listed() <-chan struct{} { return p.listed }

func (p *fakePass) Revoke() {
	p.mu.Lock()
	p.revoked = true
	p.mu.Unlock()
	p.stop()
	p.calls.Wait()
}

// list is the agent's asking for the tools.
func (p *fakePass) list() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.listed:
	default:
		close(p.listed)
	}
}

// worthless is how a call with the key of an attachment that is gone is answered.
const worthless = "the key is worthless"

// call is a call of the agent.
func (p *fakePass) call(ctx context.Context, tool, args string) runtime.ToolAnswer {
	p.mu.Lock()
	if p.revoked {
		p.mu.Unlock()
		return runtime.ToolAnswer{Failed: true, Text: worthless}
	}
	p.calls.Add(1)
	p.mu.Unlock()
	defer p.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	return p.Call(ctx, runtime.ToolUse{Name: tool, Args: json.RawMessage(args)})
}
