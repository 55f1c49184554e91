package store

import (
	"context"
	"fmt"
	"time"
)

// OwnerState says what the owner of a session was doing.
type OwnerState string

// The owner states. Anything but idle found without a living owner needs recovery.
const (
	OwnerIdle   OwnerState = "idle"
	OwnerTurn   OwnerState = "turn"   // a turn was in flight
	OwnerNative OwnerState = "native" // a native interface was open
)

// Owner is the owner record of a session. There is one per session over all generations; the lock decides who may write it.
type Owner struct {
	Key
	State    OwnerState
	Pid      int    // zero: this process
	BootID   string // empty: this start of the machine
	Run      string
	Step     string // the step in flight, empty when idle
	NativeID string // empty when not known yet
	Since    time.Time
}

// RecoveryError says that the last owner of a session ended while a turn or a native interface was open.
type RecoveryError struct{ Owner Owner }

// Error names the session, what was open, since when and in which run.
func (e *RecoveryError) Error() string {
	o := e.Owner
	what := "a turn was in flight"
	if o.State == OwnerNative {
		what = "its native interface was open"
	}
	msg := fmt.Sprintf("session %s: %s when its last owner ended (since %s", o.SessionKey(), what, o.Since.Local().Format(time.DateTime))
	if o.Run != "" {
		msg += ", run " + o.Run
	}
	return msg + "): run xmd sessions recover " + o.SessionKey().String()
}

// SetOwner writes the owner record. Zero Pid, BootID and Since are filled in. The caller holds the session lock.
func (tx *Tx) SetOwner(o Owner) error {
	if err := o.Key.validate(); err != nil {
		return err
	}
	if !o.State.known() {
		return fmt.Errorf("owner of session %s: state %q", o.Key, o.State)
	}
	if o.Pid == 0 {
		o.Pid = tx.s.opts.Pid
	}
	if o.BootID == "" {
		o.BootID = tx.s.opts.BootID
	}
	return tx.write("set owner",
		`INSERT INTO owner (agent, session, root, generation, state, pid, boot_id, run, step, native_id, since)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET generation = excluded.generation, state = excluded.state, pid = excluded.pid,
			boot_id = excluded.boot_id, run = excluded.run, step = excluded.step, native_id = excluded.native_id,
			since = excluded.since`,
		o.Agent, o.Session, o.Root, o.Generation, string(o.State), o.Pid, o.BootID, o.Run, o.Step, o.NativeID,
		toMillis(tx.now(o.Since)))
}

// Owner returns the owner record of a session.
func (tx *Tx) Owner(s SessionKey) (o Owner, found bool, err error) {
	o.Agent, o.Session, o.Root = s.Agent, s.Session, s.Root
	var ms int64
	found, err = tx.row("read owner",
		`SELECT generation, state, pid, boot_id, run, step, native_id, since FROM owner
		WHERE agent = ? AND session = ? AND root = ?`,
		[]any{s.Agent, s.Session, s.Root}, &o.Generation, &o.State, &o.Pid, &o.BootID, &o.Run, &o.Step, &o.NativeID, &ms)
	if err != nil || !found {
		return Owner{}, false, err
	}
	if !o.State.known() {
		return Owner{}, false, tx.s.unaccountable("read owner", "the owner of session "+s.String(), fmt.Errorf("state %q", o.State))
	}
	o.Since = fromMillis(ms)
	return o, true, nil
}

// Claim makes this process the idle owner of a session whose lock it holds, or returns a *RecoveryError when the last
// owner left a turn or a native interface open. Whoever may go on nevertheless (recover, the resume of that very run)
// reads Owner and calls SetOwner instead. o.State is ignored.
func (tx *Tx) Claim(lock *Lock, o Owner) error {
	if !lock.holds(LockSession, o.SessionKey().LockName()) {
		return fmt.Errorf("claim session %s: its lock is not held", o.Key)
	}
	last, found, err := tx.Owner(o.SessionKey())
	if err != nil {
		return err
	}
	if found && last.State != OwnerIdle {
		return &RecoveryError{last}
	}
	o.State, o.Step = OwnerIdle, ""
	return tx.SetOwner(o)
}

// Claim is Tx.Claim in a transaction of its own.
func (s *Store) Claim(ctx context.Context, lock *Lock, o Owner) error {
	return s.Do(ctx, func(tx *Tx) error { return tx.Claim(lock, o) })
}

func (o OwnerState) known() bool { return o == OwnerIdle || o == OwnerTurn || o == OwnerNative }

// Owners returns the owner records of the sessions that sel and root choose ("" is any root), sorted by agent, session and root. A
// session that was opened and never had an accepted turn has one, and no route.
func (tx *Tx) Owners(sel Selector, root string) ([]Owner, error) {
	var keys []SessionKey
	err := tx.rows("list owners",
		`SELECT agent, session, root FROM owner WHERE ?1 IN ('', agent) AND ?2 IN ('', session) AND ?3 IN ('', root)
		ORDER BY agent, session, root`,
		[]any{sel.Agent, sel.Session, root}, func(scan func(...any) error) error {
			var k SessionKey
			err := scan(&k.Agent, &k.Session, &k.Root)
			keys = append(keys, k)
			return err
		})
	if err != nil {
		return nil, err
	}
	var owners []Owner
	for _, k := range keys {
		o, found, err := tx.Owner(k)
		if err != nil {
			return nil, err
		}
		if found {
			owners = append(owners, o)
		}
	}
	return owners, nil
}
