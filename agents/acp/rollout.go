package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"xmd/agents/wire"
	"xmd/runtime"
)

// A rollout is the file in which Codex keeps one conversation, $CODEX_HOME/sessions/Y/M/D/rollout-TIME-ID.jsonl: a line
// {"type","payload"} per record. What the model is given comes from its response_item and compacted records, so these are
// the history; turns that Codex tells from its database are not looked at.

// maxRolloutLine bounds one record; a longer one (an image) is skipped like one that cannot be parsed.
const maxRolloutLine = 64 << 20

// foundRollout is what a rollout file says of its conversation.
type foundRollout struct {
	Files   int    // with the id in their name, readable or not
	ID      string // of the first record; "" when it states none
	History runtime.History
}

// readRollout finds and reads the rollout of id below the provider home. Of several files, of which nobody can say which is
// used, the history is unknown, and the id counts if all state the same. The error is an I/O error or that of ctx.
func readRollout(ctx context.Context, home, id string, p *Profile) (foundRollout, error) {
	files, err := findRollouts(ctx, home, id)
	if err != nil {
		return foundRollout{}, err
	}
	var all foundRollout
	for i, name := range files {
		one, err := readRolloutFile(ctx, name, p)
		if err != nil {
			return foundRollout{}, err
		}
		switch {
		case i == 0:
			all = one
		case one.ID != all.ID:
			return foundRollout{Files: len(files)}, nil
		default:
			all.History = runtime.History{}
		}
	}
	all.Files = len(files)
	return all, nil
}

