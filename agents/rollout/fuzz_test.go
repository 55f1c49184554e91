package rollout

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"xmd/agents/past"
)

// FuzzRollout: whatever a file of Codex's holds, what is read of it is bounded and no text but the newest reply. Lines that are no record
// change nothing, and neither does how the file is read.
func FuzzRollout(f *testing.F) {
	for _, build := range []string{"0.153.2", "0.162.1", "0.171.0"} {
		data, err := os.ReadFile(filepath.Join("testdata", "rollouts", "codex-"+build+".jsonl"))
		if err != nil {
			f.Fatal(err)
		}
		var short bytes.Buffer // what Codex tells its model first is long, and says nothing here
		for line := range bytes.Lines(data) {
			if len(line) < 2<<10 {
				short.Write(line)
				f.Add(line)
			}
		}
		f.Add(short.Bytes())
	}
	for _, line := range []string{
		"", "{}", "null", "\xff", `{"type":"session_meta","payload":{"id":7}}`, `{"type":"compacted","payload":{"replacement_history":[{"type":"message","role":"user","content":[{"text":"a"}]}]}}`,
		`{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":-1}}`, `{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":9223372036854775807}}`,
		`{"type":"response_item","payload":{"type":"message","role":"user","content":{"text":"a"},"internal_chat_message_metadata_passthrough":{"content_item_kinds":["user.text"],"turn_id":"t"}}}`,
		`{"type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","content":[{"text":"a"}]}}}`, `{"type":"other","payload":{}}`,
	} {
		f.Add([]byte(line + "\n" + line))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read := func(data []byte) Found {
			got, err := parse(context.Background(), bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		got := read(data)
		h := got.History
		if h.UserTurns < 0 || len(h.Newest) > min(h.UserTurns, past.MaxTurns) || !utf8.ValidString(got.ID) {
			t.Fatalf("%d turns, %d kept, id %q", h.UserTurns, len(h.Newest), got.ID)
		}
		if h.LastReply != nil && (!utf8.ValidString(*h.LastReply) || len(h.Newest) == 0) {
			t.Fatalf("the last reply is %q, of %d turns", *h.LastReply, len(h.Newest))
		}
		if h.Known && got.ID == "" {
			t.Fatal("the history is known of a conversation without an id")
		}
		if bytes.HasPrefix(data, []byte("\ufeff")) {
			return // the mark would end up in the middle
		}
		spread := append([]byte("no record\n\n"), bytes.ReplaceAll(data, []byte("\n"), []byte("\n{broken\n"))...)
		if same := read(append(spread, "\n\xff\n{"...)); !reflect.DeepEqual(same, got) {
			t.Fatalf("with lines that are no records: %+v\nwithout: %+v", same, got)
		}
	})
}

// What a file is not allowed to cost: nesting is refused by the line's own check, and a line beyond the bound is passed over.
func TestRolloutOfNothingButBrackets(t *testing.T) {
	deep := strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20)
	got := parsed(t, `{"type":"session_meta","payload":{"id":"a"}}`+"\n"+deep+"\n"+`{"type":"compacted","payload":{"replacement_history":`+deep+"}}\n")
	if got.ID != "a" || got.History.UserTurns != 0 {
		t.Errorf("%+v", got)
	}
}
