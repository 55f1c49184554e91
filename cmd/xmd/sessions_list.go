package main

import (
	"context"
	"errors"
	"fmt"

	"xmd/runtime"
	"xmd/runtime/store"
)

// sessionView is a session as lists show it.
type sessionView struct {
	Agent      string `json:"agent"`
	Session    string `json:"session"`
	Root       string `json:"root"`
	Generation int    `json:"generation"`
	NativeID   string `json:"nativeSessionId"`
	Transport  string `json:"transport"`
	Provenance string `json:"provenance"`
	Created    string `json:"createdAt,omitempty"`
	Version    string `json:"establishedVersion,omitempty"`
	Owner      string `json:"owner"` // the owner record: idle, turn, native
	State      string `json:"state"` // idle, in use, recovery-required
	Turns      int    `json:"turns"`
	Restart    bool   `json:"restart,omitempty"` // the next prompt begins a new conversation
}

// The states of a session.
const (
	stateIdle     = "idle"
	stateInUse    = "in use"
	stateRecovery = "recovery-required"
)

func listVerb(ctx context.Context, p *program, _ *host, c *call, s *store.Store, _ []string) error {
	root, err := rootOf(c.String("root"))
	if err != nil {
		return err
	}
	views, bad := listSessions(ctx, s, root)
	if views == nil && bad != nil && !errors.Is(bad, store.ErrUnaccountable) {
		return storeProblem(bad)
	}
	if c.String("format") == "json" {
		list := map[string]any{"v": 1, "sessions": orNone(views)}
		if bad != nil {
			list["problem"] = bad.Error()
		}
		err = writeJSON(p, list)
	} else {
		for _, v := range views {
			if err == nil {
				_, err = fmt.Fprintln(p.stdout, v.line())
			}
		}
	}
	return errors.Join(storeProblem(bad), err)
}

// orNone makes an empty list of none, which JSON writes as null.
func orNone[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (v sessionView) line() string {
	name := store.SessionKey{Agent: v.Agent, Session: v.Session, Root: v.Root}.String()
	if v.Generation > 1 {
		name = fmt.Sprintf("%s@%d", name, v.Generation)
	}
	line := fmt.Sprintf("%-28s %3d turns  %-17s %s", name, v.Turns, v.State, v.Root)
	if v.Restart {
		line += "  (begins anew)"
	}
	return printable(line)
}

// listSessions lists what can be read; what cannot is told in the error beside it.
func listSessions(ctx context.Context, s *store.Store, root string) (views []sessionView, bad error) {
	err := s.View(ctx, func(tx *store.Tx) error {
		routes, err := tx.Routes(store.Filter{Root: root})
		bad = err
		listed := map[store.SessionKey]bool{}
		for _, r := range routes {
			listed[r.SessionKey()] = true
			v, err := viewOf(tx, r)
			if err != nil {
				bad = errors.Join(bad, err)
				continue
			}
			views = append(views, v)
		}
		owners, err := tx.Owners(store.Selector{}, root)
		for _, o := range owners { // what died in its first turn has no route yet
			if listed[o.SessionKey()] || o.State == store.OwnerIdle {
				continue
			}
			v, err := viewOf(tx, store.Route{Key: o.Key, NativeSessionID: o.NativeID})
			if err != nil {
				return err
			}
			views = append(views, v)
		}
		return err
	})
	for i := range views {
		if err == nil {
			err = views[i].look(s)
		}
	}
	return views, errors.Join(bad, err)
}

func viewOf(tx *store.Tx, r store.Route) (sessionView, error) {
	v := sessionView{
		Agent: r.Agent, Session: r.Session, Root: r.Root, Generation: r.Generation, NativeID: r.NativeSessionID,
		Transport: r.Transport, Provenance: r.Provenance, Created: stamp(r.CreatedAt), Owner: string(store.OwnerIdle),
	}
	if r.Established != nil {
		v.Version = r.Established.Version
	}
	owner, found, err := tx.Owner(r.SessionKey())
	if err != nil {
		return v, err
	}
	if found {
		v.Owner = string(owner.State)
	}
	if v.Restart, err = tx.RestartDue(r.SessionKey()); err != nil {
		return v, err
	}
	next, err := tx.NextTurn(r.Key)
	v.Turns = next - 1
	return v, err
}

// look says whether somebody works with the session now. It takes the lock from nobody.
func (v *sessionView) look(s *store.Store) error {
	key := store.SessionKey{Agent: v.Agent, Session: v.Session, Root: v.Root}
	holder, err := s.Locked(store.LockSession, key.LockName())
	v.State = sessionState(holder != nil, v.Owner)
	return err
}

func sessionState(locked bool, owner string) string {
	switch {
	case locked:
		return stateInUse
	case owner != string(store.OwnerIdle):
		return stateRecovery
	}
	return stateIdle
}

// noRoute says that a session has no conversation that anything could be done to.
func noRoute(f found, why string) error {
	return runtime.Errorf(runtime.KindInvalid, "session %s in %s has had no accepted turn yet: %s", f.route.SessionKey(), f.route.Root, why)
}
