package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// complete says that a guardian's end means the end of every descendant.
const complete = true

// adoptOrphans makes this process the parent of every orphan below it.
func adoptOrphans() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// programAttr: a group of its own, and dead when the guardian is.
func programAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func dup2(from, to int) error { return unix.Dup3(from, to, 0) }

func receiveMessage(b, oob []byte) (n, oobn int, err error) {
	n, oobn, _, _, err = unix.Recvmsg(lifelineFD, b, oob, unix.MSG_CMSG_CLOEXEC)
	return n, oobn, err
}

// groupGone: a reaper without children has no descendants.
func groupGone(int) bool { return true }

// signalTree signals every descendant of this process, whatever session or group it
// has moved to. What is born meanwhile is met the next time.
func signalTree(_ int, s syscall.Signal) {
	for _, pid := range below(os.Getpid()) {
		_ = syscall.Kill(pid, s)
	}
}

// belowHere lists the descendants of this process.
func belowHere() []int { return below(os.Getpid()) }

// below lists the descendants of a process, parents first.
func below(root int) []int {
	list, ok := children(root)
	if !ok { // a kernel without these lists
		return scanProcesses(root)
	}
	for i := 0; i < len(list); i++ {
		more, _ := children(list[i])
		list = append(list, more...)
	}
	return list
}

// children reads the kernel's lists of the children of each thread of a process.
func children(pid int) (list []int, ok bool) {
	dir := fmt.Sprintf("/proc/%d/task/", pid)
	threads, _ := os.ReadDir(dir)
	for _, thread := range threads {
		b, err := os.ReadFile(dir + thread.Name() + "/children")
		if err != nil {
			continue
		}
		ok = true
		for _, word := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(list, child)
			}
		}
	}
	return list, ok
}

// scanProcesses finds the same by asking every process for its parent.
func scanProcesses(root int) (list []int) {
	below := map[int][]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		b, _ := os.ReadFile(file)
		_, rest, ok := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ") // behind the name
		words := strings.Fields(rest)
		if !ok || len(words) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parent, _ := strconv.Atoi(words[1])
		below[parent] = append(below[parent], pid)
	}
	list = below[root]
	for i := 0; i < len(list); i++ {
		list = append(list, below[list[i]]...)
	}
	return list
}

// reach asks the kernel for what a guardian stands on: that it can adopt orphans, and that it can see its descendants.
func reach() (whole bool, words string) {
	var on int32
	if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&on)), 0, 0, 0); err != nil {
		return false, "this kernel lets no process adopt orphans: what an agent starts and leaves behind may go on"
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return false, "there is no /proc, so what an agent starts in a process group of its own may go on"
	}
	return true, ""
}
