package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// ConversationInfo is what is kept of a Conversation beside its log.
type ConversationInfo struct {
	ConversationKey
	Last      int  // the highest number that an entry of it ever had; 0: none was made
	Point     int  // entries up to this number are not handed over any more
	Forgotten bool // its log was removed, and nothing was said in it since
	Time      time.Time
}

// Entry is one entry of the log of a Conversation: a turn whose words its agent's provider has.
type Entry struct {
	Number     int // from 1
	Agent      string
	Generation int // of the agent's session in it
	Turn       int // the number of the turn in that generation
	Asked      json.RawMessage
	Ended      json.RawMessage // nil: its end was not seen
}

// Party is an agent that takes part in a Conversation.
type Party struct {
	Agent      string
	Generation int // of its session: the one that has the newest accepted turn of the agent
	Seen       int // the last entry that the provider conversation of that generation holds
}

// Conversation returns what is kept of a Conversation; found is false when nothing was ever said in it.
func (tx *Tx) Conversation(c ConversationKey) (info ConversationInfo, found bool, err error) {
	if tx.s.version < 2 {
		return info, false, nil
	}
	info.ConversationKey = c
	var ms int64
	found, err = tx.row("read conversation", `SELECT last, point, forgotten, time FROM conversation WHERE session = ? AND root = ?`,
		[]any{c.Session, c.Root}, &info.Last, &info.Point, &info.Forgotten, &ms)
	info.Time = fromMillis(ms)
	return info, found, err
}

// Conversations lists the Conversations that have a name, by name and root. session and root choose; "" is any.
func (tx *Tx) Conversations(session, root string) (list []ConversationInfo, err error) {
	if tx.s.version < 2 {
		return nil, nil
	}
	err = tx.rows("list conversations", `SELECT session, root, last, point, forgotten, time FROM conversation
		WHERE session NOT LIKE ':%' AND ?1 IN ('', session) AND ?2 IN ('', root) ORDER BY session, root`, []any{session, root},
		func(scan func(...any) error) error {
			var c ConversationInfo
			var ms int64
			err := scan(&c.Session, &c.Root, &c.Last, &c.Point, &c.Forgotten, &ms)
			c.Time = fromMillis(ms)
			list = append(list, c)
			return err
		})
	return list, err
}

// FindConversation looks for a Conversation of that name as FindRoot does for a session.
func (s *Store) FindConversation(ctx context.Context, dir, name string) (Place, error) {
	dirs, err := searchPath(dir)
	if err != nil {
		return Place{}, err
	}
	var there []ConversationInfo
	err = s.View(ctx, func(tx *Tx) error {
		there, err = tx.Conversations(Conversation(name), "")
		return err
	})
	if err != nil {
		return Place{}, err
	}
	for _, d := range dirs {
		if slices.ContainsFunc(there, func(c ConversationInfo) bool { return c.Root == d && !c.Forgotten }) {
			return Place{d, true}, nil
		}
	}
	return Place{Root: dirs[0]}, nil
}

// Party returns what is known of an agent in a Conversation; found is false when it never took part.
func (tx *Tx) Party(c ConversationKey, agent string) (p Party, found bool, err error) {
	p.Agent = agent
	found, err = tx.row("read party", `SELECT generation, seen FROM party WHERE session = ? AND root = ? AND agent = ?`,
		[]any{c.Session, c.Root, agent}, &p.Generation, &p.Seen)
	return p, found, err
}

// Parties lists the agents that took part in a Conversation, by name.
func (tx *Tx) Parties(c ConversationKey) (list []Party, err error) {
	err = tx.rows("read parties", `SELECT agent, generation, seen FROM party WHERE session = ? AND root = ? ORDER BY agent`,
		[]any{c.Session, c.Root}, func(scan func(...any) error) error {
			var p Party
			err := scan(&p.Agent, &p.Generation, &p.Seen)
			list = append(list, p)
			return err
		})
	return list, err
}

// PutParty records how far an agent has come in a Conversation.
func (tx *Tx) PutParty(c ConversationKey, p Party) error {
	if p.Generation < 1 || p.Agent == "" {
		return fmt.Errorf("party %q of %s: generation %d", p.Agent, c, p.Generation)
	}
	return tx.write("put party", `INSERT INTO party (session, root, agent, generation, seen) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET generation = excluded.generation, seen = excluded.seen`, c.Session, c.Root, p.Agent, p.Generation, p.Seen)
}

