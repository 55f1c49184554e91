package store

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// SessionKey names a logical session over all its generations. Locks and owner records go by it.
type SessionKey struct {
	Agent   string // the agent's name in documents: "codex"
	Session string // the session's name, or what Unnamed made
	Root    string // absolute real path
}

// Key names one generation of a session.
type Key struct {
	Agent      string
	Session    string
	Root       string
	Generation int // from 1
}

// SessionKey returns the key without its generation.
func (k Key) SessionKey() SessionKey { return SessionKey{k.Agent, k.Session, k.Root} }

// Generation returns the key of one generation of s.
func (s SessionKey) Generation(n int) Key { return Key{s.Agent, s.Session, s.Root, n} }

// unnamedMark begins the name of an unnamed session. No named session's name can hold it.
const unnamedMark = ":"

// Unnamed returns the session name under which an unnamed session is kept: one per run, agent and scope. Such a
// session has opened records and turns, never a route, and goes with its run.
func Unnamed(run, scope string) string { return unnamedMark + run + unnamedMark + scope }

// Named says whether s is a named session, which goes on across runs.
func (s SessionKey) Named() bool { return !strings.HasPrefix(s.Session, unnamedMark) }

// conversationMark begins the name under which the sessions of a Conversation are kept. No author can write it.
const conversationMark = "conversation:"

// Conversation returns the session name of all sessions of the Conversation of that name.
func Conversation(name string) string { return conversationMark + name }

// UnnamedConversation returns the scope of all sessions of a Conversation without a name, for Unnamed. step is the identity of its
// element in the run.
func UnnamedConversation(step string) string { return conversationMark + step }

// ConversationKey names a Conversation over all its agents.
type ConversationKey struct {
	Session string // the session name of its sessions: of Conversation, or of Unnamed and UnnamedConversation
	Root    string // absolute real path
}

// Of returns the key of the session that an agent has in the Conversation.
func (c ConversationKey) Of(agent string) SessionKey { return SessionKey{agent, c.Session, c.Root} }

// Name is the name that its author gave it; "" for one without.
func (c ConversationKey) Name() string {
	name, _ := strings.CutPrefix(c.Session, conversationMark)
	if strings.HasPrefix(c.Session, unnamedMark) {
		return ""
	}
	return name
}

// Named says whether it goes on across runs.
func (c ConversationKey) Named() bool { return SessionKey{Session: c.Session}.Named() }

// LockName is the name of its lock, of the kind LockSession.
func (c ConversationKey) LockName() string { return "\x00" + c.Session + "\x00" + c.Root }

// String is how people read and type it: "conversation:task".
func (c ConversationKey) String() string {
	if !c.Named() {
		return conversationMark + "(unnamed)"
	}
	return c.Session
}

// Conversation says of which Conversation the session is; ok is false for any other session.
func (s SessionKey) Conversation() (c ConversationKey, ok bool) {
	name := s.Session
	if !s.Named() {
		_, name = s.unnamedParts()
	}
	return ConversationKey{s.Session, s.Root}, strings.HasPrefix(name, conversationMark)
}

// unnamedParts splits what Unnamed joined.
func (s SessionKey) unnamedParts() (run, scope string) {
	run, scope, _ = strings.Cut(strings.TrimPrefix(s.Session, unnamedMark), unnamedMark)
	return run, scope
}

// String is how people read and type a session: "codex:review", and of a Conversation "conversation:task/codex".
func (s SessionKey) String() string {
	c, ok := s.Conversation()
	switch {
	case ok:
		return c.String() + "/" + s.Agent
	case !s.Named():
		return s.Agent + ":(unnamed)"
	}
	return s.Agent + ":" + s.Session
}

// String is how people read and type one generation: "codex:review@2".
func (k Key) String() string { return fmt.Sprintf("%s@%d", k.SessionKey(), k.Generation) }

func (s SessionKey) validate() error {
	switch {
	case s.Agent == "" || strings.ContainsAny(s.Agent, ":@\x00"):
		return fmt.Errorf("session key: %q is no agent name", s.Agent)
	case s.Named() && !nameable(strings.TrimPrefix(s.Session, conversationMark)):
		return fmt.Errorf("session key: %q is no session name", s.Session)
	case !filepath.IsAbs(s.Root) || filepath.Clean(s.Root) != s.Root:
		return fmt.Errorf("session key: the root %q is no clean absolute path", s.Root)
	}
	return nil
}

// nameable says whether a session, or a Conversation, can have that name.
func nameable(name string) bool { return name != "" && !strings.ContainsAny(name, ":@\x00") }

func (k Key) validate() error {
	if k.Generation < 1 {
		return fmt.Errorf("session key: generation %d is below 1", k.Generation)
	}
	return k.SessionKey().validate()
}

// Selector is what a person types to name sessions: `[AGENT:]NAME[@n]`, or `conversation:NAME[/AGENT][@n]`. Zero fields match everything.
type Selector struct {
	Agent      string
	Session    string
	Generation int
}

// ParseSelector reads `[AGENT:]NAME[@n]`, or `conversation:NAME[/AGENT][@n]`. It judges the form only; whether such a session exists is
// Tx.Routes' to say. In a Conversation's name a stroke may stand too: the Selector has it whole, and InConversation cuts it.
func ParseSelector(text string) (Selector, error) {
	var sel Selector
	name, gen, hasGen := strings.Cut(text, "@")
	if hasGen {
		n, err := strconv.Atoi(gen)
		if err != nil || n < 1 {
			return Selector{}, fmt.Errorf("session %q: after @ stands a generation, a number from 1", text)
		}
		sel.Generation = n
	}
	if rest, ok := strings.CutPrefix(name, conversationMark); ok && nameable(rest) {
		sel.Session = name
		return sel, nil
	}
	if agent, rest, ok := strings.Cut(name, ":"); ok {
		if agent == "" {
			return Selector{}, fmt.Errorf("session %q: an agent's name stands before the colon", text)
		}
		sel.Agent, name = agent, rest
	}
	if name == "" || strings.Contains(name, ":") {
		return Selector{}, fmt.Errorf("session %q: write [AGENT:]NAME[@n]", text)
	}
	sel.Session = name
	return sel, nil
}

// InConversation reads the last part of a Conversation's name as one of its agents; ok is false where there is no such part.
func (s Selector) InConversation() (sel Selector, ok bool) {
	at := strings.LastIndexByte(s.Session, '/')
	if !strings.HasPrefix(s.Session, conversationMark) || at <= len(conversationMark) || at == len(s.Session)-1 {
		return s, false
	}
	return Selector{Agent: s.Session[at+1:], Session: s.Session[:at], Generation: s.Generation}, true
}

// Conversation says which Conversation is meant, in which root is open; ok is false for a session that is of none.
func (s Selector) Conversation() (c ConversationKey, ok bool) {
	return ConversationKey{Session: s.Session}, strings.HasPrefix(s.Session, conversationMark)
}
