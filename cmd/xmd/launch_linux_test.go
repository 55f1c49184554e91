package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/runtime/store"
)

const launching = `before the window
<Session.Launch agent="sim" session="w">
Speak of the house style, WOMBAT.
</Session.Launch>
after the window
<Prompt agent="sim" session="w">What was the last codeword of this long session?</Prompt>
`

const launched = "before the window\nafter the window\nThe codeword is STORK.\n"

// A new session is begun in the window, told by its own channel what the body says, and the next prompt knows what was typed there.
func TestLaunchBeginsASessionAtTheTerminal(t *testing.T) {
	h := newHome(t, launching)
	d := h.sitAt(exec.Command("/bin/sh", "-c", "xmd run doc.xmd > out.md"), nil)
	d.Await("[system] Speak of the house style, WOMBAT.")
	d.Await("sim> ")
	if got := h.read("out.md"); got != "before the window\n" {
		t.Errorf("written while the window is open: %q", got)
	}
	state, _ := h.owner()
	if state != store.OwnerNative {
		t.Errorf("owner %q", state)
	}
	folder := h.layerIsHidden(d)
	d.types("the codeword is STORK in the window")
	d.Await("turn 1: the codeword is STORK")
	d.types("/quit")
	if code := d.ends(); code != 0 || h.read("out.md") != launched {
		t.Errorf("code %d, %q; shown %q", code, h.read("out.md"), d.Shown())
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the layer's folder is still there: %v", err)
	}
	state, route := h.owner()
	if state != store.OwnerIdle || route.Transport != store.TransportNative || route.Provenance != store.ClientAllocated || len(route.InstructionDigest) != 64 {
		t.Errorf("owner %q, route %+v", state, route)
	}
	if o := h.plain(nil, "replay", "last"); o.code != 0 || o.stdout != launched || o.stderr != "" {
		t.Errorf("replay: %+v", o)
	}
	h.check()
}

// layerIsHidden looks that the words of the layer are in no command line, environment or turn, and in a file of the owner's only. It
// returns the file's folder.
func (h *home) layerIsHidden(d *desk) string {
	h.t.Helper()
	pid := d.process("--native")
	for _, name := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
		if err != nil || strings.Contains(string(text), "WOMBAT") {
			h.t.Errorf("%s: %v %q", name, err, text)
		}
	}
	args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(strings.TrimRight(string(args), "\x00"), "\x00")
	file := words[len(words)-1]
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		h.t.Errorf("%s: %v %v", file, info, err)
	}
	for words := range h.prompts() {
		if strings.Contains(words, "WOMBAT") {
			h.t.Errorf("a user turn: %q", words)
		}
	}
	return filepath.Dir(file)
}

