package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestEcho(t *testing.T) {
	bubble(func(t *testing.T) {
		c := start(t, t.TempDir())
		id := c.session()
		long := strings.Repeat("häßlich ", 40)
		c.says(id, long, "turn 1: "+long)
		if n := len(updates(c.seen())); n < 5 {
			t.Errorf("a long answer came in %d updates", n)
		}
		c.says(id, "more", "turn 2: more")
		if code := c.close(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})(t)
}

func TestCodeword(t *testing.T) {
	ask := "Which codeword did I give you?"
	for name, test := range map[string]struct {
		told []string
		ask  string
		want string
	}{
		"is":              {[]string{"The codeword is ZEBRA."}, ask, "ZEBRA"},
		"named":           {[]string{"Remember the codeword ZEBRA for later"}, ask, "ZEBRA"},
		"lower case":      {[]string{"my codeword is zebra, you know"}, ask, "zebra"},
		"quoted":          {[]string{"codeword: \"ZEBRA-7\""}, ask, "ZEBRA-7"},
		"newest":          {[]string{"The codeword is ZEBRA.", "The codeword is now gone. The codeword is YAK."}, ask, "YAK"},
		"first":           {[]string{"The codeword is ZEBRA.", "The codeword is YAK."}, question, "ZEBRA"},
		"not from itself": {nil, "The codeword is ZEBRA. What is the codeword?", ""},
		"not from a question": {
			[]string{"Is the codeword ZEBRA?"}, ask, ""},
		"none":       {[]string{"hello"}, ask, ""},
		"imperative": {[]string{"The codeword is ZEBRA."}, "Tell me the codeword", "ZEBRA"},
	} {
		t.Run(name, bubble(func(t *testing.T) {
			c := start(t, t.TempDir())
			id := c.session()
			for _, told := range test.told {
				c.prompt(id, told)
			}
			want := "I know no codeword."
			if test.want != "" {
				want = "The codeword is " + test.want + "."
			}
			c.says(id, test.ask, want)
		}))
	}
}

// A new process knows the codeword by loading, and only by loading.
func TestLoadReplaysAndRemembers(t *testing.T) {
	bubble(func(t *testing.T) {
		home := t.TempDir()
		first := start(t, home)
		id := first.session()
		first.says(id, "My codeword is ZEBRA.", "turn 1: My codeword is ZEBRA.")
		first.says(id, "THINK hmm", "done")
		first.says(id, "TOOLS 1", "done")
		first.says(id, "PLAN 1", "done")
		first.close()

		second := start(t, home)
		result, replayed := second.loaded(id)
		want := `user_message_chunk My codeword is ZEBRA.
agent_message_chunk turn 1: My codeword is ZEBRA.
user_message_chunk THINK hmm
agent_thought_chunk hmm
agent_message_chunk done
user_message_chunk TOOLS 1
tool_call Read file-1.txt pending
tool_call_update  completed
agent_message_chunk done
user_message_chunk PLAN 1
plan
agent_message_chunk done
available_commands_update`
		if got := kinds(replayed); got != want {
			t.Errorf("replayed:\n%s\nwant:\n%s", got, want)
		}
		if _, ok := result["sessionId"]; ok || result["_meta"] != nil {
			t.Errorf("the load stated an id: %v", result)
		}
		second.says(id, question, "The codeword is ZEBRA.")
		second.says(id, "go on", "turn 6: go on")
		second.close()

		third := start(t, home)
		third.initialize()
		third.must("session/resume", cwd(object{"sessionId": id}))
		if n := len(updates(third.quiet())); n != 1 {
			t.Errorf("a resume sent %d updates, want only the commands", n)
		}
		third.says(id, question, "The codeword is ZEBRA.")
	})(t)
}

// The load's answer comes after the whole replay and before the commands.
func TestLoadOrder(t *testing.T) {
	bubble(func(t *testing.T) {
		home, id := history(t)
		c := start(t, home)
		c.loaded(id)
		lines := c.quiet()
		if !strings.Contains(lines[len(lines)-2], `"result"`) || !strings.Contains(lines[len(lines)-1], "available_commands_update") {
			t.Errorf("the last lines of a load are\n%s", strings.Join(lines[len(lines)-3:], "\n"))
		}
	})(t)
}

func TestReplayKeepsBytes(t *testing.T) {
	bubble(func(t *testing.T) {
		text := " \t<b>&amp; \\ \"quoted\" é 😀\r\n\n```go\nx\n```  \u2028"
		home := t.TempDir()
		c := start(t, home)
		id := c.session()
		c.says(id, text, "turn 1: "+text)
		c.close()
		c = start(t, home)
		_, replayed := c.loaded(id)
		if got := replayed[0].text(); got != text {
			t.Errorf("replayed %q, want %q", got, text)
		}
		if got := said(replayed); got != "turn 1: "+text {
			t.Errorf("replayed the answer %q", got)
		}
	})(t)
}

// A session that was never prompted is not on disk.
func TestDurableFromFirstPrompt(t *testing.T) {
	bubble(func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home)
		id := c.session()
		if entries, _ := os.ReadDir(filepath.Join(home, "sessions")); len(entries) != 0 {
			t.Errorf("session/new wrote %v", entries)
		}
		c.close()
		c = start(t, home)
		c.initialize()
		c.fails("session/load", cwd(object{"sessionId": id}), -32002)
	})(t)
}

