//go:build linux

package main

import (
	"math/rand/v2"
	"syscall"
	"time"
)

// strike is one kill: of what, and how long after the start of an xmd.
type strike struct {
	kind  string
	after time.Duration
	pick  uint64 // which of several
}

// The kinds of strikes. Those that begin with SIG are signals to xmd; the others are kill -9.
const (
	noStrike          = "none"
	killAgent         = "agent"
	killGrandchild    = "grandchild"
	killGuardian      = "guardian"
	killXMD           = "xmd"
	killGuardianAndUs = "guardian, then xmd"
	killXMDAndGuard   = "xmd, then guardian"
	interrupt         = "SIGINT"
	terminate         = "SIGTERM"
)

// kinds with their weights: xmd itself is what resume is about.
var kinds = []string{
	killXMD, killXMD, killXMD, killXMD, killXMD, killAgent, killAgent, killAgent, killGuardian, killGuardian, killGrandchild, killGrandchild,
	killGuardianAndUs, killXMDAndGuard, interrupt, interrupt, terminate,
}

// strikes are those of one document: none for every fourth, else up to four, one for each xmd that works on it.
func strikes(rng *rand.Rand) (list []strike) {
	if rng.IntN(4) == 0 {
		return nil
	}
	for range 1 + rng.IntN(4) {
		after := time.Duration(rng.IntN(900)) * time.Millisecond
		if rng.IntN(3) == 0 { // when xmd has just begun, or resumes
			after /= 8
		}
		list = append(list, strike{kinds[rng.IntN(len(kinds))], after, rng.Uint64()})
	}
	return list
}

// signalOf is what a kind sends to xmd itself; 0: nothing.
func signalOf(kind string) syscall.Signal {
	switch kind {
	case killXMD, killGuardianAndUs, killXMDAndGuard:
		return syscall.SIGKILL
	case interrupt:
		return syscall.SIGINT
	case terminate:
		return syscall.SIGTERM
	}
	return 0
}

// victim is the role that a kind kills beside xmd; "": none.
func victim(kind string) string {
	switch kind {
	case killAgent, killGrandchild, killGuardian:
		return kind
	case killGuardianAndUs, killXMDAndGuard:
		return killGuardian
	}
	return ""
}

// hit strikes now, if there is somebody to hit: an xmd with this process id and what descends from it. It gives whom it has killed.
func (s strike) hit(mark string, xmd int) (killed []process, done bool) {
	var targets []process
	role := victim(s.kind)
	if role != "" {
		for _, p := range below(marked(mark), xmd) {
			if p.role == role {
				targets = append(targets, p)
			}
		}
		if len(targets) == 0 {
			return nil, false
		}
	}
	sig := signalOf(s.kind)
	if s.kind != killGuardianAndUs && sig != 0 {
		_ = syscall.Kill(xmd, sig)
	}
	if len(targets) > 0 {
		p := targets[s.pick%uint64(len(targets))]
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
		killed = append(killed, p)
	}
	if s.kind == killGuardianAndUs {
		_ = syscall.Kill(xmd, sig)
	}
	return killed, true
}
