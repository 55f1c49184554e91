package rollout

import (
	"encoding/json"
	"strings"
	"testing"

	"xmd/runtime"
)

// The lines of newer builds, of which each message has two: as the model is given it, and as a client was shown it.

func line(kind string, payload map[string]any) string {
	b, err := json.Marshal(map[string]any{"type": kind, "payload": payload})
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}

func given(role, turn, text string) map[string]any {
	kinds := map[string]string{"user": "user.text", "assistant": "unknown", "summary": "compaction.summary"}
	passed := map[string]any{"turn_id": turn, "content_item_kinds": []string{kinds[role]}}
	if role == "summary" {
		role = "user"
	}
	return map[string]any{"type": "message", "role": role, "content": []any{map[string]any{"type": "text", "text": text}},
		"internal_chat_message_metadata_passthrough": passed}
}

func toModel(role, turn, text string) string { return line("response_item", given(role, turn, text)) }

func toClient(item, turn, text string) string {
	return line("event_msg", map[string]any{"type": "item_completed", "turn_id": turn,
		"item": map[string]any{"type": item, "content": []any{map[string]any{"type": "text", "text": text}}}})
}

func user(turn, text string) string {
	return toModel("user", turn, text) + toClient("UserMessage", turn, text)
}

func agent(turn, text string) string {
	return toClient("AgentMessage", turn, text) + toModel("assistant", turn, text)
}

func started(turn string) string {
	return line("event_msg", map[string]any{"type": "task_started", "turn_id": turn})
}

func complete(turn string) string {
	return line("event_msg", map[string]any{"type": "task_complete", "turn_id": turn})
}

func failed(turn string) string {
	return line("event_msg", map[string]any{"type": "task_complete", "turn_id": turn, "error": map[string]any{"message": "no"}})
}

func aborted(turn string) string {
	return line("event_msg", map[string]any{"type": "turn_aborted", "turn_id": turn})
}

func compactedTo(items ...map[string]any) string {
	return line("compacted", map[string]any{"message": "sum", "replacement_history": items})
}

func TestRolloutEndsOfTurns(t *testing.T) {
	one := meta + started("T1") + user("T1", "one") + agent("T1", "first, ") + agent("T1", "second")
	for name, c := range map[string]struct {
		text      string
		completed bool
		reply     string
	}{
		"complete":               {one + complete("T1"), true, "first, second"},
		"no error at all":        {one + strings.Replace(complete("T1"), `"turn_id"`, `"error":null,"turn_id"`, 1), true, "first, second"},
		"failed":                 {one + failed("T1"), false, "first, second"},
		"aborted":                {one + aborted("T1"), false, "first, second"},
		"nothing":                {one, false, "first, second"},
		"another one's end":      {one + complete("T2"), false, "first, second"},
		"an end without a turn":  {one + complete(""), false, "first, second"},
		"no answer":              {meta + user("T1", "one") + complete("T1"), true, ""},
		"words only":             {meta + user("T1", "one"), false, ""},
		"killed between the two": {meta + toModel("user", "T1", "one"), false, ""},
		"shown only":             {meta + toClient("UserMessage", "T1", "one") + toClient("AgentMessage", "T1", "yes") + complete("T1"), true, "yes"},
		"shown first":            {meta + toClient("UserMessage", "T1", "one") + toModel("user", "T1", "one") + agent("T1", "yes") + complete("T1"), true, "yes"},
		"model's answer first":   {meta + user("T1", "one") + toModel("assistant", "T1", "yes") + toClient("AgentMessage", "T1", "yes") + complete("T1"), true, "yes"},
		"not the turn's":         {one + agent("T9", "somebody else") + complete("T1"), true, "first, second"},
		"its own prompt": {meta + toModel("user", "T1", "<turn_aborted>what is this</turn_aborted>") +
			toClient("UserMessage", "T1", "<turn_aborted>what is this</turn_aborted>") + complete("T1"), true, ""},
		"given only, answered": {meta + toModel("user", "T1", "one") + agent("T1", "yes"), false, "yes"},
		"torn":                 {one + complete("T1")[:40], false, "first, second"},
	} {
		t.Run(name, func(t *testing.T) {
			h := parsed(t, c.text).History
			if h.UserTurns != 1 || len(h.Newest) != 1 || h.Newest[0].Completed != c.completed {
				t.Fatalf("%+v, want one turn, completed: %v", h, c.completed)
			}
			if h.LastReply == nil || *h.LastReply != c.reply || h.Newest[0].Reply != runtime.FingerprintOf(c.reply) {
				t.Errorf("reply %q, want %q", *h.LastReply, c.reply)
			}
		})
	}
}