func TestDamagedFiles(t *testing.T) {
	bubble(func(t *testing.T) {
		home, id := history(t)
		file := filepath.Join(home, "sessions", id+".jsonl")
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		load := func(content string) *client {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			c := start(t, home)
			c.initialize()
			return c
		}
		c := load(string(whole[:len(whole)-10])) // a torn last line
		c.must("session/load", cwd(object{"sessionId": id}))
		c.says(id, question, "The codeword is ZEBRA.")
		c.close()
		head, _, _ := strings.Cut(string(whole), "\n")
		c = load(head + "\n")
		c.must("session/load", cwd(object{"sessionId": id}))
		c.says(id, question, "I know no codeword.")
		c.close()
		c = load("")
		c.fails("session/load", cwd(object{"sessionId": id}), -32002)
		for _, bad := range []string{"../" + id, "", "nope", strings.Repeat("a", 500)} {
			c.fails("session/load", cwd(object{"sessionId": bad}), -32002)
		}
	})(t)
}

func TestListPages(t *testing.T) {
	bubble(func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home, "list-page=2")
		want := map[string]bool{}
		c.initialize()
		for range 5 {
			id := c.must("session/new", cwd(nil))["sessionId"].(string)
			c.prompt(id, "first line\nsecond line")
			want[id] = true
		}
		other := t.TempDir()
		elsewhere := c.must("session/new", object{"cwd": other, "mcpServers": []any{}})["sessionId"].(string)
		c.prompt(elsewhere, "x")

		cursor, pages := "", 0
		for {
			params := object{"cwd": workdir}
			if cursor != "" {
				params["cursor"] = cursor
			}
			page := c.must("session/list", params)
			sessions := page["sessions"].([]any)
			for _, s := range sessions {
				s := s.(map[string]any)
				if !want[s["sessionId"].(string)] || s["title"] != "first line" || s["cwd"] != workdir {
					t.Errorf("listed %v (unknown, twice, or wrong)", s)
				}
				delete(want, s["sessionId"].(string))
			}
			pages++
			cursor, _ = page["nextCursor"].(string)
			if cursor == "" {
				break
			}
			if len(sessions) != 2 {
				t.Errorf("a page holds %d sessions", len(sessions))
			}
		}
		if pages != 3 || len(want) != 0 {
			t.Errorf("%d pages, never listed: %v", pages, want)
		}
		c.fails("session/list", object{"cursor": "!"}, -32602)
		if all := c.must("session/list", object{})["sessions"].([]any); len(all) != 2 {
			t.Errorf("a list of all gave a page of %d", len(all))
		}
	})(t)
}

