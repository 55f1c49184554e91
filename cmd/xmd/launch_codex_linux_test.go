package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"xmd/runtime/store"
)

// scriptedCodex puts a Codex on the PATH that is xmd's own.
func (h *home) scriptedCodex() {
	h.t.Helper()
	h.write("codex", "#!/bin/sh\nexec \""+filepath.Join(h.dir, "xmd")+"\" sim --codex \"$@\"\n")
	if err := os.Chmod(filepath.Join(h.dir, "codex"), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(h.dir, "state", "codex"), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("state", "codex"), filepath.Join(h.dir, ".codex")); err != nil { // goes aside with the rest
		h.t.Fatal(err)
	}
}

// rollouts are the files of Codex's conversations.
func (h *home) rollouts() []string {
	files, _ := filepath.Glob(filepath.Join(h.dir, "state", "codex", "sessions", "*", "*", "*", "rollout-*.jsonl"))
	return files
}

// codexPrompts counts what persons said in Codex's conversations, by their words.
func (h *home) codexPrompts() map[string]int {
	h.t.Helper()
	counts := map[string]int{}
	for _, path := range h.rollouts() {
		for line := range strings.Lines(h.readFile(path)) {
			var r struct {
				Payload struct {
					Role    string
					Content []struct{ Text string }
				}
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				h.t.Errorf("%s: %v", path, err)
			}
			if r.Payload.Role == "user" {
				counts[r.Payload.Content[0].Text]++
			}
		}
	}
	return counts
}

func (h *home) readFile(path string) string {
	h.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

func codexHome(t *testing.T, text string) *home {
	h := newHome(t, strings.ReplaceAll(text, `"sim"`, `"codex"`))
	h.agent = "codex"
	h.scriptedCodex()
	return h
}

// A conversation that the interface cannot begin is made beforehand, with the layer in its own channel; the interface and then the next
// prompt go on in it, whatever Codex is reached over.
func TestLaunchOfAConversationMadeBefore(t *testing.T) {
	h := codexHome(t, launching)
	d := h.sitAt(exec.Command("/bin/sh", "-c", "xmd run doc.xmd > out.md"), nil)
	d.Await("[developer] Speak of the house style, WOMBAT.")
	d.Await("codex> ")
	if state, _ := h.owner(); state != store.OwnerNative {
		t.Errorf("owner %q", state)
	}
	pid := d.process("--codex")
	for _, name := range []string{"cmdline", "environ"} {
		if text := h.readFile(filepath.Join("/proc", strconv.Itoa(pid), name)); strings.Contains(text, "WOMBAT") || name == "cmdline" && !strings.Contains(text, "features.daemon_auto_start=false") {
			t.Errorf("%s: %q", name, text)
		}
	}
	d.types("the codeword is STORK in the window")
	d.Await("turn 1: the codeword is STORK")
	d.types("/quit")
	if code := d.ends(); code != 0 || h.read("out.md") != launched {
		t.Errorf("code %d, %q; shown %q", code, h.read("out.md"), d.Shown())
	}
	h.constructed(madeBefore)
	if files, turns := h.rollouts(), h.prompts(); len(files) != 1 || len(turns) != 2 {
		t.Errorf("files %q, turns %v", files, turns)
	}
	if o := h.plain(nil, "replay", "last"); o.code != 0 || o.stdout != launched || o.stderr != "" {
		t.Errorf("replay: %+v", o)
	}
	h.check()
}

// Left without a word, the conversation stays: the next window of the same layer opens it, another one makes another, and a prompt goes
// into the last one with its layer.
func TestLaunchOfAConversationMadeBeforeWithoutATurn(t *testing.T) {
	h := codexHome(t, `<Session.Launch agent="sim" session="w">Speak of the house style, WOMBAT.</Session.Launch>`)
	leave := func() {
		t.Helper()
		d := h.sit(nil, "run", "doc.xmd")
		d.Await("[developer] ")
		d.Await("codex> ")
		d.quits(0)
		if state, route := h.owner(); state != store.OwnerIdle || route.NativeSessionID != "" {
			t.Errorf("owner %q, route %+v", state, route)
		}
	}
	leave()
	leave()
	if files := h.rollouts(); len(files) != 1 {
		t.Errorf("files %q", files)
	}
	h.write("doc.xmd", `<Session.Launch agent="codex" session="w">Speak of nothing, please.</Session.Launch>`)
	leave()
	if files := h.rollouts(); len(files) != 2 {
		t.Errorf("files %q", files)
	}
	h.write("ask.xmd", `<Prompt agent="codex" session="w">words that go into the conversation</Prompt>`)
	if o := h.plain(nil, "run", "ask.xmd"); o.code != 0 || o.stdout != "turn 1: words that go into the conversation" {
		t.Errorf("%+v", o)
	}
	h.constructed(madeBefore)
	d := h.sit(nil, "run", "doc.xmd")
	d.Await("[developer] Speak of nothing, please.")
	d.Await("[user] words that go")
	d.Await("codex> ")
	d.quits(0)
	h.write("doc.xmd", `<Session.Launch agent="codex" session="w">Speak of all.</Session.Launch>`)
	d = h.sit(nil, "run", "doc.xmd")
	d.Await("was begun with other instructions")
	if code := d.ends(); code != 5 {
		t.Errorf("code %d", code)
	}
	h.check()
}

// Over the adapter, conversations for the interface are made by app-server all the same; without a Codex nothing is begun.
func TestLaunchOfCodexOverItsAdapter(t *testing.T) {
	h := codexHome(t, `<Session.Launch agent="sim" session="w">Speak of the house style, WOMBAT.</Session.Launch>`)
	h.write("xmd.toml", "[agents.codex]\ntransport = \"acp\"\n")
	h.write("codex-acp", "#!/bin/sh\ntouch asked\nexit 1\n")
	if err := os.Chmod(filepath.Join(h.dir, "codex-acp"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := h.sit(nil, "run", "doc.xmd")
	d.Await("[developer] Speak of the house style, WOMBAT.")
	d.Await("codex> ")
	if h.read("asked") != "" {
		t.Error("the adapter was started before the window")
	}
	d.types("the codeword is STORK in the window")
	d.Await("turn 1: ")
	d.types("/quit")
	d.Await("Whether Codex has kept the conversation") // its adapter is asked, and cannot be
	if code := d.ends(); code != 0 {
		t.Errorf("code %d, shown %q", code, d.Shown())
	}
	h.write("xmd.toml", "")
	h.asks("STORK")
	h.constructed(madeBefore)
	h.check()
}
