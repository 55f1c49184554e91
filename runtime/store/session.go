package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// NativeTakenError says that a native id already belongs to another session or generation.
type NativeTakenError struct {
	NativeID string
	Holder   Key
}

// Error names both.
func (e *NativeTakenError) Error() string {
	return fmt.Sprintf("the id %s already belongs to session %s in %s", e.NativeID, e.Holder, e.Holder.Root)
}

// CreateRoute records how a generation was constructed, unless that is recorded already: then the winner is returned
// and created is false, whatever r says. A native id that another key has is refused with a *NativeTakenError. A zero
// CreatedAt becomes now.
func (tx *Tx) CreateRoute(r Route) (winner Route, created bool, err error) {
	r.CreatedAt = tx.now(r.CreatedAt)
	if err := r.validate(); err != nil {
		return Route{}, false, err
	}
	winner, found, err := tx.Route(r.Key)
	if err != nil || found {
		return winner, false, err
	}
	if err := tx.checkTable("route"); err != nil {
		return Route{}, false, err // damage must not look like a key that is free
	}
	if holder, taken, err := tx.NativeHolder(r.Agent, r.NativeSessionID); err != nil {
		return Route{}, false, err
	} else if taken {
		return Route{}, false, &NativeTakenError{r.NativeSessionID, holder}
	}
	record, sum, err := r.encode()
	if err != nil {
		return Route{}, false, err
	}
	err = tx.write("create route",
		`INSERT INTO route (agent, session, root, generation, native_id, record, sum) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		r.Agent, r.Session, r.Root, r.Generation, r.NativeSessionID, record, sum)
	return r, err == nil, err
}

// Route returns the route of one generation, forgotten or not.
func (tx *Tx) Route(k Key) (r Route, found bool, err error) {
	var record, sum string
	found, err = tx.row("read route",
		`SELECT record, sum FROM route WHERE agent = ? AND session = ? AND root = ? AND generation = ?`,
		[]any{k.Agent, k.Session, k.Root, k.Generation}, &record, &sum)
	if err != nil || !found {
		return Route{}, false, err
	}
	r, err = tx.decode(k, record, sum)
	return r, err == nil, err
}

func (tx *Tx) decode(k Key, record, sum string) (Route, error) {
	r, err := decodeRoute(k, record, sum)
	if err != nil {
		return Route{}, tx.s.unaccountable("read route", "the route of session "+k.String(), err)
	}
	return r, nil
}

// Current returns the route of the highest generation that is not forgotten. Before it says that there is none it
// checks that the table is whole: damage must not look like a session that never was.
func (tx *Tx) Current(s SessionKey) (r Route, found bool, err error) {
	var gen int
	found, err = tx.row("read route",
		`SELECT generation FROM route AS r WHERE agent = ?1 AND session = ?2 AND root = ?3 AND NOT EXISTS (
			SELECT 1 FROM mark AS m WHERE m.agent = ?1 AND m.session = ?2 AND m.root = ?3
				AND m.generation = r.generation AND m.name = 'forgotten')
		ORDER BY generation DESC LIMIT 1`,
		[]any{s.Agent, s.Session, s.Root}, &gen)
	if err != nil {
		return Route{}, false, err
	}
	if !found {
		return Route{}, false, tx.checkTable("route")
	}
	return tx.Route(s.Generation(gen))
}

// NextGeneration is one above the highest generation that has a route, forgotten ones counted: 1 for a session that
// never was. A generation that was opened and never accepted does not count: the next attempt takes its number.
func (tx *Tx) NextGeneration(s SessionKey) (int, error) {
	var highest int
	_, err := tx.row("read route", `SELECT COALESCE(MAX(generation), 0) FROM route WHERE agent = ? AND session = ? AND root = ?`,
		[]any{s.Agent, s.Session, s.Root}, &highest)
	return highest + 1, err
}

// NativeHolder returns the key whose route, not forgotten, has this native id.
func (tx *Tx) NativeHolder(agent, nativeID string) (k Key, found bool, err error) {
	found, err = tx.row("read route",
		`SELECT agent, session, root, generation FROM route AS r WHERE agent = ?1 AND native_id = ?2 AND NOT EXISTS (
			SELECT 1 FROM mark AS m WHERE m.agent = r.agent AND m.session = r.session AND m.root = r.root
				AND m.generation = r.generation AND m.name = 'forgotten')
		ORDER BY session, root, generation LIMIT 1`,
		[]any{agent, nativeID}, &k.Agent, &k.Session, &k.Root, &k.Generation)
	return k, found, err
}

// Filter chooses routes. Its zero value chooses the current generation of every session.
type Filter struct {
	Selector
	Root      string // empty: every root
	All       bool   // older generations too; a Selector with a generation implies it
	Forgotten bool   // forgotten ones too
}

// Routes lists routes by agent, session, root and generation. Those that cannot be read are told in the error, beside
// those that can.
func (tx *Tx) Routes(f Filter) ([]Route, error) {
	var routes []Route
	var bad []error
	err := tx.rows("list routes",
		`SELECT agent, session, root, generation, record, sum, EXISTS (SELECT 1 FROM mark AS m WHERE m.agent = r.agent
			AND m.session = r.session AND m.root = r.root AND m.generation = r.generation AND m.name = 'forgotten')
		FROM route AS r WHERE ?1 IN ('', agent) AND ?2 IN ('', session) AND ?3 IN ('', root) AND ?4 IN (0, generation)
		ORDER BY agent, session, root, generation`,
		[]any{f.Agent, f.Session, f.Root, f.Generation}, func(scan func(...any) error) error {
			var k Key
			var record, sum string
			var forgotten bool
			if err := scan(&k.Agent, &k.Session, &k.Root, &k.Generation, &record, &sum, &forgotten); err != nil {
				return err
			}
			if forgotten && !f.Forgotten {
				return nil
			}
			r, err := tx.decode(k, record, sum)
			if err != nil {
				bad = append(bad, err)
				return nil
			}
			if n := len(routes); n > 0 && !f.All && f.Generation == 0 && routes[n-1].SessionKey() == k.SessionKey() {
				routes[n-1] = r // a later generation of the same session
				return nil
			}
			routes = append(routes, r)
			return nil
		})
	return routes, errors.Join(append(bad, err)...)
}

// Opened says that a native id is known for a generation, before any turn of it was accepted.
type Opened struct {
	Key
	NativeID  string
	Transport string
	Run       string
	Time      time.Time // zero: now
}

// PutOpened records session.opened. One generation may be opened again: the last one counts. For an unnamed session
// Run must be the run in its name.
func (tx *Tx) PutOpened(o Opened) error {
	if err := o.Key.validate(); err != nil {
		return err
	}
	if o.NativeID == "" {
		return fmt.Errorf("open session %s: the native id is empty", o.Key)
	}
	at := toMillis(tx.now(o.Time))
	if o.SessionKey().Named() {
		return tx.write("open session",
			`INSERT INTO opened (agent, session, root, generation, native_id, transport, run, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			o.Agent, o.Session, o.Root, o.Generation, o.NativeID, o.Transport, o.Run, at)
	}
	run, scope := o.SessionKey().unnamedParts()
	if run != o.Run {
		return fmt.Errorf("open session: an unnamed session of run %s opened by run %s", run, o.Run)
	}
	return tx.write("open session",
		`INSERT INTO run_session (run, agent, scope, root, generation, native_id, transport, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		run, o.Agent, scope, o.Root, o.Generation, o.NativeID, o.Transport, at)
}

// LastOpened returns what was opened last for a generation.
func (tx *Tx) LastOpened(k Key) (o Opened, found bool, err error) {
	var ms int64
	o.Key = k
	if k.SessionKey().Named() {
		found, err = tx.row("read opened",
			`SELECT native_id, transport, run, time FROM opened WHERE agent = ? AND session = ? AND root = ? AND generation = ?
			ORDER BY number DESC LIMIT 1`,
			[]any{k.Agent, k.Session, k.Root, k.Generation}, &o.NativeID, &o.Transport, &o.Run, &ms)
	} else {
		run, scope := k.SessionKey().unnamedParts()
		found, err = tx.row("read opened",
			`SELECT native_id, transport, run, time FROM run_session
			WHERE run = ? AND agent = ? AND scope = ? AND root = ? AND generation = ? ORDER BY number DESC LIMIT 1`,
			[]any{run, k.Agent, scope, k.Root, k.Generation}, &o.NativeID, &o.Transport, &o.Run, &ms)
	}
	if err != nil || !found {
		return Opened{}, false, err
	}
	o.Time = fromMillis(ms)
	return o, true, nil
}

// MarkForgotten is the mark that takes a generation out of use and keeps its rows.
const MarkForgotten = "forgotten"

// Mark is something said about a generation after its construction. Marks are added and never changed.
type Mark struct {
	Key
	Name string // "forgotten", "identity-mismatch"
	Run  string
	Time time.Time       // zero: now
	Data json.RawMessage // one JSON value; nil: none
}

// PutMark adds a mark.
func (tx *Tx) PutMark(m Mark) error {
	if err := m.Key.validate(); err != nil {
		return err
	}
	if strings.TrimSpace(m.Name) == "" {
		return fmt.Errorf("mark session %s: the mark has no name", m.Key)
	}
	data, err := jsonText(m.Data)
	if err != nil {
		return fmt.Errorf("mark session %s: %w", m.Key, err)
	}
	return tx.write("mark session",
		`INSERT INTO mark (agent, session, root, generation, name, run, time, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		m.Agent, m.Session, m.Root, m.Generation, m.Name, m.Run, toMillis(tx.now(m.Time)), data)
}

// Marks returns the marks of a generation, oldest first.
func (tx *Tx) Marks(k Key) ([]Mark, error) {
	var marks []Mark
	err := tx.rows("read marks",
		`SELECT name, run, time, data FROM mark WHERE agent = ? AND session = ? AND root = ? AND generation = ? ORDER BY number`,
		[]any{k.Agent, k.Session, k.Root, k.Generation}, func(scan func(...any) error) error {
			m := Mark{Key: k}
			var ms int64
			var data string
			err := scan(&m.Name, &m.Run, &ms, &data)
			if err != nil {
				return err
			}
			m.Time = fromMillis(ms)
			if m.Data, err = jsonValue(data); err != nil {
				return tx.s.unaccountable("read marks", "a mark of session "+k.String(), err)
			}
			marks = append(marks, m)
			return nil
		})
	return marks, err
}
