package agenttest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/agents"
	"xmd/runtime"
)

// What real adapters sent, played to the driver with the profile of the agent: the whole way from a frame to the runtime's
// interface, in every test run and for every version, without the programs.

var recordings = []struct{ agent, version string }{
	{"codex", "0.153.2"}, {"codex", "0.162.1"}, {"codex", "0.171.0"},
	{"claude", "2.1.210"}, {"claude", "2.1.332"},
}

// recording is one agent of one version in a place of its own.
type recording struct {
	*place
	agent, version string
	id             string // of the recorded conversation
}

func eachRecording(t *testing.T, test func(t *testing.T, r *recording)) {
	for _, c := range recordings {
		t.Run(c.agent+" "+c.version, func(t *testing.T) {
			t.Parallel()
			test(t, newRecording(t, c.agent, c.version))
		})
	}
}

func newRecording(t *testing.T, agent, version string) *recording {
	t.Helper()
	r := &recording{agent: agent, version: version, place: newPlace(t, Target{Name: agent})}
	r.id = r.recordedID(t, "load")
	return r
}

// recordedID is the conversation that a recording loads.
func (r *recording) recordedID(t *testing.T, name string) string {
	t.Helper()
	_, rest, _ := bytes.Cut(read(t, r.frames(name)), []byte(`"method": "session/load", "params": {"sessionId": "`))
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok {
		t.Fatalf("the recording %q loads no conversation", name)
	}
	return string(id)
}

func (r *recording) frames(name string) string {
	return filepath.Join("testdata", "frames", r.agent+"-"+r.version+"-"+name+".jsonl")
}

// rollout puts a recorded rollout of Codex into the home as that of id, whole or its first line only.
func (r *recording) rollout(t *testing.T, id string, whole bool) {
	t.Helper()
	if r.agent != "codex" {
		return
	}
	data := r.recordedRollout(t)
	if !whole {
		data, _, _ = bytes.Cut(data, []byte("\n"))
	}
	r.putRollout(t, id, data)
}

func (r *recording) recordedRollout(t *testing.T) []byte {
	t.Helper()
	return read(t, filepath.Join("testdata", "rollouts", "codex-"+r.version+"-full.jsonl"))
}

func (r *recording) putRollout(t *testing.T, id string, data []byte) {
	t.Helper()
	data = bytes.ReplaceAll(data, []byte(r.id), []byte(id))
	dir := filepath.Join(r.Home, ".codex", "sessions", "2026", "11", "30")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "rollout-2026-11-30T00-00-00-"+id+".jsonl"), data)
}

// playing starts the driver against a recording.
func (r *recording) playing(t *testing.T, name string) *line {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs(r.frames(name))
	if err != nil {
		t.Fatal(err)
	}
	env := append(personEnv(r.Place, nil), "GORACE=atexit_sleep_ms=0")
	r.target.At = func(t testing.TB, _ Place) Reach {
		a, err := agents.New(agents.Options{Env: env, Config: map[string]agents.Custom{
			r.agent: {Command: self, Args: []string{"replay", file}, Executable: self},
		}}).Lookup(r.agent)
		if err != nil {
			t.Fatal(err)
		}
		return Reach{Agent: a, Env: env}
	}
	return r.start(t)
}

func TestRecordedFirst(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		l := r.playing(t, "first")
		if o := l.open(""); o.ID != r.id {
			t.Errorf("opened %q, want %q", o.ID, r.id)
		}
		h := l.good(tell)
		if h.answer() != "OK, I will remember." || !h.accepted {
			t.Errorf("answer %q, accepted: %v", h.answer(), h.accepted)
		}
		if h.Usage == nil || h.Usage.InputTokens == nil || *h.Usage.InputTokens == 0 {
			t.Errorf("usage %+v", h.Usage)
		}
	})
}

func TestRecordedLoad(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		r.rollout(t, r.id, true)
		l := r.playing(t, "load")
		o := l.open(r.id)
		l.confirms(o, r.id)
		l.finds(o, tell, "OK, I will remember.")
		if h := l.good(ask); h.answer() != "CODEWORD=ZEBRA" {
			t.Errorf("answer %q", h.answer())
		}
	})
}

