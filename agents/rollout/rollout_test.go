package rollout

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/agents/past"
	"xmd/runtime"
)

const aRollout = "01a22d03-4e83-78a2-8cd6-516d198b9776"

func parsed(t *testing.T, text string) Found {
	t.Helper()
	got, err := parse(t.Context(), strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Recorded with the three builds: two turns, one with a command, then a compaction, then a third turn.
func TestRecordedRollouts(t *testing.T) {
	for build, id := range map[string]string{
		"0.153.2": aRollout,
		"0.162.1": "01a22d03-54bf-7b10-b811-3a9964006fed",
		"0.171.0": "01a22d03-5a1c-7141-8e59-69deed1f7053",
	} {
		t.Run(build, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "rollouts", "codex-"+build+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			got := parsed(t, string(data))
			if got.ID != id {
				t.Errorf("id %q, want %q", got.ID, id)
			}
			h := got.History
			if !h.Known || !h.Compacted || h.UserTurns != 3 || len(h.Newest) != 3 {
				t.Fatalf("history %+v", h)
			}
			wantTurn(t, h.Newest[0], "The codeword is ZEBRA in this first prompt.", "")
			wantTurn(t, h.Newest[1], "Second prompt please RUN it", "")
			reply := h.Newest[2].Reply
			wantTurn(t, h.Newest[2], "Third prompt after the compaction", "")
			if reply.Letters < 20 {
				t.Errorf("the reply of the last turn has %d letters", reply.Letters)
			}
			before, _, _ := strings.Cut(string(data), `"type": "compacted"`)
			first := parsed(t, before[:strings.LastIndex(before, "\n")+1]).History
			if first.Compacted || first.UserTurns != 2 || first.Newest[0].Reply.Letters < 20 {
				t.Errorf("before the compaction: %+v", first)
			}
			meta, _, _ := strings.Cut(string(data), "\n")
			if cut := parsed(t, meta+"\n"); cut.ID != id || !cut.History.Known || cut.History.UserTurns != 0 {
				t.Errorf("cut to its first line: %+v", cut)
			}
		})
	}
}

func wantTurn(t *testing.T, got runtime.PastTurn, words, reply string) {
	t.Helper()
	if want := runtime.FingerprintOf(words); got.Words != want {
		t.Errorf("words are not %q", words)
	}
	if want := runtime.FingerprintOf(reply); reply != "" && got.Reply != want {
		t.Errorf("reply is not %q", reply)
	}
}

const meta = `{"type":"session_meta","payload":{"id":"A"}}` + "\n"

func userItem(text string) string {
	return `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}}` + "\n"
}

func assistantItem(text string) string {
	return `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}}` + "\n"
}

func TestRolloutForms(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		id    string
		known bool
		turns int
	}{
		"empty file":               {"", "", false, 0},
		"only its first line":      {meta, "A", true, 0},
		"no last newline":          {meta + strings.TrimSuffix(userItem("one"), "\n"), "A", true, 1},
		"first line cut":           {meta[5:] + userItem("one"), "", false, 1},
		"garbage in the middle":    {meta + "garbage{\n" + userItem("one"), "A", true, 1},
		"truncated last line":      {meta + userItem("one") + userItem("two")[:60], "A", true, 1},
		"synthetic without kinds":  {meta + userItem("<environment_context>x</environment_context>") + userItem("<turn_aborted>\\ny\\n</turn_aborted>"), "A", true, 0},
		"two users without answer": {meta + userItem("one") + userItem("two"), "A", true, 2},
		"rolled back":              {meta + userItem("one") + assistantItem("1") + userItem("two") + `{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}` + "\n", "A", true, 1},
		"another form":             {meta + `{"type":"entry","payload":{"user":"one"}}` + "\n", "A", false, 0},
		"events only":              {meta + `{"type":"event_msg","payload":{"type":"user_message","message":"one"}}` + "\n", "A", true, 0},
		"second first line":        {meta + userItem("one") + `{"type":"session_meta","payload":{"id":"B"}}` + "\n", "A", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := parsed(t, c.text)
			if got.ID != c.id || got.History.Known != c.known || got.History.UserTurns != c.turns {
				t.Errorf("got %+v, want id %q known %v turns %d", got, c.id, c.known, c.turns)
			}
		})
	}
}

