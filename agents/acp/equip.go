package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"xmd/runtime"
)

// Instructions are where an agent takes the workflow's instructions. The zero value: nowhere.
type Instructions struct {
	Channel runtime.Channel
	// Member is where they stand in session/new, and with ChannelEvery in session/load too: a member of the parameters, or one of their
	// "_meta" when it begins with "_meta.".
	Member string
	// Form is what stands there: JSON, with {text} where the text as a JSON string goes.
	Form string
}

// AppendPrompt is the protocol's own form of instructions that are added to the agent's, as a member "systemPrompt".
const AppendPrompt = `{"mode":"append","content":[{"type":"text","text":{text}}]}`

// readyLimit bounds the wait for an agent that is not done with its servers when a conversation is open.
const readyLimit = 10 * time.Second

// equipment is what the conversation is opened with; set by Equip and read-only from then on.
type equipment struct {
	servers      []mcpServer
	instructions string
	door         string          // the name of the server that is the door; "": there is none
	listed       <-chan struct{} // nil: there is no door
}

// mcpServer is one of "mcpServers": by address when Type is set, else by command.
type mcpServer struct {
	Type    string    `json:"type,omitempty"`
	Name    string    `json:"name"`
	URL     string    `json:"url,omitempty"`
	Headers *[]pair   `json:"headers,omitempty"`
	Command string    `json:"command,omitempty"`
	Args    *[]string `json:"args,omitempty"`
	Env     *[]pair   `json:"env,omitempty"`
}

type pair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Takes says which servers the agent takes; see runtime.Equipper. The protocol has every agent take those by command.
func (c *conn) Takes() (byAddress, byCommand bool) { return c.shakes.http, !c.p.NoCommands }

// Equip says what the conversation is opened with; see runtime.Equipper.
func (c *conn) Equip(e runtime.Equipment) error {
	if len(e.Tools) > 0 {
		return c.Fail(runtime.KindUnsupported, "%s takes tools from MCP servers only", c.Info.Shown)
	}
	if e.Instructions != "" && c.p.Instructions.Member == "" {
		return c.Fail(runtime.KindUnsupported, "%s has no place of its own for instructions", c.Info.Shown)
	}
	own := equipment{instructions: e.Instructions, listed: e.Listed}
	byAddress, byCommand := c.Takes()
	for _, s := range e.Servers {
		switch {
		case s.URL != "" && !byAddress:
			return c.Fail(runtime.KindUnsupported, "%s takes no MCP server by address, and %s has one", c.Info.Shown, s.Name)
		case s.URL == "" && !byCommand:
			return c.Fail(runtime.KindUnsupported, "%s takes no MCP server by command, and %s has one", c.Info.Shown, s.Name)
		}
		own.servers = append(own.servers, serverOf(s))
		if s.Own {
			own.door = s.Name
		}
	}
	c.equipment = own
	return nil
}

func serverOf(s runtime.MCPServer) mcpServer {
	if s.URL != "" {
		return mcpServer{Type: "http", Name: s.Name, URL: s.URL, Headers: pairs(s.Headers)}
	}
	args := append([]string{}, s.Args...)
	return mcpServer{Name: s.Name, Command: s.Command, Args: &args, Env: pairs(s.Env)}
}

func pairs(list []runtime.Pair) *[]pair {
	out := make([]pair, len(list))
	for i, p := range list {
		out[i] = pair(p)
	}
	return &out
}

// sessionParams are those of session/new and session/load.
type sessionParams struct {
	SessionID    string          `json:"sessionId,omitempty"`
	Cwd          string          `json:"cwd"`
	MCPServers   []mcpServer     `json:"mcpServers"`
	SystemPrompt json.RawMessage `json:"systemPrompt,omitempty"`
	Meta         json.RawMessage `json:"_meta,omitempty"`
}

func (c *conn) sessionParams(id string) sessionParams {
	p := sessionParams{SessionID: id, Cwd: c.root, MCPServers: append([]mcpServer{}, c.equipment.servers...), Meta: c.p.Meta}
	if c.equipment.instructions != "" && (id == "" || c.p.Instructions.Channel == runtime.ChannelEvery) {
		c.p.Instructions.put(c.equipment.instructions, &p)
	}
	return p
}

// put writes a text to where the agent takes it.
func (i Instructions) put(text string, p *sessionParams) {
	quoted, _ := json.Marshal(text) // a string always can be
	value := json.RawMessage(strings.Replace(i.Form, "{text}", string(quoted), 1))
	member, inMeta := strings.CutPrefix(i.Member, "_meta.")
	if !inMeta {
		p.SystemPrompt = value
		return
	}
	meta := map[string]json.RawMessage{}
	_ = json.Unmarshal(p.Meta, &meta) // the profile's own, an object or none
	meta[member] = value
	p.Meta, _ = json.Marshal(meta) // of valid JSON
}

// readiness is how far an agent is with its servers.
type readiness struct {
	once sync.Once
	told chan struct{} // closed when it said that it is done
	over bool          // the wait is over; only Prompt uses it
}

// noteReady takes the agent's word that it is done with its servers; false: it is another one.
func (c *conn) noteReady(method string) bool {
	if c.p.Ready == "" || method != c.p.Ready {
		return false
	}
	c.ready.once.Do(func() { close(c.ready.told) })
	return true
}

// awaitReady holds the first prompt back until the agent knows the tools of its servers, bounded.
func (c *conn) awaitReady(ctx context.Context) {
	if c.ready.over {
		return
	}
	c.ready.over = true
	if c.p.Ready != "" && len(c.equipment.servers) > 0 && !c.await(ctx, c.ready.told, readyLimit) {
		c.notReady(readyLimit, "it may not know them yet")
	}
	if c.p.AwaitsDoor > 0 && c.equipment.listed != nil && !c.await(ctx, c.equipment.listed, c.p.AwaitsDoor) && c.p.DoorMissed != "" {
		c.notReady(c.p.AwaitsDoor, c.p.DoorMissed)
	}
}

// await waits for a signal; false: only the limit ended the wait.
func (c *conn) await(ctx context.Context, signal <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-signal:
	case <-ctx.Done():
	case <-c.Wire.Done():
	case <-timer.C:
		return false
	}
	return true
}

// notReady says that the wait was for nothing.
func (c *conn) notReady(limit time.Duration, why string) {
	if c.notice != nil {
		c.notice(fmt.Sprintf("%s was not ready to use the workflow's tools within %s: %s.", c.Info.Shown, limit, why))
	}
}
