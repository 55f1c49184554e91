package agenttest

import (
	"context"
	"strings"
	"sync"

	"xmd/runtime"
)

// heard is what one turn showed. The sink runs on the connection's reader while the test may look, hence the lock.
type heard struct {
	mu       sync.Mutex
	text     strings.Builder
	thoughts strings.Builder
	pieces   int
	compacts int
	accepted bool
	tools    map[string]*runtime.ToolCall
	asked    []runtime.PermissionOutcome
	first    chan struct{} // closed at the first piece of the answer

	runtime.TurnResult
}

func newHeard() *heard {
	return &heard{tools: map[string]*runtime.ToolCall{}, first: make(chan struct{})}
}

func (h *heard) sink(u runtime.Update) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.accepted = h.accepted || u.Accepts
	switch u.Kind {
	case runtime.UpdateMessage:
		h.text.WriteString(u.Text)
		if h.pieces++; h.pieces == 1 {
			close(h.first)
		}
	case runtime.UpdateThought:
		h.thoughts.WriteString(u.Text)
	case runtime.UpdateTool:
		h.tool(*u.Tool)
	case runtime.UpdateCompaction:
		h.compacts++
	case runtime.UpdatePermission:
		h.asked = append(h.asked, *u.Permission)
	}
}

// tool merges what a later update says into what is known of the call.
func (h *heard) tool(u runtime.ToolCall) {
	known := h.tools[u.ID]
	if known == nil {
		h.tools[u.ID] = &u
		return
	}
	for _, f := range []struct{ to, from *string }{
		{&known.Name, &u.Name}, {&known.Kind, &u.Kind}, {&known.Subject, &u.Subject},
		{&known.Status, &u.Status}, {&known.Output, &u.Output}, {&known.Door, &u.Door},
	} {
		if *f.from != "" {
			*f.to = *f.from
		}
	}
	if u.Diffs != nil {
		known.Diffs = u.Diffs
	}
}

// answer is the text of the turn so far.
func (h *heard) answer() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// outputs joins what all tools returned.
func (h *heard) outputs() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, t := range h.tools {
		b.WriteString(t.Output)
		b.WriteByte('\n')
	}
	return b.String()
}

// allow and refuse answer every question of an agent.
func allow(context.Context, runtime.PermissionRequest) bool  { return true }
func refuse(context.Context, runtime.PermissionRequest) bool { return false }
