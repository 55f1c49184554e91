package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"xmd/agents/agenttest/pty"
)

// echoing is a terminal that shows what is typed and takes it line by line.
const echoing = unix.ECHO | unix.ICANON | unix.ISIG

// atREPL starts a REPL at a terminal and waits for its prompt.
func (h *home) atREPL(args ...string) *desk {
	h.t.Helper()
	d := h.sit(nil, append([]string{"repl", "--agent", "sim"}, args...)...)
	d.Await("xmd> ")
	return d
}

// leaves leaves the REPL with Ctrl-D.
func (d *desk) leaves(code int) {
	d.h.t.Helper()
	d.Type("\x04")
	if got := d.ends(); got != code {
		d.h.t.Errorf("exit code %d, want %d", got, code)
	}
	if mode := d.Mode(); mode.Lflag&echoing != echoing {
		d.h.t.Errorf("the terminal is left in mode %x", mode.Lflag)
	}
	d.h.check()
}

// An entry of several lines, typed or pasted, is one; it is remembered whole, by the next REPL too.
func TestREPLHistory(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.types(`<Let as="x">`)
	d.Await("...> ")
	d.types("typed")
	d.Await("...> ")
	d.types("</Let>")
	d.Await("xmd> ")
	d.types("{x} one")
	d.Await("typed one\r\n")
	d.Await("xmd> ")
	d.Type("\x1b[A\x1b[A") // up, up
	d.Await(`<Let as="x">⏎typed⏎</Let>`)
	d.Type("\r")
	d.Await("xmd> ")
	d.leaves(0)

	again := h.atREPL()
	again.Type("\x1b[A")
	again.Await(`<Let as="x">⏎typed⏎</Let>`)
	again.Type("\r")
	again.Await("xmd> ")
	again.types("{x} two")
	again.Await("typed two\r\n")
	again.leaves(0)
	info, err := os.Stat(filepath.Join(h.dir, "state", "xmd", "repl-history"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// What has a secret in it is shown to nobody later: neither an entry nor a command with one is kept.
func TestREPLHistoryHasNoSecrets(t *testing.T) {
	h := newHome(t, "")
	d := h.sit([]string{"REPL_TOKEN=hunter2hunter2"}, "repl", "--agent", "sim", "--secret", "REPL_TOKEN")
	d.Await("xmd> ")
	for _, line := range []string{"the word is hunter2hunter2", ":agent hunter2hunter2", "nothing to hide"} {
		d.types(line)
		d.Await("xmd> ")
	}
	d.leaves(2) // there is no such agent
	if strings.Contains(d.Raw(), `"hunter2hunter2"`) || !strings.Contains(d.Raw(), `there is no agent "***"`) {
		t.Error("the error tells the secret")
	}
	kept, err := os.ReadFile(filepath.Join(h.dir, "state", "xmd", "repl-history"))
	if err != nil || strings.Contains(string(kept), "hunter2") || !strings.Contains(string(kept), "nothing to hide") {
		t.Errorf("%s %v", kept, err)
	}
}

// A bracketed paste is one entry, and nothing in it is a key.
func TestREPLPaste(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.Type("\x1b[200~<Prompt>\rSAY first\n\nline two {ok}\r\n</Prompt>\x1b[201~")
	d.Await("⏎</Prompt>")
	if shown := d.Shown(); strings.Contains(shown, "...> ") {
		t.Errorf("the paste ran in pieces: %q", shown)
	}
	d.Type("\r")
	d.Await("ok is not bound here")
	d.Await("xmd> ")
	d.Type("\x1b[200~a\tb\x03\x1b[31m\nc\x1b[20") // a mark that comes in two pieces
	d.Type("1~ tail")
	d.Await("[text 1, 2 lines] tail")
	d.Type("\r")
	d.Await("a\tb")
	d.Await("c tail")
	d.Await("xmd> ")
	d.leaves(2)
}

func TestREPLCompletes(t *testing.T) {
	h := newHome(t, "")
	h.remembers()
	d := h.atREPL()
	for typed, want := range map[string]string{
		"<Promp\t":                     "<Prompt",
		"<Prompt age\t":                "<Prompt agent",
		"<Prompt agent=\"si\t":         "<Prompt agent=\"sim",
		"<Prompt session=\"\t":         "<Prompt session=\"w",
		":sess\t":                      ":sessions",
		":load fir\t":                  ":load first.xmd",
		"<Let as=\"name\" value={ru\t": "<Let as=\"name\" value={run",
	} {
		d.Type(typed)
		d.Await(want)
		d.Type("\x15") // the line is taken back
	}
	d.Type("<Pa\t\t") // two candidates are listed
	d.Await("Parallel")
	d.Type("\x03\x15")
	d.leaves(0)
}

// Ctrl-C takes back the entry that is typed.
func TestREPLCtrlC(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.types("<Let as=\"x\">")
	d.Await("...> ")
	d.Type("\x03")
	d.Await("xmd> ")
	d.types("still here")
	d.Await("still here\r\n")
	d.Await("xmd> ")
	d.leaves(0)
}

// It cancels the entry that runs.
func TestREPLCtrlCCancels(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.types("<Prompt>SLEEP 60000</Prompt>")
	for d.Mode().Lflag&echoing != echoing { // the entry runs
		time.Sleep(time.Millisecond)
	}
	d.Type("\x03")
	d.Await("[cancelled]")
	d.Await("xmd> ")
	d.types("<Prompt>SAY back</Prompt>")
	d.Await("back\r\n")
	d.Await("xmd> ")
	d.leaves(130)
}

// Twice within a second it leaves.
func TestREPLCtrlCTwice(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.Type("\x03")
	d.Await("Ctrl-D leaves")
	d.Await("xmd> ")
	d.Type("\x03")
	if code := d.ends(); code != 130 {
		t.Errorf("exit code %d", code)
	}
	h.check()
}

// Ctrl-Z gives the shell the terminal, and the line is there again afterwards.
func TestREPLUnderJobControl(t *testing.T) {
	h := newHome(t, "")
	d := h.shell()
	clean := d.Mode()
	d.types("xmd repl")
	d.Await("xmd> ")
	d.Type("half a li\x1a")
	d.Await("Stopped")
	d.Await("$ ")
	if d.Mode() != clean {
		t.Error("the shell has another mode than before")
	}
	d.types("fg")
	d.Await("half a li")
	d.types("ne")
	d.Await("half a line\r\n")
	d.Await("xmd> ")
	d.Type("\x04")
	d.Await("$ ")
	d.types("echo code $?")
	d.Await("code 0\r\n")
	d.types("exit")
	d.ends()
	h.check()
}

// A question comes in the flow; Ctrl-C there cancels the entry, and what was asked is refused.
func TestREPLQuestions(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.types("<Elicit as=\"name\">Who is it?</Elicit>")
	d.Await("Who is it?")
	d.Await("> ")
	d.types("Zoë 漢字")
	d.Await("xmd> ")
	d.types("hello {name}!")
	d.Await("hello Zoë 漢字!")
	d.Await("xmd> ")
	d.types("<Elicit as=\"other\">Again?</Elicit>")
	d.Await("Again?")
	d.Await("> ")
	d.Type("\x03")
	d.Await("[cancelled]")
	d.Await("xmd> ")
	d.leaves(130)
}

// A change of the width while a line is typed, also one with wide characters and in a search, leaves the line as it is.
func TestREPLResize(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.types("remember 漢字 e\u0301 me")
	d.Await("\r\nremember 漢字 e\u0301 me\r\n") // what is typed while an entry runs is the terminal's own line to edit
	d.Await("xmd> ")
	for i := range 20 {
		d.Type("漢")
		d.Resize(24, uint16(20+i*3))
		d.Type("\x12re") // search
		d.Resize(24, uint16(90-i*3))
		d.Type("\x07") // back
	}
	d.Type("\x15")
	d.types("done {run.dir}")
	d.Await("done " + h.dir)
	d.Await("xmd> ")
	d.leaves(0)
}

func TestREPLCommands(t *testing.T) {
	h := newHome(t, "")
	h.write("piece.xmd", "<Let as=\"fromfile\" value={2}/>\n{fromfile} of {x}\n")
	h.write("whole.xmd", "---\nprops:\n  n: {type: integer, default: 7}\n---\n<Output>n is {props.n}</Output>\nnot shown\n")
	d := h.atREPL()
	for _, step := range []struct{ typed, want string }{
		{"<Let as=\"x\" value={1}/>", "xmd> "},
		{":load piece.xmd", "2 of 1"},
		{":load whole.xmd", "n is 7"},
		{":vars", "fromfile = 2"},
		{"", "x = 1"},
		{":check", "nothing is wrong in 2 entries"},
		{":plan", "Let"},
		{":save out.xmd", "2 entries are in out.xmd"},
		{":save out.xmd", "is there already"},
		{":sesions", "did you mean :sessions?"},
		{":agent nobody", "nobody"},
		{":agent", "write :agent NAME"},
		{":agents", "sim"},
		{":runs", "running"},
		{":help", ":open SESSION"},
	} {
		if step.typed != "" {
			d.types(step.typed)
		}
		d.Await(step.want)
	}
	d.Await("xmd> ")
	d.types(":quit")
	if code := d.ends(); code != 2 {
		t.Errorf("exit code %d", code)
	}
	if got := h.read("out.xmd"); got != "<Let as=\"x\" value={1}/>\n<Let as=\"fromfile\" value={2}/>\n{fromfile} of {x}\n" {
		t.Errorf("%q", got)
	}
	h.check()
}

// kill -9 in a turn: what was answered is back and is not sent again, and neither is the prompt whose answer nobody saw.
func TestREPLIsKilled(t *testing.T) {
	h := newHome(t, "")
	d := h.atREPL()
	d.types(`<Prompt as="kept">SAY this was answered</Prompt>`)
	d.Await("</Prompt>\r\n")
	d.Await("xmd> ")
	d.types("<Prompt>SLEEP 60000</Prompt>")
	for deadline := time.Now().Add(pty.Limit); h.prompts()["SLEEP 60000"] == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it was not sent: %v", h.prompts())
		}
	}
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.ends()
	again := h.sit(nil, "repl", "--agent", "sim", "--resume", "last")
	again.Await(`"<Prompt>SLEEP 60000</Prompt>" did not end and is not run again`)
	again.Await("2 entries of run ")
	again.Await("xmd> ")
	again.types("kept is {kept}")
	again.Await("kept is this was answered\r\n")
	again.Await("xmd> ")
	again.types("<Prompt>SAY it goes on</Prompt>")
	again.Await("it goes on\r\n")
	again.Await("xmd> ")
	again.leaves(0)
	want := map[string]int{"SAY this was answered": 1, "SLEEP 60000": 1, "SAY it goes on": 1}
	if got := h.prompts(); !maps.Equal(got, want) {
		t.Errorf("sent: %v, want %v", got, want)
	}
}

// An entry of very many lines that comes through a pipe is read in time, and ends where it ends.
func TestALongEntryFromAPipe(t *testing.T) {
	h := newHome(t, "")
	const lines = 60_000
	entry := "<Let as=\"v\">\n" + strings.Repeat("a line of a long entry, as a script may write it into the pipe\n", lines) + "</Let>\n"
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(h.dir, "xmd"), "repl")
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "GO_TEST_AS_XMD=1", quickExit, "HOME="+h.dir, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"), h.mark)
	cmd.Stdin = strings.NewReader(entry + "<Let as=\"n\" value={len(v)}/>\nit has {n} characters\n")
	out, err := cmd.CombinedOutput()
	if want := fmt.Sprintf("it has %d characters\n", len(entry)-len("<Let as=\"v\">\n</Let>\n")-1); err != nil || !strings.Contains(string(out), want) {
		t.Errorf("%v: %.300s, want %s", err, out, want)
	}
}
