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
	r.CreatedAt, r.RecordedRoot = tx.now(r.CreatedAt), ""
	if err := r.validate(); err != nil {
		return Route{}, false, err
	}
	winner, found, err := tx.Route(r.Key)
	if err != nil || found {
		return winner, false, err
	}
	home, err := tx.homeToWrite(r.Key)
	if err != nil {
		return Route{}, false, err
	}
	if err := tx.absent(r.Agent, r.Session); err != nil {
		return Route{}, false, err // damage must not look like a key that is free
	}
	if err := tx.free(r.Agent, r.NativeSessionID); err != nil {
		return Route{}, false, err
	}
	if home != r.Key {
		r.RecordedRoot = home.Root
	}
	record, sum, err := r.encode()
	if err != nil {
		return Route{}, false, err
	}
	return r, true, tx.insertRoute(home, r.NativeSessionID, record, sum)
}

// free says whether a native id may be given to a new key.
func (tx *Tx) free(agent, nativeID string) error {
	holder, taken, err := tx.NativeHolder(agent, nativeID)
	if err == nil && taken {
		err = &NativeTakenError{nativeID, holder}
	}
	return err
}

func (tx *Tx) insertRoute(home Key, nativeID, record, sum string) error {
	return tx.write("create route",
		`INSERT INTO route (agent, session, root, generation, native_id, record, sum) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		home.Agent, home.Session, home.Root, home.Generation, nativeID, record, sum)
}

// Route returns the route of one generation, forgotten or not.
func (tx *Tx) Route(k Key) (r Route, found bool, err error) {
	home, ok, err := tx.home(k)
	if err != nil || !ok {
		return Route{}, false, err
	}
	var record, sum string
	found, err = tx.row("read route",
		`SELECT record, sum FROM route WHERE agent = ? AND session = ? AND root = ? AND generation = ?`,
		[]any{home.Agent, home.Session, home.Root, home.Generation}, &record, &sum)
	if err != nil || !found {
		return Route{}, false, err
	}
	r, err = tx.decode(home, k, record, sum)
	return r, err == nil, err
}

// decode reads the route that is recorded under home and lives at k.
func (tx *Tx) decode(home, k Key, record, sum string) (Route, error) {
	r, err := decodeRoute(home, record, sum)
	if err != nil {
		return Route{}, tx.s.unaccountable("read route", "the route of session "+k.String(), err)
	}
	if home != k {
		r.Key, r.RecordedRoot = k, home.Root
	}
	return r, nil
}

// Current returns the route of the highest generation that is not forgotten. Before it says that there is none it
// checks that the table is whole: damage must not look like a session that never was.
func (tx *Tx) Current(s SessionKey) (r Route, found bool, err error) {
	all, err := tx.kept(s.Agent, s.Session)
	if err != nil {
		return Route{}, false, err
	}
	highest := 0
	for _, g := range all {
		if g.route && !g.forgotten && g.place.Root == s.Root {
			highest = max(highest, g.place.Generation)
		}
	}
	if highest == 0 {
		return Route{}, false, tx.absent(s.Agent, s.Session)
	}
	r, found, err = tx.Route(s.Generation(highest))
	if err == nil && !found { // it was listed a moment ago
		err = tx.s.unaccountable("read route", "the route of session "+s.Generation(highest).String(), errors.New("it cannot be read by its key"))
	}
	return r, found, err
}

// NextGeneration is one above the highest generation that has a route, forgotten ones and those that were moved away counted: 1 for
// a session that never was. A generation that was opened and never accepted does not count: the next attempt takes its number.
func (tx *Tx) NextGeneration(s SessionKey) (int, error) {
	all, err := tx.kept(s.Agent, s.Session)
	highest := 0
	for _, g := range all {
		here := g.place.Root == s.Root && g.route
		left := g.home.Root == s.Root && (g.route || g.place != g.home)
		if here || left {
			highest = max(highest, g.home.Generation)
		}
	}
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
	if err != nil || !found {
		return Key{}, false, err
	}
	m, err := tx.moves(k.Agent, k.Session)
	return m.place(k), err == nil, err
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
		home, err := tx.homeToWrite(o.Key)
		if err != nil {
			return err
		}
		return tx.write("open session",
			`INSERT INTO opened (agent, session, root, generation, native_id, transport, run, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			home.Agent, home.Session, home.Root, home.Generation, o.NativeID, o.Transport, o.Run, at)
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
		home, ok, herr := tx.home(k)
		if herr != nil || !ok {
			return Opened{}, false, herr
		}
		found, err = tx.row("read opened",
			`SELECT native_id, transport, run, time FROM opened WHERE agent = ? AND session = ? AND root = ? AND generation = ?
			ORDER BY number DESC LIMIT 1`,
			[]any{home.Agent, home.Session, home.Root, home.Generation}, &o.NativeID, &o.Transport, &o.Run, &ms)
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
	home, err := tx.homeToWrite(m.Key)
	if err != nil {
		return err
	}
	return tx.putMark(home, m)
}

// putMark writes m under the key that its generation is recorded under.
func (tx *Tx) putMark(home Key, m Mark) error {
	data, err := jsonText(m.Data)
	if err != nil {
		return fmt.Errorf("mark session %s: %w", home, err)
	}
	return tx.write("mark session",
		`INSERT INTO mark (agent, session, root, generation, name, run, time, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		home.Agent, home.Session, home.Root, home.Generation, m.Name, m.Run, toMillis(tx.now(m.Time)), data)
}

// Marks returns the marks of a generation, oldest first.
func (tx *Tx) Marks(k Key) ([]Mark, error) {
	home, ok, err := tx.home(k)
	if err != nil || !ok {
		return nil, err
	}
	var marks []Mark
	err = tx.rows("read marks",
		`SELECT name, run, time, data FROM mark WHERE agent = ? AND session = ? AND root = ? AND generation = ? ORDER BY number`,
		[]any{home.Agent, home.Session, home.Root, home.Generation}, func(scan func(...any) error) error {
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
