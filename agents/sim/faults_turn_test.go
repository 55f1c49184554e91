package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// turnFaults has a test for each fault of modes, turns, the wire and the process, as sessionFaults does.
var turnFaults = map[string]func(*testing.T){
	"refuse-mode": func(t *testing.T) {
		c := start(t, t.TempDir(), "refuse-mode")
		id := c.session()
		c.fails("session/set_mode", object{"sessionId": id, "modeId": "ask"}, -32602)
		c.fails("session/set_config_option", object{"sessionId": id, "configId": "mode", "value": "ask"}, -32602)
	},
	"mode-auto": func(t *testing.T) {
		c := start(t, t.TempDir(), "mode-auto")
		c.answer = func(f frame) any { return choose(f, "allow_once") }
		id := c.session()
		c.says(id, "PERM edit", "permission: not asked")
		c.must("session/set_mode", object{"sessionId": id, "modeId": "ask"})
		c.says(id, "PERM edit", "permission: allow_once")
	},
	"mode-chunk": func(t *testing.T) {
		c := start(t, t.TempDir(), "mode-chunk")
		id := c.session()
		c.must("session/set_mode", object{"sessionId": id, "modeId": "ask"})
		if got := said(updates(c.quiet())); got != "[MODE_UPDATE] ask" {
			t.Errorf("said %q", got)
		}
	},
	"permission-always-only":  func(t *testing.T) { offers(t, "permission-always-only", "allow_always reject_always") },
	"permission-always-first": func(t *testing.T) { offers(t, "permission-always-first", "allow_always allow_once reject_once") },
	"reject-ends": func(t *testing.T) {
		for _, stop := range []string{"cancelled", "end_turn"} {
			c := start(t, t.TempDir(), "reject-ends="+stop)
			c.answer = func(f frame) any { return choose(f, "reject_once") }
			id := c.session()
			if said, got := c.prompt(id, "PERM edit"); said != "" || got != stop {
				t.Errorf("said %q and ended with %s, want nothing and %s", said, got, stop)
			}
		}
	},
	"prompt-error": func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home, "prompt-error=429:slow down")
		id := c.session()
		before := len(updates(c.quiet()))
		c.fails("session/prompt", words(id, "x"), 429)
		if got := updates(c.quiet()); len(got) != before {
			t.Errorf("updates:\n%s", kinds(got))
		}
		c.close()
		c = start(t, home)
		c.initialize()
		c.fails("session/load", cwd(object{"sessionId": id}), -32002) // nothing was accepted
	},
	"late-error": func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home, "late-error")
		id := c.session()
		c.fails("session/prompt", words(id, "x"), -32603)
		if got := said(updates(c.quiet())); got != "turn 1: x" {
			t.Errorf("said %q", got)
		}
		c.close()
		c = start(t, home)
		c.loaded(id) // it was accepted
	},
	"error-as-end-turn": func(t *testing.T) {
		c := start(t, t.TempDir(), "error-as-end-turn=no model")
		id := c.session()
		from := len(c.quiet())
		result := c.must("session/prompt", words(id, "x"))
		all := updates(c.seen()[from:])
		if len(all) != 1 || all[0].MessageID != "" || all[0].text() != "no model" || result["stopReason"] != "end_turn" || result["usage"] != nil {
			t.Errorf("%v after\n%s", result, kinds(all))
		}
	},
	"system-error": func(t *testing.T) {
		c := start(t, t.TempDir(), "error-as-end-turn", "system-error")
		id := c.session()
		from := len(c.quiet())
		c.prompt(id, "x")
		all := updates(c.seen()[from:])
		if last := all[len(all)-1]; !strings.Contains(fmt.Sprint(last.Meta), "type:systemError") {
			t.Errorf("the last update is %v", last)
		}
	},
	"error-code-string": func(t *testing.T) {
		c := start(t, t.TempDir(), "error-code-string")
		c.initialize()
		id := c.send("no/such", nil)
		if lines := c.quiet(); !strings.Contains(lines[len(lines)-1], fmt.Sprintf(`"id":%d,"error":{"code":"-32601"`, id)) {
			t.Errorf("the last line is %s", lines[len(lines)-1])
		}
	},
	"stop-reason": func(t *testing.T) {
		c := start(t, t.TempDir(), "stop-reason=refusal")
		if said, stop := c.prompt(c.session(), "x"); said != "turn 1: x" || stop != "refusal" {
			t.Errorf("said %q, ended with %s", said, stop)
		}
	},
	"silence": func(t *testing.T) {
		for spec, want := range map[string]int{"silence": 0, "silence=mid": 1} {
			c := start(t, t.TempDir(), spec)
			id := c.session()
			from := len(c.quiet())
			prompt := c.send("session/prompt", words(id, "CHUNKS 3 4"))
			if lines := c.quiet(); len(lines) != from+want {
				t.Errorf("%s: %v", spec, lines[from:])
			}
			c.write(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": id}})
			if f := c.reply(prompt); !strings.Contains(string(f.Result), "cancelled") {
				t.Errorf("%s: a cancel gave %s", spec, f.Result)
			}
		}
	},
	"cancel-ignored": func(t *testing.T) {
		c := start(t, t.TempDir(), "cancel-ignored")
		id := c.session()
		prompt := c.send("session/prompt", words(id, "SLEEP 1000"))
		c.quiet()
		c.write(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": id}})
		if f := c.reply(prompt); !strings.Contains(string(f.Result), "end_turn") || said(updates(c.seen())) != "slept" {
			t.Errorf("a cancel gave %s", f.Result)
		}
	},
	"cancel-hangs": func(t *testing.T) {
		c := start(t, t.TempDir(), "cancel-hangs")
		id := c.session()
		c.send("session/prompt", words(id, "HANG"))
		before := len(c.quiet())
		c.write(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": id}})
		if lines := c.quiet(); len(lines) != before {
			t.Errorf("the cancelled turn ended: %v", lines[before:])
		}
	},
	"cancel-waits": func(t *testing.T) {
		c := start(t, t.TempDir(), "cancel-waits")
		proceed := make(chan struct{})
		c.answer = func(f frame) any { <-proceed; return choose(f, "cancelled") }
		id := c.session()
		prompt := c.send("session/prompt", words(id, "PERM edit"))
		before := len(c.quiet())
		c.write(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": id}})
		if lines := c.quiet(); len(lines) != before {
			t.Errorf("the turn ended: %v", lines[before:])
		}
		close(proceed)
		if f := c.reply(prompt); !strings.Contains(string(f.Result), "cancelled") {
			t.Errorf("ended with %s", f.Result)
		}
	},
	"late-update": func(t *testing.T) {
		for spec, want := range map[string]string{"late-update": "session_info_update", "late-update=chunk": "agent_message_chunk"} {
			c := start(t, t.TempDir(), spec)
			c.prompt(c.session(), "x")
			lines := c.quiet()
			all := updates(lines[len(lines)-1:])
			if len(all) != 1 || all[0].Kind != want {
				t.Errorf("%s: the last line is %s", spec, lines[len(lines)-1])
			}
		}
	},
	"noise-chunk": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "noise-chunk=Info: x")
		_, replayed := c.loaded(id)
		if replayed[0].text() != "Info: x" || replayed[0].MessageID != "" {
			t.Errorf("the replay begins with %v", replayed[0])
		}
		from := len(c.quiet())
		c.prompt(id, "SAY y")
		all := updates(c.seen()[from:])
		if len(all) != 2 || all[0].text() != "Info: x" || all[0].MessageID != "" || all[1].MessageID == "" {
			t.Errorf("the turn is\n%s", kinds(all))
		}
		if all := updates(start(t, home, "noise-chunk").noisy(id)); !strings.HasPrefix(all[0].text(), "Warning: ") {
			t.Errorf("the noise is %q", all[0].text())
		}
	},
	"no-messageid": func(t *testing.T) {
		home, id := history(t)
		for _, spec := range []string{"no-messageid", "no-commands"} {
			c := start(t, home, spec)
			c.loaded(id)
			c.prompt(id, "THINK x")
			got := strings.Contains(strings.Join(c.seen(), "\n"), "messageId")
			if got != (spec == "no-commands") {
				t.Errorf("%s: messageId sent is %v", spec, got)
			}
		}
	},
	"junk": func(t *testing.T) {
		c := start(t, t.TempDir(), "junk")
		if lines := c.quiet(); len(lines) != 11 {
			t.Errorf("%d lines at the start", len(lines))
		}
		id := c.session()
		from := len(c.quiet())
		c.says(id, "x", "turn 1: x")
		bad := 0
		for _, line := range c.seen()[from:] {
			if !json.Valid([]byte(line)) {
				bad++
			}
		}
		if bad < 8 {
			t.Errorf("%d lines around the answer are no JSON", bad)
		}
	},
	"unknown-updates": func(t *testing.T) {
		c := start(t, t.TempDir(), "unknown-updates")
		id := c.session() // the client answers the unknown request with an error, and the turn goes on
		if got, _ := c.prompt(id, "x"); got != "not textturn 1: x" {
			t.Errorf("said %q", got)
		}
		all := strings.Join(c.seen(), "\n")
		for _, want := range []string{"sim_weather", "sim_mood", "sim_hologram", `"method":"_sim/status"`, `"method":"sim/status"`, `"method":"_sim/question"`, `"update":null`} {
			if !strings.Contains(all, want) {
				t.Errorf("no %s", want)
			}
		}
	},
	"burst": func(t *testing.T) {
		c := start(t, t.TempDir(), "burst=2000")
		got, _ := c.prompt(c.session(), "x")
		if !strings.HasPrefix(got, "1 2 3 ") || !strings.HasSuffix(got, " 1999 2000 turn 1: x") {
			t.Errorf("said %d bytes", len(got))
		}
	},
	"big-line": func(t *testing.T) {
		c := start(t, t.TempDir(), "big-line=1MiB")
		id := c.session()
		from := len(c.quiet())
		c.prompt(id, "x")
		if line := c.seen()[from]; len(line) != 1<<20 || !json.Valid([]byte(line)) {
			t.Errorf("the line has %d bytes", len(line))
		}
	},
	"big-result": func(t *testing.T) {
		c := start(t, t.TempDir(), "big-result=200000")
		c.prompt(c.session(), "x")
		lines := c.quiet()
		if n := len(lines[len(lines)-1]); n != 200000 {
			t.Errorf("the result's line has %d bytes", n)
		}
	},
	"split-utf8": func(t *testing.T) {
		cuts := 0
		w := writerFunc(func(p []byte) (int, error) {
			if !utf8.Valid(p) {
				cuts++
			}
			return len(p), nil
		})
		conn := newConn(w, faults{"split-utf8": "bytes"}, nil)
		conn.notify("x", "é 😀", true)
		if cuts < 4 {
			t.Errorf("%d writes end or begin inside a character", cuts)
		}
		c := start(t, t.TempDir(), "split-utf8")
		c.says(c.session(), "é 😀", "turn 1: é 😀")
		c = start(t, t.TempDir(), "split-utf8=surrogates")
		c.prompt(c.session(), "x")
		if all := strings.Join(c.seen(), "\n"); !strings.Contains(all, `"\ud83d"`) || !strings.Contains(all, `"\ude00"`) {
			t.Error("no half pairs")
		}
	},
	"id-as-string": func(t *testing.T) {
		c := start(t, t.TempDir(), "id-as-string")
		c.send("initialize", object{"protocolVersion": 1})
		if lines := c.quiet(); !strings.Contains(lines[0], `"id":"1"`) {
			t.Errorf("answered %s", lines[0])
		}
	},
	"crash": func(t *testing.T) {
		home, id := history(t)
		for point, want := range map[string]string{
			"start": "", "initialize": "", "new": "i", "load": "i", "prompt": "in", "stored": "in",
			"mid-turn": "inu", "said": "inu", "ended": "inu", "after-answer": "inup",
		} {
			if got := crashing(t, home, id, point); got != want {
				t.Errorf("crash=%s came after %q, want %q", point, got, want)
			}
		}
		for point, want := range map[string]string{
			"prompt": "", "stored": "u", "mid-turn": "u", "said": "ua", "ended": "ua!", "after-answer": "ua!",
		} {
			if got := left(t, point); got != want {
				t.Errorf("crash=%s left %q, want %q", point, got, want)
			}
		}
	},
	"crash-turn": func(t *testing.T) {
		for spec, last := range map[string]int{"crash-turn": 2, "crash-turn=3": 3} {
			c := start(t, t.TempDir(), "crash=prompt", spec)
			id := c.session()
			for n := 1; n < last; n++ {
				c.says(id, "x", fmt.Sprintf("turn %d: x", n))
			}
			c.send("session/prompt", words(id, "x"))
			if code := c.ended(); code != crashCode {
				t.Errorf("%s: code %d", spec, code)
			}
		}
	},
	"turn-id": func(t *testing.T) {
		for spec, want := range map[string]string{"turn-id": "", "turn-id=abc": "abc"} {
			c := start(t, t.TempDir(), spec)
			id := c.session()
			if want == "" {
				want = id
			}
			meta, _ := c.must("session/prompt", words(id, "x"))["_meta"].(map[string]any)
			if meta["sessionId"] != want {
				t.Errorf("%s: stated %v, want %s", spec, meta["sessionId"], want)
			}
		}
	},
	"ignore-eof": func(t *testing.T) {
		c := start(t, t.TempDir(), "ignore-eof")
		id := c.session()
		prompt := c.send("session/prompt", words(id, "SLEEP 1000"))
		c.stdin.Close()
		if f := c.reply(prompt); !strings.Contains(string(f.Result), "end_turn") {
			t.Errorf("the turn ended with %s", f.Result)
		}
		select {
		case code := <-c.code:
			t.Errorf("it ended with %d", code)
		default:
		}
		c.cancel()
		if code := c.ended(); code != 143 {
			t.Errorf("code %d", code)
		}
	},
}