func TestRecordedTools(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		r.rollout(t, r.id, true)
		l := r.playing(t, "tools")
		l.open(r.id)
		h := l.good("run")
		if h.thoughts.String() != "a thought" || !strings.HasPrefix(h.answer(), "I will run it now.") {
			t.Errorf("thought %q, answer %q", h.thoughts.String(), h.answer())
		}
		r.sawTool(t, h, "execute", "touch made.txt && echo MADE", "MADE")
		if len(h.asked) != 1 || h.asked[0].Request.Subject != "touch made.txt && echo MADE" {
			t.Errorf("asked %+v", h.asked)
		}
		h = l.good("edit")
		r.sawTool(t, h, "edit", "", "")
		if d := r.diff(h); d == nil || d.New == "" || filepath.Base(d.Path) != "b.txt" {
			t.Errorf("diff %+v", d)
		}
		h = l.prompt("no", refuse)
		if h.Refused != 1 || h.Failure != "" || l.info.RejectEnds != (h.Stop == "cancelled") {
			t.Errorf("refused %d, ended as %q, failure %q", h.Refused, h.Stop, h.Failure)
		}
		r.target.Script.Permit = func(string) string { return "never" }
		l.cancelledAsking(r.file("never.txt"))
	})
}

// sawTool looks for a completed call.
func (r *recording) sawTool(t *testing.T, h *heard, kind, subject, output string) {
	t.Helper()
	for _, tool := range h.tools {
		if tool.Kind == kind && tool.Status == "completed" && (subject == "" || tool.Subject == subject) && strings.Contains(tool.Output, output) {
			return
		}
	}
	for _, tool := range h.tools {
		t.Logf("tool %+v", *tool)
	}
	t.Errorf("no completed call of kind %q with subject %q and output %q", kind, subject, output)
}

func (r *recording) diff(h *heard) *runtime.Diff {
	for _, tool := range h.tools {
		for i := range tool.Diffs {
			return &tool.Diffs[i]
		}
	}
	return nil
}

func TestRecordedFailures(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		r.rollout(t, r.id, true)
		l := r.playing(t, "failures")
		l.open(r.id)
		if h := l.prompt("500", allow); !strings.Contains(h.Failure, "temporary") || h.answer() != "" {
			t.Errorf("500: failure %q, answer %q", h.Failure, h.answer())
		}
		l.unauthorized(t, r.version == "0.153.2")
		if h := l.prompt("429", allow); !strings.Contains(h.Failure, "429") || h.answer() != "" {
			t.Errorf("429: failure %q, answer %q", h.Failure, h.answer())
		}
		// Of what came before the cut an agent may have shown nothing.
		if h := l.prompt("cut", allow); h.Failure == "" || !strings.HasPrefix("partial", h.answer()) {
			t.Errorf("cut: failure %q, answer %q", h.Failure, h.answer())
		}
		l.cancelledStream(t)
		if h := l.good("still there?"); h.answer() != "You said: Still there?" {
			t.Errorf("afterwards: %q", h.answer())
		}
	})
}

// unauthorized is a model's 401: most say that a sign-in is wanted, the oldest Codex only ends its turn.
func (l *line) unauthorized(t *testing.T, ends bool) {
	t.Helper()
	ctx, stop := limit(t)
	defer stop()
	h, err := l.promptWithin(ctx, "401", allow)
	switch {
	case ends && (err != nil || !strings.Contains(h.Failure, "401")):
		t.Errorf("401: failure %q, %v", h.Failure, err)
	case !ends && runtime.KindOf(err) != runtime.KindNotSignedIn:
		t.Errorf("401: failure %q, %v", h.Failure, err)
	}
	if h.answer() != "" {
		t.Errorf("401: answer %q", h.answer())
	}
}

// cancelledStream cancels at the first piece.
func (l *line) cancelledStream(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := newHeard()
	go func() {
		<-h.first
		cancel()
	}()
	if _, err := l.run(ctx, h, "stream", allow); err != nil || h.Stop != "cancelled" || h.Failure != "" {
		t.Errorf("cancelled stream: %v, ended as %q, failure %q", err, h.Stop, h.Failure)
	}
}

func TestRecordedMissing(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		r.playing(t, "missing").openError("01a22d05-0000-4582-8c37-a1c080809b60", runtime.KindMissing)
	})
}

