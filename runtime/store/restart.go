package store

import "fmt"

// MarkRestart is the mark that makes the next prompt of a session begin a new generation.
const MarkRestart = "restart"

// Restart marks the current generation of a session, so that the next attach begins a new conversation. The generation stays current
// until the new one has its first accepted turn. What the last owner left in flight is given up: the owner record becomes idle. The
// caller holds lock, the session's. It returns the generation that is marked, also when it was before. Errors match ErrNoSession
// when the session has no route.
func (tx *Tx) Restart(lock *Lock, s SessionKey) (Route, error) {
	if !lock.holds(LockSession, s.LockName()) {
		return Route{}, fmt.Errorf("restart session %s: its lock is not held", s)
	}
	route, err := tx.current(s)
	if err != nil {
		return Route{}, err
	}
	due, err := tx.RestartDue(s)
	if err != nil {
		return Route{}, err
	}
	if !due {
		if err := tx.PutMark(Mark{Key: route.Key, Name: MarkRestart}); err != nil {
			return Route{}, err
		}
	}
	owner, found, err := tx.Owner(s)
	if err == nil && found && owner.State != OwnerIdle {
		err = tx.SetOwner(Owner{Key: route.Key, State: OwnerIdle, NativeID: route.NativeSessionID})
	}
	return route, err
}

// RestartDue says whether the current generation of a session is marked for a restart: whoever attaches begins the next one. A
// session without a route has none.
func (tx *Tx) RestartDue(s SessionKey) (bool, error) {
	route, found, err := tx.Current(s)
	if err != nil || !found {
		return false, err
	}
	marks, err := tx.Marks(route.Key)
	for _, m := range marks {
		if m.Name == MarkRestart {
			return true, err
		}
	}
	return false, err
}
