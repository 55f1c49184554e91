package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// MarkMoved is the mark that says where a generation lives now. Everything that is recorded of it stays under the root it was
// recorded for; Tx.Move writes the mark, and every method of Tx follows it.
const MarkMoved = "moved"

// moved is the data of MarkMoved.
type moved struct {
	From string `json:"from"` // where it lived until then
	To   string `json:"to"`
}

// MovedError says that a generation does not live any more where it was looked for, so nothing is written for it there.
type MovedError struct {
	Key Key
	To  string
}

// Error names the session and where it is.
func (e *MovedError) Error() string {
	return fmt.Sprintf("session %s of %s was moved to %s", e.Key, e.Key.Root, e.To)
}

// moves says where the generations of one session name live, by the key they are recorded under. What was never moved is not in it.
type moves map[Key]string

// moves reads the marks of one session name, of all its roots. Unnamed sessions do not move.
func (tx *Tx) moves(agent, session string) (moves, error) {
	m := moves{}
	if !(SessionKey{Session: session}).Named() {
		return m, nil
	}
	err := tx.rows("read marks",
		`SELECT root, generation, data FROM mark WHERE agent = ? AND session = ? AND name = 'moved' ORDER BY number`,
		[]any{agent, session}, func(scan func(...any) error) error {
			k := Key{Agent: agent, Session: session}
			var data string
			if err := scan(&k.Root, &k.Generation, &data); err != nil {
				return err
			}
			to, err := movedTo(data)
			if err != nil {
				return tx.s.unaccountable("read marks", "where session "+k.String()+" was moved to", err)
			}
			m[k] = to
			return nil
		})
	return m, err
}

func movedTo(data string) (string, error) {
	var d moved
	if err := strictJSON([]byte(data), &d); err != nil {
		return "", err
	}
	if !filepath.IsAbs(d.To) || filepath.Clean(d.To) != d.To {
		return "", errors.New("it names no clean absolute path")
	}
	return d.To, nil
}

// place is where a recorded generation lives.
func (m moves) place(home Key) Key {
	if to, ok := m[home]; ok {
		home.Root = to
	}
	return home
}

// home is the key under which the generation that lives at k is recorded; ok is false when what was recorded for k lives elsewhere.
func (m moves) home(k Key) (home Key, ok bool) {
	for h, to := range m {
		if to == k.Root && h.Generation == k.Generation {
			return h, true
		}
	}
	return k, m.place(k) == k
}

// home is moves.home for one key.
func (tx *Tx) home(k Key) (home Key, ok bool, err error) {
	m, err := tx.moves(k.Agent, k.Session)
	if err != nil {
		return Key{}, false, err
	}
	home, ok = m.home(k)
	return home, ok, nil
}

// homeToWrite is home for those who write: that the generation lives elsewhere is an error.
func (tx *Tx) homeToWrite(k Key) (Key, error) {
	m, err := tx.moves(k.Agent, k.Session)
	if err != nil {
		return Key{}, err
	}
	home, ok := m.home(k)
	if !ok {
		return Key{}, &MovedError{k, m.place(k).Root}
	}
	return home, nil
}

// kept is one generation that the store has something of.
type kept struct {
	home, place Key
	route       bool // it has a route; else it was only opened
	forgotten   bool
}

// kept lists the generations of one session name, of all its roots.
func (tx *Tx) kept(agent, session string) ([]kept, error) {
	m, err := tx.moves(agent, session)
	if err != nil {
		return nil, err
	}
	var all []kept
	err = tx.rows("find session",
		`SELECT root, generation, MAX(route), EXISTS (SELECT 1 FROM mark AS m WHERE m.agent = ?1 AND m.session = ?2
			AND m.root = k.root AND m.generation = k.generation AND m.name = 'forgotten')
		FROM (
			SELECT root, generation, 1 AS route FROM route WHERE agent = ?1 AND session = ?2
			UNION SELECT root, generation, 0 FROM opened WHERE agent = ?1 AND session = ?2) AS k
		GROUP BY root, generation ORDER BY root, generation`,
		[]any{agent, session}, func(scan func(...any) error) error {
			g := kept{home: Key{Agent: agent, Session: session}}
			err := scan(&g.home.Root, &g.home.Generation, &g.route, &g.forgotten)
			g.place = m.place(g.home)
			all = append(all, g)
			return err
		})
	return all, err
}

// TakenError says that a session of that name lives where another one was to go.
type TakenError struct{ Holder Key }

// Error names it.
func (e *TakenError) Error() string {
	return fmt.Sprintf("there is a session %s in %s already", e.Holder, e.Holder.Root)
}

// ErrNoSession is returned when there is no such session, or none with a conversation.
var ErrNoSession = errors.New("there is no such session")

// Move makes a session live in another root: from now on it is found there, and its agent works there. All its generations go, and
// what is recorded of them is not touched. lock and target are the locks of the session and of to's, held by the caller. Errors
// match ErrNoSession, or are a *RecoveryError or a *TakenError. A session that lives in to already is left as it is.
func (tx *Tx) Move(lock, target *Lock, s SessionKey, to string) error {
	dest := SessionKey{s.Agent, s.Session, to}
	if err := errors.Join(s.validate(), dest.validate()); err != nil {
		return err
	}
	if !lock.holds(LockSession, s.LockName()) || !target.holds(LockSession, dest.LockName()) {
		return fmt.Errorf("move session %s: its locks are not held", s)
	}
	if _, err := tx.current(s); err != nil {
		return err
	}
	if owner, found, err := tx.Owner(s); err != nil {
		return err
	} else if found && owner.State != OwnerIdle {
		return &RecoveryError{owner}
	}
	if s == dest {
		return nil
	}
	going, err := tx.going(s, dest)
	if err != nil {
		return err
	}
	data, err := json.Marshal(moved{s.Root, to})
	if err != nil {
		return err
	}
	for _, home := range going {
		if err := tx.putMark(home, Mark{Name: MarkMoved, Data: data}); err != nil {
			return err
		}
	}
	return tx.write("move session", `DELETE FROM owner WHERE agent = ? AND session = ? AND root = ?`, s.Agent, s.Session, s.Root)
}

// current is Current for those who need one.
func (tx *Tx) current(s SessionKey) (Route, error) {
	r, found, err := tx.Current(s)
	if err == nil && !found {
		err = fmt.Errorf("%w: %s in %s", ErrNoSession, s, s.Root)
	}
	return r, err
}

// going lists the generations that live in s, by the keys they are recorded under, unless dest has something in their way.
func (tx *Tx) going(s, dest SessionKey) ([]Key, error) {
	all, err := tx.kept(s.Agent, s.Session)
	if err != nil {
		return nil, err
	}
	there := map[int]Key{}
	for _, g := range all {
		if g.place.Root == dest.Root {
			if !g.forgotten {
				return nil, &TakenError{g.place}
			}
			there[g.place.Generation] = g.place
		}
	}
	var going []Key
	for _, g := range all {
		if g.place.Root != s.Root {
			continue
		}
		if holder, taken := there[g.place.Generation]; taken { // two of one number could not be told apart
			return nil, &TakenError{holder}
		}
		going = append(going, g.home)
	}
	return going, nil
}