// AddEntry puts an entry at the end of the log of a Conversation, unless that very turn has one, and returns the number of its entry.
// e.Number and e.Ended are ignored.
func (tx *Tx) AddEntry(c ConversationKey, e Entry) (number int, added bool, err error) {
	if err := c.Of(e.Agent).Generation(e.Generation).validate(); err != nil {
		return 0, false, err
	}
	if number, found, err := tx.entryOf(c, e); err != nil || found {
		return number, false, err
	}
	info, _, err := tx.Conversation(c)
	if err != nil {
		return 0, false, err
	}
	number = info.Last + 1
	err = tx.write("put conversation", `INSERT INTO conversation (session, root, last, point, forgotten, time) VALUES (?, ?, ?, 0, 0, ?)
		ON CONFLICT DO UPDATE SET last = excluded.last, forgotten = 0`, c.Session, c.Root, number, toMillis(tx.now(time.Time{})))
	if err == nil {
		err = tx.write("put entry", `INSERT INTO entry (session, root, number, agent, generation, turn, record, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			c.Session, c.Root, number, e.Agent, e.Generation, e.Turn, string(e.Asked), digestOf(e.Asked))
	}
	return number, err == nil, err
}

func (tx *Tx) entryOf(c ConversationKey, e Entry) (number int, found bool, err error) {
	found, err = tx.row("read entry", `SELECT number FROM entry WHERE session = ? AND root = ? AND agent = ? AND generation = ? AND turn = ?`,
		[]any{c.Session, c.Root, e.Agent, e.Generation, e.Turn}, &number)
	return number, found, err
}

// EndEntry records how the turn of an entry ended; of e only Agent, Generation, Turn and Ended count. A turn without an entry, or whose
// end is on record, is left as it is.
func (tx *Tx) EndEntry(c ConversationKey, e Entry) error {
	number, found, err := tx.entryOf(c, e)
	if err != nil || !found {
		return err
	}
	var there bool
	_, err = tx.row("read entry", `SELECT EXISTS (SELECT 1 FROM entry_end WHERE session = ? AND root = ? AND number = ?)`,
		[]any{c.Session, c.Root, number}, &there)
	if err != nil || there {
		return err
	}
	return tx.write("end entry", `INSERT INTO entry_end (session, root, number, record, sum) VALUES (?, ?, ?, ?, ?)`,
		c.Session, c.Root, number, string(e.Ended), digestOf(e.Ended))
}

// EntryRange chooses entries of a Conversation: those behind After and before Before (0: no bound) but those of one party.
type EntryRange struct {
	After, Before int
	But           Party // whose entries of its generation are left out; zero: nobody's
}

const inRange = ` FROM entry AS e LEFT JOIN entry_end AS d ON d.session = e.session AND d.root = e.root AND d.number = e.number
	WHERE e.session = ?1 AND e.root = ?2 AND e.number > ?3 AND (?4 = 0 OR e.number < ?4) AND NOT (agent = ?5 AND generation = ?6)`

func (x EntryRange) args(c ConversationKey) []any {
	return []any{c.Session, c.Root, x.After, x.Before, x.But.Agent, x.But.Generation}
}

// CountEntries says how many entries x chooses.
func (tx *Tx) CountEntries(c ConversationKey, x EntryRange) (n int, err error) {
	if tx.s.version < 2 {
		return 0, nil
	}
	_, err = tx.row("read entries", `SELECT COUNT(*)`+inRange, x.args(c), &n)
	return n, err
}

// Entries returns up to n of the entries that x chooses: the newest, newest first, or with oldest the first ones. A damaged one is an error
// that matches ErrUnaccountable.
func (tx *Tx) Entries(c ConversationKey, x EntryRange, n int, oldest bool) (list []Entry, err error) {
	if tx.s.version < 2 {
		return nil, nil
	}
	order := ` ORDER BY e.number DESC LIMIT ?7`
	if oldest {
		order = ` ORDER BY e.number LIMIT ?7`
	}
	err = tx.rows("read entries", `SELECT e.number, agent, generation, turn, e.record, e.sum, COALESCE(d.record, ''), COALESCE(d.sum, '')`+inRange+order,
		append(x.args(c), n),
		func(scan func(...any) error) error {
			var e Entry
			var asked, sum, ended, endSum string
			if err := scan(&e.Number, &e.Agent, &e.Generation, &e.Turn, &asked, &sum, &ended, &endSum); err != nil {
				return err
			}
			e.Asked = json.RawMessage(asked)
			good := digestOf(e.Asked) == sum
			if ended != "" {
				e.Ended = json.RawMessage(ended)
				good = good && digestOf(e.Ended) == endSum
			}
			if !good {
				return tx.s.unaccountable("read entries", fmt.Sprintf("entry %d of %s", e.Number, c), errors.New("the record does not match its sum"))
			}
			list = append(list, e)
			return nil
		})
	return list, err
}

// SetPoint makes everything that was said in a Conversation until now be left out of later handoffs. lock is the Conversation's, held by
// the caller. Errors match ErrNoSession when nothing was ever said in it.
func (tx *Tx) SetPoint(lock *Lock, c ConversationKey) (point int, err error) {
	if !lock.holds(LockSession, c.LockName()) {
		return 0, fmt.Errorf("restart %s: its lock is not held", c)
	}
	info, found, err := tx.Conversation(c)
	if err == nil && (!found || info.Forgotten) {
		err = fmt.Errorf("%w: %s in %s", ErrNoSession, c, c.Root)
	}
	if err != nil {
		return 0, err
	}
	return info.Last, tx.write("put conversation", `UPDATE conversation SET point = last WHERE session = ? AND root = ?`, c.Session, c.Root)
}

// ForgetConversation removes the log of a Conversation, and what is kept of its agents' part in it; that it was there stays known, and
// its numbers are not used again. lock is the Conversation's, held by the caller.
func (tx *Tx) ForgetConversation(lock *Lock, c ConversationKey) error {
	if !lock.holds(LockSession, c.LockName()) {
		return fmt.Errorf("forget %s: its lock is not held", c)
	}
	return errors.Join(
		tx.write("forget conversation", `DELETE FROM entry_end WHERE session = ? AND root = ?`, c.Session, c.Root),
		tx.write("forget conversation", `DELETE FROM entry WHERE session = ? AND root = ?`, c.Session, c.Root),
		tx.write("forget conversation", `DELETE FROM party WHERE session = ? AND root = ?`, c.Session, c.Root),
		tx.write("forget conversation", `UPDATE conversation SET point = last, forgotten = 1 WHERE session = ? AND root = ?`, c.Session, c.Root))
}

// pruneConversations deletes what is kept of the sessions whose names stand from from and before to: those of a run.
func (tx *Tx) pruneConversations(from, to string) error {
	var errs []error
	for _, table := range []string{"entry_end", "entry", "party", "conversation", "told", "pending"} {
		errs = append(errs, tx.write("prune run", `DELETE FROM `+table+` WHERE session >= ? AND session < ?`, from, to))
	}
	return errors.Join(errs...)
}
