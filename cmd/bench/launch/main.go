//go:build unix

// Command launch starts one program and measures it, for the benchmarks. A process begins with the peak memory of the one that it was
// forked from (vfork shares it until the program is in place), so what is measured is started from here, by a process that is smaller than
// anything it measures, and never from the harness.
//
//	launch PROGRAM [ARGUMENT…]
//
// Standard input is empty; stdout and stderr are the program's. On file descriptor 3 it writes the program's process id in a line, and in
// another, when the program has ended, "EXIT WALL USER SYSTEM PEAK": the exit code (128 and the number of a signal), nanoseconds, and
// bytes. The peak is that of the largest single process among the program and the descendants that were waited for.
package main

import (
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

func main() {
	report := os.NewFile(3, "report")
	syscall.CloseOnExec(3)
	if len(os.Args) < 2 || report == nil {
		println("usage: launch PROGRAM [ARGUMENT…] 3>REPORT")
		os.Exit(2)
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		println("launch:", err.Error())
		os.Exit(2)
	}
	// A signal to the group is the program's to obey. A handler, unlike ignoring, is not inherited.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	begun := time.Now()
	p, err := os.StartProcess(os.Args[1], os.Args[1:], &os.ProcAttr{Files: []*os.File{nothing, os.Stdout, os.Stderr}})
	if err != nil {
		println("launch:", err.Error())
		os.Exit(2)
	}
	line(report, int64(p.Pid))
	state, err := p.Wait()
	took := time.Since(begun)
	if err != nil {
		println("launch:", err.Error())
		os.Exit(2)
	}
	usage := state.SysUsage().(*syscall.Rusage)
	line(report, int64(code(state)), int64(took), usage.Utime.Nano(), usage.Stime.Nano(), peak(usage))
}

func line(to *os.File, figures ...int64) {
	var b []byte
	for i, figure := range figures {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, figure, 10)
	}
	if _, err := to.Write(append(b, '\n')); err != nil {
		println("launch:", err.Error())
		os.Exit(2)
	}
}

func code(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// peak is in bytes: Linux counts in KiB, Darwin in bytes.
func peak(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) * 1024
}
