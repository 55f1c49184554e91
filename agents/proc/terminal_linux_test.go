package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestTerminalIsHandedOverAndComesBack(t *testing.T) {
	for key, code := range map[string]string{"q": "0", "x": "7", "k": "137"} {
		t.Run("exit "+code, func(t *testing.T) {
			s := sit(t, "host:")
			s.Await("window: front=true")
			if s.Mode() == s.before {
				t.Error("the program's own mode is not in force")
			}
			s.Type(key)
			s.Await("host: " + code + " <nil> front=true")
			s.restored(t)
			s.Type("mine\r")
			s.Await(`host read "mine\n"`)
		})
	}
}

// What is typed while a program has the terminal is the program's, though this process has a reader on the same terminal.
func TestTerminalKeysAndSignalsAreTheProgramsAlone(t *testing.T) {
	s := sit(t, "host:")
	s.Await("window: front=true")
	s.Type("ab")
	s.Await(`window: key 'a'`)
	s.Await(`window: key 'b'`)
	s.Resize(31, 90)
	s.Await("window: window changed rows=31")
	s.Type("i")
	s.Await("window: signals")
	s.Type("\x03")
	s.Await("window: interrupt")
	s.Type("q")
	s.Await("host: 0 <nil> front=true")
	s.Type("mine\r")
	s.Await(`host read "mine\n"`)
}

// Ctrl-Z stops the whole job, and fg continues it with the terminal as the program had it.
func TestTerminalUnderAShellWithJobControl(t *testing.T) {
	for _, how := range []string{"fg", "bg, fg"} {
		t.Run(how, func(t *testing.T) {
			s := bash(t)
			s.Type("\"$EXE\"\r")
			s.Await("window: front=true")
			s.Type("i")
			s.Await("window: signals")
			s.Type("\x1a")
			s.Await("Stopped")
			s.Await("$ ")
			s.Type("echo the shell has it\r")
			s.Await("echo the shell has it")
			s.Await("the shell has it")
			if how != "fg" {
				s.Await("$ ")
				s.Type("bg\r")
				s.Await("$ ")
				s.stopped(t)
			} else {
				s.Await("$ ")
			}
			s.Type("fg\r")
			s.Await("window: continued")
			s.Await("raw=true")
			s.Type("a")
			s.Await(`window: key 'a'`)
			s.Type("x")
			s.Await("host: 7 <nil> front=true")
			s.Type("mine\r")
			s.Await(`host read "mine\n"`)
			s.Await("$ ")
		})
	}
}

// A job that is begun in the background stops until it is brought to the front.
func TestTerminalFromTheBackground(t *testing.T) {
	s := bash(t)
	s.Type("\"$EXE\" &\r")
	s.Await("$ ")
	s.stopped(t)
	s.Type("fg\r")
	s.Await("window: front=true")
	s.Type("q")
	s.Await("host: 0 <nil> front=true")
	s.Type("mine\r")
	s.Await("host read")
}

// stopped waits until the shell says that its job wants the terminal.
func (s *table) stopped(t *testing.T) {
	t.Helper()
	eventually(t, "the job has stopped", func() bool {
		s.Type("jobs\r")
		return strings.Contains(s.Await("$ "), "Stopped")
	})
}

// bash is an interactive shell; $EXE is a host.
func bash(t *testing.T) *table { return bashWith(t, "host:", "--noediting") }

func bashWith(t *testing.T, mode string, flags ...string) *table {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/bash", append(append([]string{"--norc", "--noprofile"}, flags...), "-i")...)
	s := sitWith(t, cmd, mode)
	s.Await("$ ")
	s.Type("EXE=" + exe + "\r")
	s.Await("$ ")
	return s
}

// Where nobody could continue the job, Ctrl-Z is refused: the program goes on.
func TestTerminalCannotBeStoppedWithoutAShell(t *testing.T) {
	s := sit(t, "host:")
	s.Await("window: front=true")
	s.Type("i")
	s.Await("window: signals")
	s.Type("\x1a")
	s.Await("window: continued")
	s.Await("raw=true")
	s.Type("q")
	s.Await("host: 0 <nil> front=true")
	s.restored(t)
}

// Nothing of the program is left when its lock is free, and the terminal is as it was; whoever ended it.
func TestTerminalIsRestoredWhenItsOwnerDies(t *testing.T) {
	for _, how := range []string{"owner killed", "owner told to end", "guardian killed"} {
		t.Run(how, func(t *testing.T) {
			lock, remove := lockFile(t, "lock"), filepath.Join(t.TempDir(), "gone")
			if err := os.Mkdir(remove, 0o700); err != nil {
				t.Fatal(err)
			}
			s := sit(t, "keeper:host:lock="+lock+",remove="+remove)
			s.Await("window: front=true")
			tree := 3                     // keeper, host, window
			if how != "guardian killed" { // else what hides in another session stays
				s.Type("d")
				s.Await("window: started")
				tree++
			}
			pids := announced(t, s.pids, tree)
			plays := map[int]string{} // who is ending has no environment any more
			for _, pid := range pids {
				plays[pid] = part(pid)
			}
			s.end(t, how)
			if how != "owner killed" {
				s.Await("front=true")
				s.restored(t)
				s.Type("mine\r") // it ends, and lets go of its own copy
			}
			f := waitLock(t, lock)
			defer f.Close()
			left := alive(pids)
			for _, pid := range left {
				if !strings.Contains(plays[pid], "keeper") && !(how != "owner killed" && strings.Contains(plays[pid], "host")) && !zombie(pid) {
					t.Errorf("the lock is free and %d (%s) lives", pid, plays[pid])
				}
			}
			if how == "owner killed" {
				eventually(t, "the terminal is the session's", func() bool { return s.Foreground() == s.cmd.Process.Pid })
				s.restored(t)
			}
			if _, err := os.Stat(remove); how != "guardian killed" && !os.IsNotExist(err) {
				t.Errorf("the program's folder is still there: %v", err)
			}
		})
	}
}