func TestRolloutRepliesAreJoined(t *testing.T) {
	got := parsed(t, meta+userItem("one")+assistantItem("first part, ")+
		`{"type":"response_item","payload":{"type":"function_call","name":"x"}}`+"\n"+assistantItem("second part")+userItem("two"))
	wantTurn(t, got.History.Newest[0], "one", "first part, second part")
	if got.History.Newest[1].Reply != (runtime.Fingerprint{}) {
		t.Error("the second turn has a reply")
	}
	if l := got.History.LastReply; l == nil || *l != "" {
		t.Errorf("last reply %v, want an empty one", l)
	}
}

func TestRolloutKeepsTheNewest(t *testing.T) {
	var b strings.Builder
	b.WriteString(meta)
	for range 99 {
		b.WriteString(userItem("old"))
	}
	b.WriteString(userItem("newest"))
	h := parsed(t, b.String()).History
	if h.UserTurns != 100 || len(h.Newest) != past.MaxTurns {
		t.Fatalf("%d turns, %d kept", h.UserTurns, len(h.Newest))
	}
	wantTurn(t, h.Newest[past.MaxTurns-1], "newest", "")
}

func TestOverlongRecordIsSkipped(t *testing.T) {
	if testing.Short() {
		t.Skip("64 MiB")
	}
	got := parsed(t, meta+userItem(strings.Repeat("x", maxLine))+userItem("one"))
	if got.History.UserTurns != 1 || got.History.Unread {
		t.Errorf("%+v, want one turn and nothing unread behind it", got.History)
	}
	if got := parsed(t, meta+userItem("one")+userItem(strings.Repeat("x", maxLine))); !got.History.Unread {
		t.Error("what was skipped is not said")
	}
}

func TestFindRollout(t *testing.T) {
	put := func(t *testing.T, name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const day = "sessions/2026/11/30/rollout-2026-11-30T15-12-01-A.jsonl"
	for name, c := range map[string]struct {
		files map[string]string
		found int
		id    string
		known bool
	}{
		"none":                {map[string]string{"sessions/2026/11/30/rollout-x-B.jsonl": meta}, 0, "", false},
		"one":                 {map[string]string{day: meta + userItem("one")}, 1, "A", true},
		"flat":                {map[string]string{"sessions/rollout-x-A.jsonl": meta}, 1, "A", true},
		"archived":            {map[string]string{"archived_sessions/rollout-x-A.jsonl": meta}, 1, "A", true},
		"a longer id":         {map[string]string{"sessions/rollout-x-A2.jsonl": meta}, 0, "", false},
		"two, one id":         {map[string]string{day: meta, "sessions/rollout-x-A.jsonl": meta}, 2, "A", false},
		"two that differ":     {map[string]string{day: meta, "sessions/rollout-x-A.jsonl": strings.Replace(meta, "A", "B", 1)}, 2, "", false},
		"packed":              {map[string]string{"sessions/rollout-x-A.jsonl.zst": "???"}, 1, "", false},
		"another id inside":   {map[string]string{day: strings.Replace(meta, `"A"`, `"B"`, 1)}, 1, "B", true},
		"no home at all":      {nil, 0, "", false},
		"not named a rollout": {map[string]string{"sessions/A.jsonl": meta}, 0, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for file, text := range c.files {
				put(t, filepath.Join(home, filepath.FromSlash(file)), text)
			}
			got, err := Read(t.Context(), home, "A")
			if err != nil {
				t.Fatal(err)
			}
			if got.Files != c.found || got.ID != c.id || got.History.Known != c.known {
				t.Errorf("got %+v", got)
			}
		})
	}
	if got, err := Read(t.Context(), t.TempDir(), "../A"); err != nil || got.Files != 0 {
		t.Errorf("an id with a path: %+v, %v", got, err)
	}
}

func TestRolloutStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := parse(ctx, strings.NewReader(meta)); err == nil {
		t.Error("no error")
	}
}