// The window does not open before everything that stands before it is written.
func TestLaunchComesAfterTheTextBeforeIt(t *testing.T) {
	long := strings.Repeat("a line of the text before the window\n", 1<<12) // more than a pipe holds
	h := newHome(t, long+launching)
	fifo := filepath.Join(h.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	d := h.sitAt(exec.Command("/bin/sh", "-c", "xmd run doc.xmd > fifo"), nil)
	out, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	first := make([]byte, 1)
	if _, err := out.Read(first); err != nil {
		t.Fatal(err)
	}
	time.Sleep(500 * time.Millisecond) // it must not come: no notice can tell that
	if strings.Contains(d.Shown(), "sim") {
		t.Errorf("the window is open: %q", d.Shown())
	}
	rest := make(chan string)
	go func() { all, _ := io.ReadAll(out); rest <- string(all) }()
	d.Await("sim> ")
	d.types("the codeword is STORK in the window")
	d.Await("turn 1: ")
	d.quits(0)
	if got := string(first) + <-rest; got != long+launched {
		t.Errorf("%d bytes, want %d", len(got), len(long+launched))
	}
}

// Questions before and behind a window are answered with what is typed for them, and the window gets what is typed for it.
func TestLaunchBetweenQuestions(t *testing.T) {
	h := newHome(t, "<Elicit as=\"a\">first?</Elicit>\n<Session.Launch agent=\"sim\" session=\"w\"/>\n<Elicit as=\"b\">second?</Elicit>\n{a} {b}\n")
	d := h.sit(nil, "run", "doc.xmd")
	d.Await("first?")
	d.types("one")
	d.Await("sim> ")
	d.types("typed for the window")
	d.Await("turn 1: typed for the window")
	d.types("/quit")
	d.Await("second?")
	d.types("two")
	d.Await("one two")
	if code := d.ends(); code != 0 {
		t.Errorf("code %d", code)
	}
	h.check()
}

// In the REPL a window gets all that is typed in it, and the next entry is read again.
func TestLaunchInTheREPL(t *testing.T) {
	h := newHome(t, "")
	d := h.sit(nil, "repl")
	d.Await("xmd> ")
	d.types(`<Session.Launch agent="sim" session="w"/>`)
	d.Await("sim> ")
	d.types("the codeword is STORK in the window")
	d.Await("turn 1: ")
	d.types("/quit")
	d.Await("xmd> ")
	d.types(`<Prompt agent="sim" session="w" text="What was the last codeword of this long session?"/>`)
	d.Await("The codeword is STORK.")
	d.Await("xmd> ")
	d.types(":quit")
	if code := d.ends(); code != 0 {
		t.Errorf("code %d; shown %q", code, d.Shown())
	}
	h.check()
}

func TestLaunchThatFailsFailsTheRun(t *testing.T) {
	h := newHome(t, launching)
	d := h.sit([]string{"XMD_SIM_FAULT=native-exit=3"}, "run", "doc.xmd")
	d.Await("sim> ")
	d.types("the codeword is STORK in the window")
	d.Await("turn 1: ")
	d.types("/quit")
	d.Await("doc.xmd:2:1: sim ended with code 3 [failed]")
	if code := d.ends(); code != 1 || strings.Contains(d.Shown(), "after the window") {
		t.Errorf("code %d; shown %q", code, d.Shown())
	}
	d = h.sit(nil, "resume", "last") // the step that ended the run: its window opens again, on the same conversation
	d.Await("> the codeword is STORK")
	d.Await("sim> ")
	d.types("/quit")
	d.Await("after the window")
	if code := d.ends(); code != 0 {
		t.Errorf("resume: code %d; shown %q", code, d.Shown())
	}
	h.asks("STORK")
	h.check()
}

// Refused before anything is started: instructions that an existing conversation lacks.
func TestLaunchRefusesAtTheTerminal(t *testing.T) {
	h := newHome(t, launching)
	h.remembers()
	d := h.sit(nil, "run", "doc.xmd")
	d.Await(`doc.xmd:2:1: session "w" of sim was begun without instructions`)
	d.Await("[instructions-refused]")
	if code := d.ends(); code != 5 {
		t.Errorf("code %d", code)
	}
	h.check()
}

// windowMoment is a write around a window at which xmd dies.
type windowMoment struct {
	at     string
	other  bool // another run may go on
	opened bool // there was a turn in the window
	again  bool // the resume opens a window
}

var windowMoments = []windowMoment{
	{"before session.opened Session.Launch1", true, false, true},
	{"before launch-prepared Session.Launch1", true, false, true},
	{"after launch-prepared Session.Launch1", true, false, true},
	{"before launch-exited Session.Launch1", false, true, true},
	{"after launch-exited Session.Launch1", false, true, false},
	{"before step.ended Session.Launch1", true, true, false},
	{"after step.ended Session.Launch1", true, true, false},
}

// launchWay is how a conversation comes into being for a window.
type launchWay struct {
	agent      string
	set        func(h *home)
	ready      string // what the interface shows when it takes words
	transport  string
	provenance string
}

var (
	begunThere = launchWay{"sim", func(*home) {}, "sim> ", store.TransportNative, store.ClientAllocated}
	madeBefore = launchWay{"codex", (*home).scriptedCodex, "codex> ", store.TransportAppServer, store.ProviderAsserted}
)

// TestLaunchCrashMatrix kills xmd before and after each write around a window, and looks what another run and a resume make of it.
func TestLaunchCrashMatrix(t *testing.T) {
	made := append([]windowMoment{
		{"after session.opened Session.Launch1", true, false, true},
		{"before launch-detached Session.Launch1", true, false, true},
	}, windowMoments...)
	for _, way := range []launchWay{begunThere, madeBefore} {
		moments := windowMoments
		if way.agent == madeBefore.agent {
			moments = made
		}
		for _, m := range moments {
			t.Run(way.agent+"-"+strings.ReplaceAll(m.at, " ", "-"), func(t *testing.T) {
				t.Parallel()
				h := newHome(t, strings.ReplaceAll(launching, `"sim"`, `"`+way.agent+`"`))
				h.agent = way.agent
				way.set(h)
				h.killedAround(m, way)
			})
		}
	}
}

func (h *home) killedAround(m windowMoment, way launchWay) {
	h.t.Helper()
	d := h.shell(dieVariable + "=" + m.at)
	d.types("xmd run doc.xmd")
	if m.opened {
		d.Await(way.ready)
		d.types("the codeword is STORK in the window")
		d.Await("turn 1: ")
		d.types("/quit")
	}
	d.Await("Killed")
	d.types("exit")
	d.ends()
	h.onlyShell()
	h.aside(func() { h.otherRunOnWindow(m.at, m.other, way) })
	d = h.sit(nil, "resume", "last")
	if m.again {
		d.Await(way.ready)
		if !m.opened {
			d.types("the codeword is STORK in the window")
			d.Await("turn 1: ")
		}
		d.types("/quit")
	}
	d.Await("The codeword is STORK.")
	if code := d.ends(); code != 0 || !strings.Contains(d.Shown(), "after the window") {
		h.t.Fatalf("resume: code %d, shown %q", code, d.Shown())
	}
	if turns := h.prompts(); len(turns) != 2 {
		h.t.Errorf("turns %v", turns)
	}
	h.constructed(way)
	if o := h.plain(nil, "replay", "last"); o.code != 0 || o.stdout != launched {
		h.t.Errorf("replay: %+v", o)
	}
	h.check()
}

// constructed checks that the session w is idle, and that its route says how its conversation came into being.
func (h *home) constructed(way launchWay) {
	h.t.Helper()
	state, route := h.owner()
	if state != store.OwnerIdle || route.Transport != way.transport || route.Provenance != way.provenance || len(route.InstructionDigest) != 64 {
		h.t.Errorf("owner %q, route %+v", state, route)
	}
}

// otherRunOnWindow is another run on the session: it takes over what is idle, and else is told to recover, after which it goes on.
func (h *home) otherRunOnWindow(at string, may bool, way launchWay) {
	h.t.Helper()
	h.write("other.xmd", "<Prompt agent=\""+way.agent+"\" session=\"w\">words of another run entirely</Prompt>\n")
	o := h.plain(nil, "run", "other.xmd", "--wait", "20s")
	if may {
		if o.code != 0 {
			h.t.Errorf("killed %s, another run: %+v", at, o)
		}
		return
	}
	if o.code != 5 || !strings.Contains(o.stderr, "[recovery-required]") {
		h.t.Errorf("killed %s, another run: %+v", at, o)
	}
	if o := h.plain(nil, "sessions", "recover", "w"); o.code != 0 {
		h.t.Errorf("killed %s, recover: %+v", at, o)
	}
	h.constructed(way)
	h.asks("STORK")
}

// kill -9 while the window is open: the resume of the run waits until nothing of it is left, and opens the same conversation again.
func TestLaunchIsKilledWhileOpen(t *testing.T) {
	for _, turn := range []bool{true, false} {
		t.Run(fmt.Sprintf("turn %v", turn), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, launching)
			d := h.shell("XMD_SIM_FAULT=native-raw,native-deaf")
			d.types("xmd run doc.xmd")
			d.Await("sim> ")
			if turn {
				d.types("the codeword is STORK in the window")
				d.Await("turn 1: ")
			}
			folder := h.layerIsHidden(d)
			if err := syscall.Kill(d.process("xmd run doc.xmd"), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			d.Await("Killed")
			again := h.sit(nil, "resume", "last")
			if turn {
				again.Await("[system] Speak of the house style, WOMBAT.")
				again.Await("> the codeword is STORK")
				again.Await("sim> ")
				again.types("/quit")
				again.Await("The codeword is STORK.")
				if code := again.ends(); code != 0 {
					t.Errorf("code %d, shown %q", code, again.Shown())
				}
			} else { // the interface itself says that it has no such conversation; none is made
				again.Await("sim ended with code 1 [failed]")
				if code := again.ends(); code != 1 || len(h.prompts()) != 0 {
					t.Errorf("code %d, turns %v, shown %q", code, h.prompts(), again.Shown())
				}
			}
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("the layer's folder is still there: %v", err)
			}
			d.types("exit")
			d.ends()
			h.check()
		})
	}
}
