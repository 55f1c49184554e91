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

// unnamedParts splits what Unnamed joined.
func (s SessionKey) unnamedParts() (run, scope string) {
	run, scope, _ = strings.Cut(strings.TrimPrefix(s.Session, unnamedMark), unnamedMark)
	return run, scope
}

// String is how people read and type a session: "codex:review".
func (s SessionKey) String() string {
	if !s.Named() {
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
	case s.Session == "" || s.Named() && strings.ContainsAny(s.Session, ":@\x00"):
		return fmt.Errorf("session key: %q is no session name", s.Session)
	case !filepath.IsAbs(s.Root) || filepath.Clean(s.Root) != s.Root:
		return fmt.Errorf("session key: the root %q is no clean absolute path", s.Root)
	}
	return nil
}

func (k Key) validate() error {
	if k.Generation < 1 {
		return fmt.Errorf("session key: generation %d is below 1", k.Generation)
	}
	return k.SessionKey().validate()
}

// Selector is what a person types to name sessions: `[AGENT:]NAME[@n]`. Zero fields match everything.
type Selector struct {
	Agent      string
	Session    string
	Generation int
}

// ParseSelector reads `[AGENT:]NAME[@n]`. It judges the form only; whether such a session exists is Tx.Routes' to say.
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