// The turn of the recording "tools" says two things with a tool between them. What the rollout has of it is what a live turn showed:
// its frames and its rollout were recorded together.
func TestRecordedAdoption(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		if r.agent != "codex" {
			t.Skip("only Codex records how a turn ended")
		}
		data := r.recordedRollout(t)
		r.putRollout(t, r.id, upTo(data, `"UserMessage"`, 3))
		l := r.playing(t, "tools")
		if h := l.open(r.id).History; h.UserTurns != 3 || *h.LastReply != "" || h.Newest[2].Completed {
			t.Errorf("begun: %+v", h)
		}
		live := l.good("run").answer()
		l.end()
		r.putRollout(t, r.id, upTo(data, `"task_complete"`, 3))
		h := r.playing(t, "tools").open(r.id).History
		if h.UserTurns != 3 || !h.Newest[2].Completed || h.LastReply == nil || *h.LastReply != live {
			t.Errorf("%+v, last reply %q, live %q", h, *h.LastReply, live)
		}
		if !strings.HasPrefix(live, "I will run it now.Tool said:") {
			t.Errorf("live %q: not two messages", live)
		}
	})
}

// Where a build does not say of a message where it comes from, its form tells: these are Codex's own, as they were recorded, and some
// of a person who speaks of them.
func TestUnlabelledRollout(t *testing.T) {
	r := newRecording(t, "codex", "0.171.0")
	meta, _, _ := bytes.Cut(r.recordedRollout(t), []byte("\n"))
	data := append(meta, '\n')
	for _, text := range []string{
		"# AGENTS.md instructions for /home/person/project\n\n<INSTRUCTIONS>\n# Rules\nBe nice.\n\n</INSTRUCTIONS>",
		"<environment_context>\n  <cwd>/home/person/project</cwd>\n  <shell>bash</shell>\n</environment_context>",
		"What is <environment_context>?",
		"<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>",
		"<turn_aborted> stood in the log, what is it?",
	} {
		line, err := json.Marshal(map[string]any{"type": "response_item", "payload": map[string]any{
			"type": "message", "role": "user", "content": []any{map[string]any{"type": "input_text", "text": text}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		data = append(append(data, line...), '\n')
	}
	r.putRollout(t, r.id, data)
	h := r.playing(t, "load").open(r.id).History
	if h.UserTurns != 2 || h.Newest[0].Words != runtime.FingerprintOf("What is <environment_context>?") {
		t.Errorf("history %+v, want the person's two turns", h)
	}
}

// What Claude writes into a conversation that was interrupted is no turn of the user's.
func TestRecordedInterruption(t *testing.T) {
	for _, version := range []string{"2.1.210", "2.1.332"} {
		r := newRecording(t, "claude", version)
		h := r.playing(t, "failures").open(r.id).History
		if n := len(h.Newest); n == 0 || h.Newest[n-1].Words != runtime.FingerprintOf("ASK touch never.txt") {
			t.Errorf("%s: the newest of %d turns is another one", version, n)
		}
	}
}

// upTo is data up to the nth line that has the text.
func upTo(data []byte, text string, nth int) []byte {
	var kept []byte
	for line := range bytes.Lines(data) {
		kept = append(kept, line...)
		if bytes.Contains(line, []byte(text)) {
			nth--
		}
		if nth == 0 {
			break
		}
	}
	return kept
}

// A history that is shortened is said so, and is no failure.
func TestRecordedCompaction(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		if !exists(r.frames("compact")) {
			t.Skip("not recorded for this version")
		}
		id := r.recordedID(t, "compact")
		r.rollout(t, id, true)
		l := r.playing(t, "compact")
		l.open(id)
		if h := l.good("/compact"); h.compacts == 0 {
			t.Error("nothing says that the history was shortened")
		}
		if !exists(r.frames("compacted")) {
			return
		}
		l = r.playing(t, "compacted")
		if o := l.open(r.recordedID(t, "compacted")); !o.History.Known || !o.History.Compacted {
			t.Errorf("history %+v, want one that was shortened", o.History)
		}
	})
}

// The adapter replays a whole history from Codex's database, and the file has none of it.
func TestRecordedEmptied(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		if r.agent != "codex" {
			t.Skip("only Codex has such a state")
		}
		r.rollout(t, r.id, false)
		o := r.playing(t, "emptied").open(r.id)
		if !o.History.Known || o.History.UserTurns != 0 || o.History.Compacted {
			t.Errorf("history %+v, want a known one without turns", o.History)
		}
	})
}

// The load of a deleted rollout succeeds.
func TestRecordedDeleted(t *testing.T) {
	eachRecording(t, func(t *testing.T, r *recording) {
		if r.agent != "codex" {
			t.Skip("only Codex has such a state")
		}
		r.playing(t, "deleted").openError(r.id, runtime.KindMissing)
	})
}
