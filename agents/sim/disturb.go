package sim

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// disturb puts before an answer what the faults want there. None of it is part of the history.
func (t *turn) disturb() error {
	a := t.agent
	if a.faults.on("noise-chunk") {
		t.session.update(a.noise(), true)
	}
	if a.faults.on("junk") {
		a.junk()
	}
	if a.faults.on("unknown-updates") {
		if err := t.strange(); err != nil {
			return err
		}
	}
	if a.faults.is("split-utf8", "surrogates") {
		t.halfPairs()
	}
	if a.faults.on("burst") {
		t.burst(a.faults.number("burst", 20000))
	}
	if a.faults.on("big-line") {
		t.bigLine(a.faults.number("big-line", 0))
	}
	return context.Cause(t.ctx)
}

// noise is a chunk that no model said, as an adapter puts one before each answer.
func (a *agent) noise() object {
	words := a.faults.text("noise-chunk", "Warning: the simulated adapter knows nothing about this model.\n\n")
	return a.chunk("agent_message_chunk", "", textBlock(words))
}

// junk writes lines that are no frames: text, escapes, broken JSON, JSON that is no object, an empty one, bad UTF-8.
func (a *agent) junk() {
	for _, line := range []string{
		"starting the simulated agent…", "\x1b[33mwarning:\x1b[0m simulated", `{"jsonrpc":"2.0","method":"session/upd`,
		`[1,2,3]`, `null`, `"session/update"`, `42`, ``, "\xff\xfe\xfd", `{}`, `{"jsonrpc":"2.0"}`,
	} {
		a.conn.raw(line)
	}
}

// strange sends what no version 1 client can know: it must keep none of it from reaching the frames around it.
func (t *turn) strange() error {
	id := t.session.id
	for _, update := range []any{
		object{"sessionUpdate": "sim_weather", "content": textBlock("not an answer")},
		object{"sessionUpdate": "sim_tool_news", "toolCallId": "strange", "title": "not a tool call"},
		object{"sessionUpdate": "sim_mood", "mood": 7},
		object{"content": textBlock("an update without a kind")},
		object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "sim_hologram", "text": "not text"}},
		nil,
	} {
		t.agent.conn.notify("session/update", object{"sessionId": id, "update": update}, false)
	}
	t.agent.conn.notify("_sim/status", object{"sessionId": id, "busy": true}, false)
	t.agent.conn.notify("sim/status", nil, false)
	f, err := t.agent.conn.call(t.ctx, "_sim/question", object{"sessionId": id, "question": "are you there?"})
	if err == nil && f.Error == nil && f.Result == nil {
		t.agent.note("the client answered an unknown request with neither result nor error")
	}
	return err
}

// halfPairs sends one character as two chunks with half a surrogate pair each, which are no characters alone.
func (t *turn) halfPairs() {
	for _, half := range []string{`\ud83d`, `\ude00`} {
		line := string(encode(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": t.session.id,
			"update": t.agent.chunk("agent_message_chunk", "halves", textBlock("HALF"))}}))
		t.agent.conn.write([]byte(strings.Replace(line, "HALF", half, 1)), true)
	}
}

// burst sends n chunks "1 ", "2 ", … without a pause.
func (t *turn) burst(n int) {
	line := string(encode(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": t.session.id,
		"update": t.agent.chunk("agent_message_chunk", "burst", textBlock("NUMBER"))}}))
	before, after, _ := strings.Cut(line, "NUMBER")
	var b []byte
	for i := 1; i <= n && t.ctx.Err() == nil; i++ {
		b = fmt.Appendf(b[:0], "%s%d %s", before, i, after)
		t.agent.conn.write(b, false)
	}
	t.agent.conn.flush()
}

// bigLine sends one chunk whose line has n bytes, its line end not counted.
func (t *turn) bigLine(n int) {
	line := string(encode(object{"jsonrpc": "2.0", "method": "session/update", "params": object{"sessionId": t.session.id,
		"update": t.agent.chunk("agent_message_chunk", "big", textBlock("FILL"))}}))
	before, after, _ := strings.Cut(line, "FILL")
	fill := max(0, n-len(before)-len(after)+1)
	t.agent.conn.write([]byte(before+strings.Repeat("x", fill)+after), true)
}

// spawn starts a process that stays when we end, for ten minutes at most, and writes its id into the file grandchildren
// of the home. Only agents/proc may start processes in xmd; this one is the misbehaviour that agents/proc is tested
// with, of a program that is never part of a run but by name.
func (a *agent) spawn(options string) error {
	words := strings.Split(options, "+")
	has := func(word string) bool { return slices.Contains(words, word) }
	script := "exec sleep 600"
	if has("stubborn") {
		script = `trap "" TERM HUP INT; exec sleep 600`
	}
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.SysProcAttr = apart(has("setsid"))
	if f, ok := a.stdout.(*os.File); ok && has("stdout") {
		cmd.Stdout = f
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting a grandchild: %w", err)
	}
	go func() { _ = cmd.Wait() }() // reaps it should it end before us
	if err := os.MkdirAll(a.home, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(a.home, "grandchildren"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, cmd.Process.Pid)
	return err
}
