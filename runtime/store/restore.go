package store

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Saved is a session as another store had it.
type Saved struct {
	Routes []StoredRoute // Record and Sum
	Turns  []Turn        // of the generations of Routes; of their keys only the generation counts
	Marks  []Mark        // the same, without MarkMoved
}

// RestoreSession puts a saved session into this store, to live in s.Root: the routes with their text and sum unchanged, so that they go
// on naming the root they were recorded for. Each is read as strictly as any. created is false when exactly these routes live there
// already. lock is the session's, held by the caller. Errors: ErrUnaccountable; a *TakenError when another session lives there or
// another route stands under a route's key; a *NativeTakenError when a conversation belongs to another session.
func (tx *Tx) RestoreSession(lock *Lock, s SessionKey, saved Saved) (created bool, err error) {
	if err := s.validate(); err != nil {
		return false, err
	}
	if !lock.holds(LockSession, s.LockName()) {
		return false, fmt.Errorf("restore session %s: its lock is not held", s)
	}
	if len(saved.Routes) == 0 {
		return false, fmt.Errorf("%w: there is no route", ErrUnaccountable)
	}
	for _, m := range saved.Marks {
		if m.Name == MarkMoved { // it would live where the record wants, and not where its reader does
			return false, fmt.Errorf("%w: it says where it lives", ErrUnaccountable)
		}
	}
	there, err := tx.livesThere(s, saved)
	if err != nil || there {
		return false, err
	}
	for _, r := range saved.Routes {
		if err := tx.restoreRoute(s, r); err != nil {
			return false, err
		}
	}
	for _, t := range saved.Turns {
		t.Key = s.Generation(t.Generation)
		if err := tx.PutTurn(t); err != nil {
			return false, err
		}
	}
	for _, m := range saved.Marks {
		m.Key = s.Generation(m.Generation)
		if err := tx.PutMark(m); err != nil {
			return false, err
		}
	}
	return true, nil
}

// livesThere says whether s is this very session already.
func (tx *Tx) livesThere(s SessionKey, saved Saved) (bool, error) {
	have, err := tx.StoredRoutes(s)
	if err != nil {
		return false, err
	}
	records := map[string]bool{}
	for _, r := range have {
		records[r.Record] = true
	}
	same := 0
	for _, r := range saved.Routes {
		if records[r.Record] {
			same++
		}
	}
	all, err := tx.kept(s.Agent, s.Session)
	if err != nil {
		return false, err
	}
	for _, g := range all {
		if g.place.Root == s.Root && (g.route || !g.forgotten) && same < len(saved.Routes) {
			return false, &TakenError{g.place}
		}
	}
	return same == len(saved.Routes), nil
}

// restoreRoute creates one route, living in s.Root.
func (tx *Tx) restoreRoute(s SessionKey, stored StoredRoute) error {
	var r Route
	if err := r.UnmarshalJSON([]byte(stored.Record)); err != nil {
		return err
	}
	if _, err := decodeRoute(r.Key, stored.Record, stored.Sum); err != nil {
		return err
	}
	if r.Agent != s.Agent || r.Session != s.Session {
		return fmt.Errorf("%w: the route of %s stands among those of %s", ErrUnaccountable, r.SessionKey(), s)
	}
	var here bool
	_, err := tx.row("read route", `SELECT EXISTS (SELECT 1 FROM route WHERE agent = ? AND session = ? AND root = ? AND generation = ?)`,
		[]any{r.Agent, r.Session, r.Root, r.Generation}, &here)
	if err = errors.Join(err, tx.absent(r.Agent, r.Session), tx.free(r.Agent, r.NativeSessionID)); err != nil {
		return err
	}
	if here {
		return &TakenError{r.Key}
	}
	if err := tx.insertRoute(r.Key, r.NativeSessionID, stored.Record, stored.Sum); err != nil {
		return err
	}
	m, err := tx.moves(r.Agent, r.Session)
	if err != nil || m.place(r.Key).Root == s.Root {
		return err
	}
	data, err := json.Marshal(moved{r.Root, s.Root})
	if err != nil {
		return err
	}
	return tx.putMark(r.Key, Mark{Name: MarkMoved, Data: data})
}
