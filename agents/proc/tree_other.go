//go:build unix && !linux

package proc

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// complete: a process that leaves the program's group is out of reach here.
const complete = false

func adoptOrphans() {} // only Linux gives orphans to another than init

// AdoptOrphans does nothing here: what a killed guardian leaves is nobody's but init's.
func AdoptOrphans() {}

func (g *guarded) begin() error { return g.cmd.Start() }

func (g *guarded) collected() {}

func endOrphans() {}

func programAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func dup2(from, to int) error { return unix.Dup2(from, to) }

func receiveMessage(b, oob []byte) (n, oobn int, err error) {
	n, oobn, _, _, err = unix.Recvmsg(lifelineFD, b, oob, 0)
	return n, oobn, err // the program runs already: nothing can inherit the file
}

func groupGone(leader int) bool { return syscall.Kill(-leader, 0) == syscall.ESRCH }

func signalTree(leader int, s syscall.Signal) { _ = syscall.Kill(-leader, s) }

// belowHere: descendants are not known here.
func belowHere() []int { return nil }

func reach() (whole bool, words string) {
	return false, "outside Linux an agent's process group and the end of its stdin are all that ends it: what it starts in a group of its own may go on"
}
