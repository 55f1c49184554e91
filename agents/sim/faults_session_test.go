package sim

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sessionFaults has a test for each fault of the handshake, of loading and of listing, in a bubble. Each shows what a good
// agent does too, or sim_test.go does.
var sessionFaults = map[string]func(*testing.T){
	"version": func(t *testing.T) {
		for _, v := range []string{"", "GitHub Copilot CLI 1.0.102.\nRun it", "2.1.332 (Claude Code)", "v9"} {
			info := start(t, t.TempDir(), "version="+v).initialize()["agentInfo"].(map[string]any)
			if info["version"] != v {
				t.Errorf("agentInfo.version is %q, want %q", info["version"], v)
			}
			if out, code := printed(t, "version="+v); out != v+"\n" || code != 0 {
				t.Errorf("--version printed %q (%d), want %q", out, code, v)
			}
		}
	},
	"version-exit": func(t *testing.T) {
		if out, code := printed(t, "version-exit=3"); out != "xmd-sim 1.0.0\n" || code != 3 {
			t.Errorf("printed %q, code %d", out, code)
		}
		if _, code := printed(t, "version-exit"); code != 1 {
			t.Errorf("code %d", code)
		}
	},
	"version-hang": func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan int, 1)
		var out strings.Builder
		go func() {
			done <- Main(ctx, []string{"--version", "--fault", "version-hang"}, strings.NewReader(""), &out, io.Discard, noEnv)
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Error("--version ended")
		default:
		}
		cancel()
		if <-done; out.String() != "" {
			t.Errorf("printed %q", &out)
		}
	},
	"no-agent-info": func(t *testing.T) {
		result := start(t, t.TempDir(), "no-agent-info", "version=4.5.6").initialize()
		meta, _ := result["_meta"].(map[string]any)
		if _, ok := result["agentInfo"]; ok || meta["agentVersion"] != "4.5.6" {
			t.Errorf("initialize gave %v", result)
		}
	},
	"slow-start": func(t *testing.T) {
		began := time.Now()
		start(t, t.TempDir(), "slow-start=2500").initialize()
		if d := time.Since(began); d != 2500*time.Millisecond {
			t.Errorf("initialize took %v", d)
		}
	},
	"auth": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "auth")
		if methods := c.initialize()["authMethods"].([]any); len(methods) != 1 {
			t.Errorf("authMethods %v", methods)
		}
		c.fails("session/new", cwd(nil), -32000)
		c.fails("session/load", cwd(object{"sessionId": id}), -32000)
		c.must("authenticate", object{"methodId": "sim-login"})
		c = start(t, home, "auth=prompt")
		c.loaded(id)
		c.fails("session/prompt", words(id, "x"), -32000)
	},
	"new-error": func(t *testing.T) {
		c := start(t, t.TempDir(), "new-error=-32000:sign in first")
		c.initialize()
		if e := c.fails("session/new", cwd(nil), -32000); e.Message != "sign in first" {
			t.Errorf("%v", e)
		}
	},
	"durable-new": func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home, "durable-new")
		id := c.session()
		c.close()
		c = start(t, home)
		c.loaded(id)
		c.says(id, "x", "turn 1: x")
	},
	"no-load": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "no-load")
		capabilities := c.initialize()["agentCapabilities"].(map[string]any)
		if capabilities["loadSession"] != false || capabilities["sessionCapabilities"].(map[string]any)["resume"] != nil {
			t.Errorf("announced %v", capabilities)
		}
		c.fails("session/load", cwd(object{"sessionId": id}), -32601)
		c.fails("session/resume", cwd(object{"sessionId": id}), -32601)
	},
	"no-resume": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "no-resume")
		capabilities := c.initialize()["agentCapabilities"].(map[string]any)
		if capabilities["sessionCapabilities"].(map[string]any)["resume"] != nil {
			t.Errorf("announced %v", capabilities)
		}
		c.fails("session/resume", cwd(object{"sessionId": id}), -32601)
		c.must("session/load", cwd(object{"sessionId": id}))
	},
	"load-hangs": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "load-hangs")
		c.initialize()
		before := len(c.quiet())
		c.send("session/load", cwd(object{"sessionId": id}))
		if lines := c.quiet(); len(lines) != before {
			t.Errorf("the load was answered: %v", lines[before:])
		}
		c.must("session/list", object{}) // it still lives
	},
	"unanswered": func(t *testing.T) {
		c := start(t, t.TempDir(), "unanswered=new+list")
		c.initialize()
		before := len(c.quiet())
		c.send("session/new", cwd(object{}))
		c.send("session/list", object{})
		if lines := c.quiet(); len(lines) != before {
			t.Errorf("answered: %v", lines[before:])
		}
		c.fails("no/such", object{}, -32601) // it still lives
	},
	"load-slow": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "load-slow=30")
		c.initialize()
		began := time.Now()
		c.must("session/load", cwd(object{"sessionId": id}))
		if took := time.Since(began); took < 60*time.Millisecond {
			t.Errorf("loaded within %s", took)
		}
	},
	"load-error": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "load-error")
		c.initialize()
		if e := c.fails("session/load", cwd(object{"sessionId": id}), -32603); !strings.Contains(fmt.Sprint(e.Data), "no space") {
			t.Errorf("%v", e)
		}
	},
	"minute-loses": func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home, "minute-loses")
		c.initialize()
		id := c.session()
		c.prompt(id, "My codeword is ZEBRA.")
		c.close()
		kept := store{filepath.Join(home, "sessions")}
		old := kept.minuteFile(id, time.Now().Add(-time.Hour))
		minutes, _ := filepath.Glob(filepath.Join(home, "sessions", "session-*-"+id[:8]))
		if len(minutes) != 1 {
			t.Fatalf("files %q", minutes)
		}
		for _, c := range []struct{ from, to string }{{minutes[0], old}, {old, kept.minuteFile(id, time.Now())}} {
			if err := os.Rename(c.from, c.to); err != nil {
				t.Fatal(err)
			}
			agent := start(t, home, "minute-loses")
			agent.initialize()
			if c.to == old {
				agent.must("session/load", cwd(object{"sessionId": id}))
			} else {
				agent.fails("session/load", cwd(object{"sessionId": id}), -32002)
			}
			agent.close()
		}
	},
	"load-missing": func(t *testing.T) {
		home, id := history(t)
		seen := map[string]string{}
		for _, shape := range missingShapes {
			c := start(t, home, "load-missing="+shape)
			c.initialize()
			f := c.call("session/load", cwd(object{"sessionId": id}))
			if f.Error == nil {
				t.Fatalf("%s: loaded", shape)
			}
			text := string(encode(f.Error))
			if other, ok := seen[text]; ok {
				t.Errorf("%s and %s are alike: %s", shape, other, text)
			}
			seen[text] = shape
		}
		for _, part := range []string{`-32002,"message":"Resource not found: ` + id, "no rollout found for thread id " + id, "FS_NOT_FOUND", `"service":"session"`} {
			if !strings.Contains(fmt.Sprint(seen), part) {
				t.Errorf("no shape has %s", part)
			}
		}
	},
	"load-unknown": func(t *testing.T) {
		c := start(t, t.TempDir(), "load-unknown", "load-echo-id")
		id := "11111111-2222-4333-8444-555555555555"
		result, replayed := c.loaded(id)
		if result["sessionId"] != id || len(replayed) != 1 {
			t.Errorf("loaded %v with %d updates", result, len(replayed))
		}
		c.says(id, question, "I know no codeword.")
	},
	"load-id": func(t *testing.T) {
		home, id := history(t)
		for place, want := range map[string][2]any{"both": {id, id}, "result": {id, nil}, "meta": {nil, id}} {
			result, _ := start(t, home, "load-id="+place).loaded(id)
			meta, _ := result["_meta"].(map[string]any)
			if result["sessionId"] != want[0] || meta["sessionId"] != want[1] {
				t.Errorf("%s: %v", place, result)
			}
		}
	},
	"load-echo-id": func(t *testing.T) {
		home, first, second := twoHistories(t)
		result, _ := start(t, home, "load-echo-id", "other-history").loaded(first)
		if result["sessionId"] != first {
			t.Errorf("echoed %v", result["sessionId"])
		}
		result, _ = start(t, home, "load-id", "other-history").loaded(first) // the true id, for comparison
		if result["sessionId"] != second {
			t.Errorf("the true id is %v, want %s", result["sessionId"], second)
		}
	},
	"load-other-id": func(t *testing.T) {
		home, id := history(t)
		for spec, want := range map[string]string{"load-other-id": otherID, "load-other-id=abc": "abc"} {
			result, _ := start(t, home, spec).loaded(id)
			if meta, _ := result["_meta"].(map[string]any); result["sessionId"] != want || meta["sessionId"] != want {
				t.Errorf("%s: %v", spec, result)
			}
		}
	},
	"other-history": func(t *testing.T) {
		home, first, _ := twoHistories(t)
		c := start(t, home, "other-history")
		_, replayed := c.loaded(first)
		if replayed[0].text() != "My codeword is YAK." {
			t.Errorf("replayed %s", kinds(replayed))
		}
		c.says(first, question, "The codeword is YAK.")
	},
	"empty-history": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "empty-history")
		if _, replayed := c.loaded(id); len(replayed) != 1 {
			t.Errorf("replayed %s", kinds(replayed))
		}
		c.says(id, question, "I know no codeword.")
		c.says(id, "x", "turn 2: x")
		c.close()
		c = start(t, home) // the file was not harmed
		c.loaded(id)
		c.says(id, question, "The codeword is ZEBRA.")
	},
	"short-history": func(t *testing.T) {
		home, id := history(t)
		_, replayed := start(t, home, "short-history").loaded(id)
		if got := kinds(replayed); strings.Contains(got, "second") || !strings.Contains(got, "ZEBRA") {
			t.Errorf("replayed\n%s", got)
		}
		c := start(t, home, "short-history=2")
		_, replayed = c.loaded(id)
		if got := kinds(replayed); strings.Contains(got, "third") || !strings.Contains(got, "second") {
			t.Errorf("replayed\n%s", got)
		}
		c.says(id, "x", "turn 3: x")
	},
	"compacted": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "compacted")
		_, replayed := c.loaded(id)
		if len(replayed) != 2 || !strings.Contains(replayed[0].text(), "3 turns") {
			t.Errorf("replayed\n%s", kinds(replayed))
		}
		c.says(id, question, "The codeword is ZEBRA.")
	},
	"compact-keep": func(t *testing.T) {
		home, id := history(t)
		for spec, want := range map[string]string{"compact-keep": "2 turns", "compact-keep=2": "1 turns", "compact-keep=0": "3 turns"} {
			_, replayed := start(t, home, spec).loaded(id)
			users := strings.Count(kinds(replayed), "user_message_chunk")
			summed := int(want[0] - '0')
			if !strings.Contains(replayed[0].text(), want) || users != 1+3-summed {
				t.Errorf("%s: %d user turns, replayed\n%s", spec, users, kinds(replayed))
			}
		}
		c := start(t, home, "compact-keep")
		c.loaded(id)
		c.says(id, question, "The codeword is ZEBRA.")
	},
	"keeps-ends": func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home)
		id := c.session()
		c.says(id, "x", "turn 1: x")
		c.fails("session/prompt", words(id, "FAIL -32603 no"), -32603)
		c.prompt(id, "TOOLS 1")
		c.close()
		_, replayed := start(t, home, "keeps-ends", "no-commands").loaded(id)
		ends := ""
		for _, u := range replayed {
			ends += fmt.Sprintf("%.1s", u.Kind)
			if u.Meta["completed"] == true {
				ends += "!"
			}
		}
		if ends != "ua!uutta!" {
			t.Errorf("the ends are at %s:\n%s", ends, kinds(replayed))
		}
		_, replayed = start(t, home).loaded(id)
		for _, u := range replayed {
			if u.Meta != nil {
				t.Errorf("without the fault there is %v", u.Meta)
			}
		}
	},
	"amnesia": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "amnesia")
		if _, replayed := c.loaded(id); len(replayed) != 7 {
			t.Errorf("replayed\n%s", kinds(replayed))
		}
		c.says(id, question, "I know no codeword.")
	},
	"cwd-bound": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "cwd-bound")
		c.initialize()
		c.fails("session/load", object{"cwd": t.TempDir(), "sessionId": id}, -32002)
		c.must("session/load", cwd(object{"sessionId": id}))
		c = start(t, home)
		c.initialize()
		c.must("session/load", object{"cwd": t.TempDir(), "sessionId": id})
	},
	"replay-after-answer": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "replay-after-answer")
		_, replayed := c.loaded(id)
		if len(replayed) != 7 || replayed[6].Kind != "available_commands_update" {
			t.Errorf("replayed\n%s", kinds(replayed))
		}
		lines := c.seen()
		if len(lines) != 9 || !strings.Contains(lines[2], `"result"`) { // initialize, one update, the answer, the rest
			t.Errorf("the answer came elsewhere:\n%s", strings.Join(lines, "\n"))
		}
		c = start(t, home, "replay-after-answer=300")
		c.initialize()
		c.must("session/load", cwd(object{"sessionId": id}))
		if n := len(updates(c.quiet())); n != 1 {
			t.Errorf("%d updates before the delay is over", n)
		}
		c.says(id, "SLEEP 400", "turn 1: My codeword is ZEBRA. Remember it.secondthirdslept") // mixed into a hasty prompt
	},
	"no-commands": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "no-commands")
		_, replayed := c.loaded(id)
		c.must("session/new", cwd(nil))
		if got := kinds(updates(c.quiet())); len(replayed) != 6 || strings.Contains(got, "commands") {
			t.Errorf("sent\n%s", got)
		}
	},
	"lock": func(t *testing.T) {
		home, id := history(t)
		first := start(t, home, "lock")
		first.loaded(id)
		first.must("session/load", cwd(object{"sessionId": id})) // its own lock
		second := start(t, home, "lock")
		second.initialize()
		e := second.fails("session/load", cwd(object{"sessionId": id}), -32600)
		if data, _ := e.Data.(map[string]any); data["reason"] != "thread_active_writer" {
			t.Errorf("%v", e)
		}
		first.close()
		second.must("session/load", cwd(object{"sessionId": id}))
		start(t, home).loaded(id) // without the fault nobody looks at it
	},
	"busy": func(t *testing.T) {
		home, id := history(t)
		c := start(t, home, "busy=2")
		c.initialize()
		c.fails("session/load", cwd(object{"sessionId": id}), -32600)
		c.fails("session/load", cwd(object{"sessionId": id}), -32600)
		c.must("session/load", cwd(object{"sessionId": id}))
		c = start(t, home, "busy")
		c.initialize()
		for range 5 {
			c.fails("session/load", cwd(object{"sessionId": id}), -32600)
		}
	},
	"no-list": func(t *testing.T) {
		c := start(t, t.TempDir(), "no-list")
		capabilities := c.initialize()["agentCapabilities"].(map[string]any)
		if capabilities["sessionCapabilities"].(map[string]any)["list"] != nil {
			t.Errorf("announced %v", capabilities)
		}
		c.fails("session/list", object{}, -32601)
	},
	"list-page": func(t *testing.T) { // paging itself: TestListPages
		home, _, _ := twoHistories(t)
		c := start(t, home, "list-page")
		c.initialize()
		if page := c.must("session/list", object{}); len(page["sessions"].([]any)) != 1 || page["nextCursor"] == nil {
			t.Errorf("the first page is %v", page)
		}
	},
	"list-omits": func(t *testing.T) {
		home, first, second := twoHistories(t)
		for spec, want := range map[string]string{"list-omits": "", "list-omits=" + first: second} {
			c := start(t, home, spec)
			c.initialize()
			got := string(encode(c.must("session/list", object{})))
			if strings.Contains(got, first) || strings.Contains(got, second) != (want == second) {
				t.Errorf("%s: %s", spec, got)
			}
		}
	},
	"list-error": func(t *testing.T) {
		c := start(t, t.TempDir(), "list-error")
		c.initialize()
		c.fails("session/list", object{}, -32603)
	},
}