func (s *table) end(t *testing.T, how string) {
	t.Helper()
	switch how {
	case "owner killed":
		_ = syscall.Kill(s.find(t, "host"), syscall.SIGKILL)
	case "owner told to end":
		_ = syscall.Kill(s.find(t, "host"), syscall.SIGTERM)
		s.Await("host: ")
		s.Await("told to end")
	case "guardian killed":
		s.Type("g")
		s.Await("host: ")
	}
}

// find is the process that plays a part.
func (s *table) find(t *testing.T, name string) int {
	t.Helper()
	for _, pid := range s.all() {
		if strings.HasPrefix(part(pid), name) {
			return pid
		}
	}
	t.Fatalf("nobody plays %s", name)
	return 0
}

// part is what a process plays.
func part(pid int) string {
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	mode := ""
	for kv := range strings.SplitSeq(string(env), "\x00") {
		if v, ok := strings.CutPrefix(kv, modeKey+"="); ok {
			mode = v
		}
	}
	return mode
}

func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func waitLock(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lock is free", func() bool { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil })
	return f
}

// A shell that has taken the terminal over when its job died keeps it, and the mode that it reads its lines in.
func TestTerminalStaysTheShellsWhenItsJobIsKilled(t *testing.T) {
	lock := lockFile(t, "lock")
	s := bashWith(t, "host:deaf,lock="+lock)
	reading := s.Mode()
	if reading == s.before {
		t.Fatal("this shell does not read in a mode of its own")
	}
	s.Type("\"$EXE\"\r")
	s.Await("window: front=true")
	_ = syscall.Kill(s.find(t, "host"), syscall.SIGKILL)
	s.Await("Killed")
	s.Await("$ ")
	waitLock(t, lock).Close() // the guardian has gone too
	if left := alive(s.all()); len(left) > 0 {
		t.Errorf("the lock is free, and left are %v", left)
	}
	if mode := s.Mode(); mode != reading {
		t.Errorf("the shell reads in mode %+v, before in %+v", mode, reading)
	}
	s.Type("echo $((40+2))\r")
	s.Await("42")
	s.Await("$ ")
	if front := s.Foreground(); front != s.cmd.Process.Pid {
		t.Errorf("the terminal is group %d's, not the shell's", front)
	}
}

// A program that is stopped when its owner dies is continued, so that it can end by itself.
func TestTerminalEndsAStoppedProgram(t *testing.T) {
	s := bashWith(t, "host:patient", "--noediting")
	s.Type("\"$EXE\"\r")
	s.Await("window: front=true")
	s.Type("i")
	s.Await("window: signals")
	s.Type("\x1a")
	s.Await("Stopped")
	s.Await("$ ")
	_ = syscall.Kill(s.find(t, "host"), syscall.SIGKILL)
	s.Await("window: told to end")
	eventually(t, "only the shell is left", func() bool { return len(alive(s.all())) == 0 })
}

func TestTerminalComesBackWhenNothingStarts(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "no-program")
	if err := os.WriteFile(bad, []byte("neither a script nor a binary\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for argv, want := range map[string]string{"/nowhere/at-all": "not found", bad: "exec format error"} {
		t.Run(want, func(t *testing.T) {
			s := sit(t, "host:argv="+argv)
			if said := s.Await("front=true"); !strings.Contains(said, want) {
				t.Errorf("said %q", said)
			}
			s.restored(t)
		})
	}
}

func TestTerminalNeedsATerminal(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = []string{modeKey + "=host:", pidsKey + "=" + t.TempDir(), "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.Output()
	if err == nil || string(out) != "host: there is no terminal\n" {
		t.Errorf("%v %q", err, out)
	}
}

// What is typed while another job has the terminal is that job's, and this process is not stopped for looking at it.
func TestInputInTheBackground(t *testing.T) {
	s := bash(t)
	s.Type(modeKey + "=reader: \"$EXE\" &\r")
	s.Await("reader: begun")
	for range 3 {
		s.Type("sleep 0.3\r")
		s.Await("sleep 0.3")
		s.Type("echo $((40+2))\r") // nobody takes it before the sleep is over
		s.Await("42")
		s.Await("$ ")
	}
	s.Type("jobs\r")
	if said := s.Await("$ "); !strings.Contains(said, "Running") {
		t.Errorf("the job: %q", said)
	}
	s.Type("fg\r")
	s.Await("$EXE")
	s.Type("mine\r")
	s.Await(`reader: "mine\n" <nil>`)
}

// An Input of what is no terminal is that itself.
func TestInputOfAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if in := Input(r); in != io.Reader(r) {
		t.Errorf("%T", in)
	}
	w.Close()
}
