package store

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Told are digests of what a generation of a session was told beside the words of its prompts; "" for nothing.
type Told struct {
	Instructions string // of the workflow
	Tools        string // of the workflow, that the agent was told directly
}

// Told returns what a generation was told last; the zero value if nothing is known of it.
func (tx *Tx) Told(k Key) (t Told, err error) {
	home, ok, err := tx.home(k)
	if err != nil || !ok || tx.s.version < 2 {
		return Told{}, err
	}
	_, err = tx.row("read told", `SELECT instructions, tools FROM told WHERE agent = ? AND session = ? AND root = ? AND generation = ?`,
		[]any{home.Agent, home.Session, home.Root, home.Generation}, &t.Instructions, &t.Tools)
	return t, err
}

// PutTold records what a generation was told.
func (tx *Tx) PutTold(k Key, t Told) error {
	if err := k.validate(); err != nil {
		return err
	}
	home, err := tx.homeToWrite(k)
	if err != nil {
		return err
	}
	return tx.write("put told", `INSERT INTO told (agent, session, root, generation, instructions, tools) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET instructions = excluded.instructions, tools = excluded.tools`,
		home.Agent, home.Session, home.Root, home.Generation, t.Instructions, t.Tools)
}

// PutPending records what becomes true when the provider is known to have the words of a turn, in the place of what was recorded for that
// turn and those before it.
func (tx *Tx) PutPending(k Key, turn int, record json.RawMessage) error {
	if err := k.validate(); err != nil {
		return err
	}
	home, err := tx.homeToWrite(k)
	if err != nil {
		return err
	}
	return errors.Join(
		tx.write("put pending", `DELETE FROM pending WHERE agent = ? AND session = ? AND root = ? AND generation = ? AND turn <= ?`,
			home.Agent, home.Session, home.Root, home.Generation, turn),
		tx.write("put pending", `INSERT INTO pending (agent, session, root, generation, turn, record, sum) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			home.Agent, home.Session, home.Root, home.Generation, turn, string(record), digestOf(record)))
}

// TakePending returns what PutPending recorded for a turn, and removes it; found is false if there is nothing, or it was taken.
func (tx *Tx) TakePending(k Key, turn int) (record json.RawMessage, found bool, err error) {
	home, ok, err := tx.home(k)
	if err != nil || !ok {
		return nil, false, err
	}
	var text, sum string
	found, err = tx.row("read pending", `SELECT record, sum FROM pending WHERE agent = ? AND session = ? AND root = ? AND generation = ? AND turn = ?`,
		[]any{home.Agent, home.Session, home.Root, home.Generation, turn}, &text, &sum)
	if err != nil || !found {
		return nil, false, err
	}
	if digestOf([]byte(text)) != sum {
		return nil, false, tx.s.unaccountable("read pending", fmt.Sprintf("turn %d of session %s", turn, k), errors.New("the record does not match its sum"))
	}
	return json.RawMessage(text), true, tx.write("put pending",
		`DELETE FROM pending WHERE agent = ? AND session = ? AND root = ? AND generation = ? AND turn = ?`,
		home.Agent, home.Session, home.Root, home.Generation, turn)
}

// textOf are the kinds of records that hold what was said to a session and by its agent.
const textOf = `'prompt.sent', 'message', 'thought', 'notice', 'tool.started', 'tool.ended', 'permission', 'todo', 'prompt.ended', 'handoff'`

// Forget takes all generations of a session out of use: its next prompt begins a new conversation under the next number. The routes
// stay, as everything that was constructed does; what runs have on record of its text is removed, and how many records that were is
// returned. lock is the session's, held by the caller. Errors: a *RecoveryError when its last owner left a turn or a window open.
func (tx *Tx) Forget(lock *Lock, s SessionKey) (records int64, err error) {
	if !lock.holds(LockSession, s.LockName()) {
		return 0, fmt.Errorf("forget session %s: its lock is not held", s)
	}
	if owner, found, err := tx.Owner(s); err != nil {
		return 0, err
	} else if found && owner.State != OwnerIdle {
		return 0, &RecoveryError{owner}
	}
	all, err := tx.kept(s.Agent, s.Session)
	if err != nil {
		return 0, err
	}
	runs, err := tx.RunsOf(s)
	for _, g := range all {
		if err == nil && g.place.Root == s.Root && !g.forgotten {
			err = errors.Join(tx.putMark(g.home, Mark{Name: MarkForgotten}), tx.forgetTold(g.home))
		}
	}
	for _, run := range runs {
		var n int64
		if err == nil {
			n, err = tx.forgetText(run, s)
		}
		records += n
	}
	return records, err
}

func (tx *Tx) forgetTold(home Key) error {
	var errs []error
	for _, table := range []string{"told", "pending"} {
		errs = append(errs, tx.write("forget session", `DELETE FROM `+table+` WHERE agent = ? AND session = ? AND root = ? AND generation = ?`,
			home.Agent, home.Session, home.Root, home.Generation))
	}
	return errors.Join(errs...)
}

// forgetText removes what a run has on record of what was said to a session and by its agent.
func (tx *Tx) forgetText(run string, s SessionKey) (records int64, err error) {
	where := ` FROM record WHERE run = ? AND kind IN (` + textOf + `) AND json_extract(data, '$.at.agent') = ? AND json_extract(data, '$.at.session') = ?`
	args := []any{run, s.Agent, s.Session}
	if _, err := tx.row("forget session", `SELECT COUNT(*)`+where, args, &records); err != nil {
		return 0, err
	}
	return records, tx.write("forget session", `DELETE`+where, args...)
}