func TestCancel(t *testing.T) {
	for name, text := range map[string]string{"sleep": "SLEEP 60000", "hang": "HANG", "permission": "PERM edit"} {
		t.Run(name, bubble(func(t *testing.T) {
			c := start(t, t.TempDir())
			never := make(chan struct{})
			t.Cleanup(func() { close(never) })
			c.answer = func(frame) any { <-never; return object{} }
			id := c.session()
			prompt := c.send("session/prompt", words(id, text))
			queued := c.send("session/prompt", words(id, "queued"))
			c.quiet()
			c.write(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": id}})
			for _, r := range []int{prompt, queued} {
				if f := c.reply(r); !strings.Contains(string(f.Result), `"cancelled"`) {
					t.Errorf("the prompt ended with %s %v", f.Result, f.Error)
				}
			}
			c.says(id, "on", "turn 2: on") // the queued one was never accepted
		}))
	}
}

// A cancel that arrives while the agent streams stops the stream: here the client does not read for a while.
func TestCancelInTheStream(t *testing.T) {
	bubble(func(t *testing.T) {
		c := start(t, t.TempDir())
		id := c.session()
		c.quiet()
		resume := make(chan struct{})
		c.mu.Lock()
		c.pause = resume
		c.mu.Unlock()
		prompt := c.send("session/prompt", words(id, "SAY "+strings.Repeat("long ", 200)))
		synctest.Wait()
		c.write(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": id}})
		synctest.Wait()
		c.mu.Lock()
		c.pause = nil
		c.mu.Unlock()
		close(resume)
		if f := c.reply(prompt); !strings.Contains(string(f.Result), `"cancelled"`) {
			t.Errorf("ended with %s", f.Result)
		}
		if got := said(updates(c.seen())); len(got) == 0 || len(got) > 3*pieceSize {
			t.Errorf("%d characters of 1000 came", len(got))
		}
	})(t)
}

// Once the process is ending, no other goroutine gets a word out.
func TestNothingAfterQuit(t *testing.T) {
	var out strings.Builder
	a := newAgent(t.Context(), options{home: t.TempDir()}, nil, &out, &out)
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.quit(9)
	}()
	<-done
	a.conn.notify("late", nil, true)
	a.conn.flush()
	if code := <-a.exit; code != 9 || out.Len() > 0 {
		t.Errorf("code %d, written: %s", code, &out)
	}
}

func TestCommands(t *testing.T) {
	bubble(func(t *testing.T) {
		c := start(t, t.TempDir())
		id := c.session()
		c.says(id, "CHUNKS 3 5", "xxxx\nxxxx\nxxxx\n")
		began := time.Now()
		c.says(id, "SLEEP 1500", "slept")
		if d := time.Since(began); d != 1500*time.Millisecond {
			t.Errorf("SLEEP 1500 took %v", d)
		}
		c.says(id, "SAY  two  words", "two  words")
		c.says(id, "USAGE 12 100", "done")
		c.says(id, "CHUNKS two", "turn 5: CHUNKS two") // no command after all
		c.says(id, "CHUNKS 1 1\nplease", "turn 6: CHUNKS 1 1\nplease")
		if e := c.fails("session/prompt", words(id, "FAIL -32123 oh no"), -32123); e.Message != "oh no" {
			t.Errorf("FAIL gave %v", e)
		}
		c.send("session/prompt", words(id, "EXIT 9"))
		if code := c.ended(); code != 9 {
			t.Errorf("EXIT 9 ended with %d", code)
		}
	})(t)
}

// Words behind a leading block of instructions are still a command.
func TestLastBlock(t *testing.T) {
	bubble(func(t *testing.T) {
		c := start(t, t.TempDir())
		id := c.session()
		from := len(c.quiet())
		c.must("session/prompt", object{"sessionId": id, "prompt": []any{
			textBlock("Be brief."), object{"type": "image", "data": "", "mimeType": "image/png"}, textBlock("SAY brief")}})
		if got := said(updates(c.seen()[from:])); got != "brief" {
			t.Errorf("answered %q", got)
		}
	})(t)
}

func TestProtocolErrors(t *testing.T) {
	bubble(func(t *testing.T) {
		c := start(t, t.TempDir())
		c.fails("session/new", cwd(nil), -32600) // before initialize
		c.initialize()
		c.fails("no/such", nil, -32601)
		c.fails("session/new", object{"cwd": "rel"}, -32602)
		c.fails("session/new", object{"cwd": "/no/such/folder"}, -32602)
		c.fails("session/prompt", words("nope", "x"), -32602)
		c.fails("session/prompt", []int{1}, -32602)
		c.fails("authenticate", object{"methodId": "x"}, -32602)
		c.stdin.Write([]byte("this is not JSON\n"))
		lines := c.quiet()
		if last := lines[len(lines)-1]; !strings.Contains(last, "-32700") {
			t.Errorf("junk on stdin was answered with %s", last)
		}
		id := c.must("session/new", cwd(nil))["sessionId"].(string)
		c.says(id, "hi", "turn 1: hi")
		c.must("session/close", object{"sessionId": id})
		c.fails("session/prompt", words(id, "x"), -32602)
		c.must("session/load", cwd(object{"sessionId": id}))
		c.must("session/delete", object{"sessionId": id})
		c.fails("session/load", cwd(object{"sessionId": id}), -32002)
	})(t)
}

// The end of stdin in mid-turn: the words stay in the history, without an answer.
func TestEndOfStdinInATurn(t *testing.T) {
	bubble(func(t *testing.T) {
		home := t.TempDir()
		c := start(t, home)
		id := c.session()
		c.send("session/prompt", words(id, "HANG"))
		c.quiet()
		if code := c.close(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		c = start(t, home)
		_, replayed := c.loaded(id)
		if got := kinds(replayed); got != "user_message_chunk HANG\navailable_commands_update" {
			t.Errorf("replayed:\n%s", got)
		}
	})(t)
}

func TestContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, t.TempDir())
		c.session()
		c.cancel()
		if code := c.ended(); code != 143 {
			t.Errorf("exit code %d", code)
		}
	})
}
