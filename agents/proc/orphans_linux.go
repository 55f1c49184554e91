package proc

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// nursery knows which children of this process are guardians, or were there before it adopted orphans: every other child fell to it from a
// guardian that was killed.
var nursery struct {
	starting  sync.RWMutex // held for reading while a guardian is started: until it is known it would be an orphan
	wanted    bool         // set before anything is started
	once      sync.Once
	adopts    bool
	mu        sync.Mutex
	guardians []int
}

// AdoptOrphans lets this process, from its first Start on, be the parent of what a killed guardian leaves, and end it before that program
// is Done. It is for a program that starts its children by this package alone: any other that it starts later would be taken for an orphan. Where
// the kernel cannot do that it changes nothing. It must be called before anything is started.
func AdoptOrphans() { nursery.wanted = true }

// begin starts a guardian so that it is never taken for an orphan.
func (g *guarded) begin() error {
	nursery.once.Do(func() {
		if before, ok := children(os.Getpid()); ok && nursery.wanted {
			nursery.guardians = before // a shell that has become this process may have had some
			adoptOrphans()
			nursery.adopts = true
		}
	})
	nursery.starting.RLock()
	defer nursery.starting.RUnlock()
	if err := g.cmd.Start(); err != nil {
		return err
	}
	nursery.mu.Lock()
	defer nursery.mu.Unlock()
	nursery.guardians = append(nursery.guardians, g.cmd.Process.Pid)
	return nil
}

// collected says that a guardian has been waited for: its number may be given to somebody else.
func (g *guarded) collected() {
	nursery.mu.Lock()
	defer nursery.mu.Unlock()
	nursery.guardians = slices.DeleteFunc(nursery.guardians, func(pid int) bool { return pid == g.cmd.Process.Pid })
}

// endOrphans kills what fell to this process until nothing of it is left, for as long as the kernel may take.
func endOrphans() {
	if !nursery.adopts {
		return
	}
	for end := time.Now().Add(killWait); time.Now().Before(end); time.Sleep(killEvery) {
		if killOrphans() == 0 {
			return
		}
	}
}

// killOrphans kills them and all below them, and collects those that have ended. It gives how many there were.
func killOrphans() int {
	nursery.starting.Lock()
	defer nursery.starting.Unlock()
	nursery.mu.Lock()
	defer nursery.mu.Unlock()
	mine, _ := children(os.Getpid())
	orphans := slices.DeleteFunc(mine, func(pid int) bool { return slices.Contains(nursery.guardians, pid) })
	for _, pid := range orphans {
		for _, p := range append([]int{pid}, below(pid)...) {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		var s syscall.WaitStatus
		_, _ = syscall.Wait4(pid, &s, syscall.WNOHANG, nil)
	}
	return len(orphans)
}