func TestRolloutTwoMessagesOfOneTurn(t *testing.T) {
	h := parsed(t, meta+user("T1", "one")+agent("T1", "a")+user("T1", "and this")+agent("T1", "b")+complete("T1")).History
	if h.UserTurns != 2 || *h.LastReply != "b" || !h.Newest[1].Completed {
		t.Errorf("%+v, last reply %q", h, *h.LastReply)
	}
	wantTurn(t, h.Newest[0], "one", "a")
}

func TestRolloutCompaction(t *testing.T) {
	before := meta + user("T1", "one") + agent("T1", "answer one") + complete("T1")
	kept := []map[string]any{given("user", "T1", "one"), given("user", "T2", "two"), given("summary", "T3", "a summary that quotes one")}
	summing := toModel("assistant", "T3", "the summary itself")
	for name, c := range map[string]struct {
		text      string
		turns     int
		completed bool
		reply     *string
	}{
		"between turns":  {before + user("T2", "two") + agent("T2", "answer two") + complete("T2") + summing + compactedTo(kept...), 2, true, new("answer two")},
		"within a turn":  {before + user("T2", "two") + agent("T2", "begun, ") + summing + compactedTo(kept...) + agent("T2", "done") + complete("T2"), 2, true, new("begun, done")},
		"killed in it":   {before + user("T2", "two") + summing + compactedTo(kept...), 2, false, new("")},
		"all is gone":    {before + compactedTo(kept[2]), 0, false, nil},
		"an old form":    {before + line("compacted", map[string]any{"message": "sum"}), 0, false, nil},
		"then a turn":    {before + compactedTo(kept[0], kept[2]) + user("T4", "four") + agent("T4", "x") + complete("T4"), 2, true, new("x")},
		"not the newest": {before + user("T2", "two") + agent("T2", "answer two") + complete("T2") + compactedTo(kept[0]), 1, false, new("")},
	} {
		t.Run(name, func(t *testing.T) {
			h := parsed(t, c.text).History
			if !h.Known || !h.Compacted || h.UserTurns != c.turns {
				t.Fatalf("%+v, want %d turns", h, c.turns)
			}
			if (h.LastReply == nil) != (c.reply == nil) || c.reply != nil && *h.LastReply != *c.reply {
				t.Errorf("last reply %v", h.LastReply)
			}
			if c.turns > 0 && h.Newest[c.turns-1].Completed != c.completed {
				t.Errorf("completed: %v", h.Newest[c.turns-1].Completed)
			}
		})
	}
}

func TestRolloutRolledBack(t *testing.T) {
	back := line("event_msg", map[string]any{"type": "thread_rolled_back", "num_turns": 1})
	h := parsed(t, meta+user("T1", "one")+agent("T1", "a")+complete("T1")+user("T2", "two")+agent("T2", "b")+back+agent("T2", "late")).History
	if h.UserTurns != 1 || h.LastReply != nil {
		t.Fatalf("%+v, want one turn whose text is not known any more", h)
	}
	wantTurn(t, h.Newest[0], "one", "a")
	h = parsed(t, meta+user("T1", "one")+back+toClient("UserMessage", "T1", "late")).History
	if h.UserTurns > 1 {
		t.Errorf("%+v", h)
	}
}

// Records of a type that is not known may be turns of a newer build.
func TestRolloutUnread(t *testing.T) {
	strange := line("prompt_record", map[string]any{"words": "two"})
	one := meta + user("T1", "one") + agent("T1", "a")
	for name, c := range map[string]struct {
		text   string
		unread bool
	}{
		"none":                   {one + complete("T1"), false},
		"within a turn":          {meta + user("T1", "one") + strange + agent("T1", "a") + complete("T1"), false},
		"behind the last turn":   {one + complete("T1") + strange, true},
		"in a turn that goes on": {one + strange, true},
		"before a later one":     {one + complete("T1") + strange + user("T2", "two") + complete("T2"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if h := parsed(t, c.text).History; h.Unread != c.unread || !h.Known {
				t.Errorf("%+v, want unread %v", h, c.unread)
			}
		})
	}
}

// An adopted reply is bounded, and so is what is kept of a longer one.
func TestRolloutLongReplies(t *testing.T) {
	if testing.Short() {
		t.Skip("32 MiB")
	}
	half := strings.Repeat("x", runtime.MaxAdopted/2)
	h := parsed(t, meta+user("T1", "one")+agent("T1", half)+agent("T1", half)+complete("T1")).History
	if h.LastReply == nil || len(*h.LastReply) != runtime.MaxAdopted {
		t.Fatal("a reply of exactly the bound is not kept")
	}
	h = parsed(t, meta+user("T1", "one")+agent("T1", half)+agent("T1", half)+agent("T1", "y")+complete("T1")).History
	if h.LastReply != nil || h.Newest[0].Reply != (runtime.Fingerprint{}) || !h.Newest[0].Completed {
		t.Errorf("%+v: a longer one is kept in part", h)
	}
}
