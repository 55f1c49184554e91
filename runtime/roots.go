package runtime

import (
	"context"
	"fmt"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// noteRoot says once what a person may not expect of where a session lives: that it is another folder than the run's, or that a
// session of the same name exists elsewhere and a new one is about to be made here.
func (r *Runner) noteRoot(key store.SessionKey, found store.Place) {
	r.mu.Lock()
	noted := r.noted[key]
	r.noted[key] = true
	r.mu.Unlock()
	if noted {
		return
	}
	at := event.At{Agent: key.Agent, Session: key.Session}
	if found.Found {
		if found.Root != r.o.Dir {
			r.warn("session", fmt.Sprintf("Session %q lives in %s; %s works there.", key.Session, found.Root, key.Agent), at)
		}
		return
	}
	strays, err := r.o.Store.Strays(context.Background(), r.o.Dir, key.Agent, key.Session)
	if err != nil || len(strays) == 0 {
		return // a note is no reason to fail; what is wrong with the store shows at its next use
	}
	s := strays[0]
	why := "another worktree of this repository"
	switch {
	case s.Moved:
		r.warn("session", fmt.Sprintf("The session %q of %s that was here was moved to %s. A new one is made here.", key.Session, key.Agent, s.Root), at)
		return
	case s.Gone:
		why = "gone"
	}
	r.warn("session", fmt.Sprintf("A session %q of %s exists for %s, which is %s. A new one is made here; xmd sessions move %s --to DIR carries it over.",
		key.Session, key.Agent, s.Root, why, key.Session), at)
}