// findRollouts lists the files named after id, wherever below the home's folders of conversations they are.
func findRollouts(ctx context.Context, home, id string) ([]string, error) {
	if home == "" || id == "" || strings.ContainsAny(id, `/\`) {
		return nil, nil
	}
	var found []string
	visit := func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if base := d.Name(); !d.IsDir() && strings.HasPrefix(base, "rollout-") && strings.Contains(base, "-"+id+".jsonl") {
			found = append(found, name)
		}
		return ctx.Err()
	}
	for _, folder := range []string{"sessions", "archived_sessions"} {
		if err := filepath.WalkDir(filepath.Join(home, folder), visit); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func readRolloutFile(ctx context.Context, name string, p *Profile) (foundRollout, error) {
	if !strings.HasSuffix(name, ".jsonl") {
		return foundRollout{}, nil // packed in a way that is not known
	}
	f, err := os.Open(name)
	if err != nil {
		return foundRollout{}, err
	}
	defer f.Close()
	return parseRollout(ctx, f, p)
}

// parseRollout streams a rollout.
func parseRollout(ctx context.Context, r io.Reader, p *Profile) (foundRollout, error) {
	ro := rolloutReader{past: past{p: p}}
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return foundRollout{}, context.Cause(ctx)
		}
		line, err := rolloutLine(b)
		switch {
		case len(line) > maxRolloutLine:
			ro.past.unread = true
		case json.Valid(line):
			ro.record(line)
		}
		if errors.Is(err, io.EOF) {
			return ro.result(), nil
		}
		if err != nil {
			return foundRollout{}, err
		}
	}
}

// rolloutLine reads one line; of one beyond the bound only so much comes back that it is seen to be.
func rolloutLine(b *bufio.Reader) ([]byte, error) {
	line, err := b.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := append([]byte(nil), line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = b.ReadSlice('\n')
		if len(long) <= maxRolloutLine {
			long = append(long, line...)
		}
	}
	return long, err
}

type rolloutReader struct {
	past    past
	id      string
	records int  // parsed ones
	strange bool // one of a type that is not known was among them

	// The turn of Codex's that runs, and the person's messages in it: as the model is given them, and as a client is shown them. Each
	// message is recorded both ways, in this order in the builds that were run, so a turn begins with the first of the two.
	turn         string
	given, shown int
}

var recordMembers = []string{"type", "payload"}

func (r *rolloutReader) record(line []byte) {
	var m [2][]byte
	if !wire.Pick(line, recordMembers, m[:]) {
		return
	}
	r.records++
	kind, payload := m[0], m[1]
	switch {
	case wire.Is(kind, "session_meta"):
		if r.records == 1 {
			r.id, _ = wire.String(wire.Field(payload, "id"))
		}
	case wire.Is(kind, "response_item"):
		r.item(payload)
	case wire.Is(kind, "compacted"):
		r.compacted(payload)
	case wire.Is(kind, "event_msg"):
		r.event(payload)
	case wire.Is(kind, "turn_context"):
		r.enter(wire.Field(payload, "turn_id"))
	case wire.Is(kind, "world_state"), wire.Is(kind, "token_usage_record"):
	default:
		r.strange, r.past.unread = true, true
	}
}

// enter notes which turn runs.
func (r *rolloutReader) enter(id []byte) {
	if id, ok := wire.String(id); ok && id != "" && id != r.turn {
		r.turn, r.given, r.shown = id, 0, 0
	}
}

var itemMembers = []string{"type", "role", "content", "internal_chat_message_metadata_passthrough"}

// item takes one message, call or result of the model's history.
func (r *rolloutReader) item(payload []byte) {
	var m [4][]byte
	if !wire.Pick(payload, itemMembers, m[:]) || !wire.Is(m[0], "message") {
		return
	}
	switch {
	case wire.Is(m[1], "user"):
		if words, own := r.words(m[2], wire.Field(m[3], "content_item_kinds")); own {
			r.enter(wire.Field(m[3], "turn_id"))
			if r.given++; r.given > r.shown {
				r.past.begin(r.turn, words)
			}
		}
	case wire.Is(m[1], "assistant"):
		if t := r.answered(wire.Field(m[3], "turn_id")); t != nil && !t.shown {
			r.answer(m[2])
		}
	}
}

// words are a user message's own. Newer builds say of each part where it comes from; of others only its form tells whether Codex put
// it there.
func (r *rolloutReader) words(content, kinds []byte) (words string, own bool) {
	var from [][]byte
	for k := range wire.Elements(kinds) {
		from = append(from, k)
	}
	i := -1
	var b strings.Builder
	for part := range wire.Elements(content) {
		i++
		if i < len(from) && !isUsers(from[i]) {
			continue
		}
		text, _ := wire.String(wire.Field(part, "text"))
		if len(from) == 0 && r.past.p.synthetic(text) {
			continue
		}
		own = true
		b.WriteString(text)
	}
	return b.String(), own
}

// isUsers says whether a part of that kind is the person's own words or image.
func isUsers(kind []byte) bool {
	text, _ := wire.String(kind)
	return text == "user.text" || strings.HasPrefix(text, "user.image") || strings.HasPrefix(text, "user.audio")
}

// answered is the newest turn if what happens in the turn with that id answers it.
func (r *rolloutReader) answered(id []byte) *pastTurn {
	t := r.past.newest()
	if s, ok := wire.String(id); t == nil || ok && s != "" && t.id != "" && s != t.id {
		return nil
	}
	return t
}

// answer adds the text parts of a message.
func (r *rolloutReader) answer(content []byte) {
	for part := range wire.Elements(content) {
		if text, ok := wire.String(wire.Field(part, "text")); ok {
			r.past.agent(text)
		}
	}
}

// event takes what a client is told.
func (r *rolloutReader) event(payload []byte) {
	switch kind := wire.Field(payload, "type"); {
	case wire.Is(kind, "task_started"):
		r.enter(wire.Field(payload, "turn_id"))
	case wire.Is(kind, "item_completed"):
		r.completed(wire.Field(payload, "item"), wire.Field(payload, "turn_id"))
	case wire.Is(kind, "task_complete"):
		failure := wire.Field(payload, "error")
		r.ended(wire.Field(payload, "turn_id"), failure == nil || string(failure) == "null")
	case wire.Is(kind, "turn_aborted"):
		r.ended(nil, false)
	case wire.Is(kind, "thread_rolled_back"):
		r.rolledBack(payload)
	}
}

// completed takes one item as a client was shown it.
func (r *rolloutReader) completed(item, turn []byte) {
	switch kind := wire.Field(item, "type"); {
	case wire.Is(kind, "UserMessage"):
		r.enter(turn)
		if r.shown++; r.shown > r.given {
			var words strings.Builder
			for part := range wire.Elements(wire.Field(item, "content")) {
				text, _ := wire.String(wire.Field(part, "text"))
				words.WriteString(text)
			}
			r.past.begin(r.turn, words.String())
		}
		if t := r.past.newest(); t != nil { // rolled back: none
			t.shown = true
		}
	case wire.Is(kind, "AgentMessage"):
		if t := r.answered(turn); t != nil && t.shown {
			r.answer(wire.Field(item, "content"))
		}
	}
}

// ended says that a turn of Codex's is over, and whether it came to its normal end.
func (r *rolloutReader) ended(id []byte, well bool) {
	r.past.unread = false
	turn, _ := wire.String(id)
	for i := range r.past.turns {
		if t := &r.past.turns[i]; well && turn != "" && t.id == turn {
			t.Completed = true
		}
	}
}

// compacted starts the history anew from what was kept. A turn that goes on over it keeps its answer.
func (r *rolloutReader) compacted(payload []byte) {
	var running pastTurn
	if t := r.past.newest(); t != nil {
		running = *t
	}
	answer := r.past.reply
	r.past.reply = text{}
	r.past.forget()
	r.past.compacted()
	for item := range wire.Elements(wire.Field(payload, "replacement_history")) {
		r.item(item)
	}
	if t := r.past.newest(); t != nil && running.shown && t.id != "" && t.id == running.id {
		t.shown, t.Completed = true, running.Completed
		r.past.reply = answer
	}
}

func (r *rolloutReader) rolledBack(payload []byte) {
	r.past.end()
	var n int
	if json.Unmarshal(wire.Field(payload, "num_turns"), &n) == nil {
		r.past.drop(n)
	}
}

// result judges what was read: without a first record that names the conversation, or without any turn but with records
// of an unknown type, the form is not known; an emptied file is known to be empty.
func (r *rolloutReader) result() foundRollout {
	h := r.past.history(r.id != "")
	if h.UserTurns == 0 && !h.Compacted && r.strange {
		h.Known = false
	}
	return foundRollout{ID: r.id, History: h}
}
