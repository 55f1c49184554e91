package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// How the kernel is asked for a terminal's mode, and told one after what was written has been shown.
const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSW
)

// parentOf is the parent of a process, 0 if it cannot be told.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	words := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:])) // behind the name
	if len(words) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(words[1])
	return parent
}
