package runtime_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/handoff"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// talkBench has two agents that can hand over to each other.
func talkBench(t *testing.T, names ...string) *bench {
	t.Helper()
	b := newBench(t)
	for _, n := range names {
		b.agents[n] = newFake(n)
	}
	b.opts = func(o *runtime.Options) { o.Handoff = handoff.Writer{} }
	return b
}

// sent are the prompts of an agent so far.
func (b *bench) sent(agent string) []string { return b.agents[agent].prompts }

// handovers are the typed reasons that a run told, with the number of entries.
func (r *result) handovers() string {
	var all []string
	for _, e := range r.events {
		if h, ok := e.Body.(*event.HandedOver); ok {
			all = append(all, fmt.Sprintf("%s:%s(%d)", e.At.Agent, h.Reason, h.Entries))
		}
	}
	return strings.Join(all, " ")
}

// last splits the newest prompt of an agent into its handoff block and the words behind it.
func (b *bench) last(t *testing.T, agent string) (block *handoff.Block, words string) {
	t.Helper()
	sent := b.sent(agent)
	text := sent[len(sent)-1]
	end := strings.LastIndex(text, "</earlier-conversation>\n\n")
	if end < 0 {
		return nil, text
	}
	end += len("</earlier-conversation>")
	block, err := handoff.Parse(text[:end])
	if err != nil {
		t.Fatal(err)
	}
	return block, text[end+2:]
}

const review = `<Conversation name="task">
<Prompt agent="a">find the bug in the parser</Prompt>
<Prompt agent="b">write the fix for it</Prompt>
<Prompt agent="a">review what was done</Prompt>
</Conversation>
`

// Each agent is told only what it has missed, and its own words exactly when it has missed nothing (case 1, public report 9).
func TestConversationTellsWhatWasMissed(t *testing.T) {
	b := talkBench(t, "a", "b")
	r := b.run(review)
	if r.err != nil {
		t.Fatal(r.err)
	}
	if got := b.sent("a")[0]; got != "find the bug in the parser" {
		t.Errorf("the first prompt is %q", got)
	}
	if got, want := r.handovers(), "b:joined(1) a:missed(1)"; got != want {
		t.Errorf("handed over %q, want %q", got, want)
	}
	block, words := b.last(t, "b")
	if words != "write the fix for it" || block == nil {
		t.Fatalf("b was sent %q", b.sent("b"))
	}
	if text := b.sent("b")[0]; !strings.Contains(text, "began before you joined") || strings.Count(text, "write the fix") != 1 {
		t.Errorf("b was sent %q", text)
	}
	if text := b.sent("a")[1]; strings.Contains(text, "find the bug") || !strings.Contains(text, "«") || !strings.HasSuffix(text, "review what was done") {
		t.Errorf("a was sent %q", text)
	}
	// Across runs: nothing was missed by a, and the rest by b.
	r = b.run(`<Conversation name="task">
<Prompt agent="a">go on then please</Prompt>
<Prompt agent="b">and you go on too</Prompt>
</Conversation>
`)
	if r.err != nil || r.handovers() != "b:missed(2)" {
		t.Fatalf("%v %q", r.err, r.handovers())
	}
	if got := b.sent("a")[2]; got != "go on then please" {
		t.Errorf("a was sent %q", got)
	}
	if text := b.sent("b")[1]; strings.Contains(text, "find the bug") || !strings.Contains(text, "review what was done") {
		t.Errorf("b was sent %q", text)
	}
	if b.agents["a"].starts != 2 || len(b.agents["a"].homes) != 1 {
		t.Errorf("a was started %d times and has %d conversations", b.agents["a"].starts, len(b.agents["a"].homes))
	}
}

// A prompt with a session of that name has nothing to do with the Conversation's.
func TestConversationHasSessionsOfItsOwn(t *testing.T) {
	b := talkBench(t, "a")
	if r := b.run("<Prompt agent=\"a\" session=\"task\">said in a session</Prompt>\n<Conversation name=\"task\">\n<Prompt agent=\"a\">said in the conversation</Prompt>\n</Conversation>\n"); r.err != nil {
		t.Fatal(r.err)
	}
	if n := len(b.agents["a"].homes); n != 2 {
		t.Errorf("%d provider conversations", n)
	}
}

// One without a name is its run's: the next run begins anew, and so does the next round.
func TestConversationWithoutName(t *testing.T) {
	b := talkBench(t, "a", "b")
	const doc = `<Loop max={2}>
<Conversation>
<Prompt agent="a">say the first thing</Prompt>
<Prompt agent="b">say the second thing</Prompt>
</Conversation>
</Loop>
`
	for range 2 {
		r := b.run(doc)
		if r.err != nil || r.handovers() != "b:joined(1) b:joined(1)" {
			t.Fatalf("%v %q", r.err, r.handovers())
		}
	}
	if n := len(b.agents["a"].homes); n != 4 {
		t.Errorf("%d provider conversations", n)
	}
}

// forget makes an agent lose all its provider conversations.
func (f *fakeAgent) forget() { clear(f.homes) }

// What is lost is begun anew only where the author says so, and then with everything (cases 24 and 29, public report 1).
func TestConversationLost(t *testing.T) {
	b := talkBench(t, "a", "b")
	if r := b.run(review); r.err != nil {
		t.Fatal(r.err)
	}
	b.agents["a"].forget()
	sent := len(b.sent("a"))
	doc := "<Conversation name=\"task\"%s>\n<Prompt agent=\"a\">what did we do</Prompt>\n</Conversation>\n"
	r := b.run(fmt.Sprintf(doc, ""))
	if runtime.KindOf(r.err) != runtime.KindMissing || len(b.sent("a")) != sent || r.handovers() != "" {
		t.Fatalf("%v, %d prompts, %q", r.err, len(b.sent("a"))-sent, r.handovers())
	}
	for _, choice := range []string{"xmd sessions restart conversation:task", `onLost="restart"`} {
		if !strings.Contains(r.err.Error(), choice) {
			t.Errorf("%q is not named in %v", choice, r.err)
		}
	}
	r = b.run(fmt.Sprintf(doc, ` onLost="restart"`))
	if r.err != nil || r.handovers() != "a:lost(3)" {
		t.Fatalf("%v %q", r.err, r.handovers())
	}
	if text := b.sent("a")[sent]; !strings.Contains(text, "lost") || !strings.Contains(text, "find the bug") || !strings.HasSuffix(text, "\n\nwhat did we do") {
		t.Errorf("a was sent %q", text)
	}
	// The new generation is the current one from then on.
	if r = b.run(fmt.Sprintf(doc, "")); r.err != nil || r.handovers() != "" {
		t.Errorf("%v %q", r.err, r.handovers())
	}
	if b.sent("a")[sent+1] != "what did we do" {
		t.Errorf("a was sent %q", b.sent("a")[sent+1])
	}
}

// An empty conversation is a lost one (case 24); another id, or none that is confirmed, and whatever may pass, is never (case 26,
// public report 5).
func TestConversationFailures(t *testing.T) {
	for name, c := range map[string]struct {
		open    func(id string, o *runtime.Opened) error
		kind    runtime.Kind
		restart bool
	}{
		"empty": {func(_ string, o *runtime.Opened) error {
			o.History = runtime.History{Known: true}
			return nil
		}, runtime.KindEmpty, true},
		"another id": {func(id string, o *runtime.Opened) error { o.Asserted = "not " + id; return nil }, runtime.KindMismatch, false},
		"an echo": {func(_ string, o *runtime.Opened) error {
			o.Listed = runtime.ListOmits
			o.History.Newest = nil
			return nil
		}, runtime.KindUnasserted, false},
		"could not load": {func(string, *runtime.Opened) error {
			return &runtime.Error{Kind: runtime.KindCouldNot, Retryable: true, Message: "a disk is full"}
		}, runtime.KindCouldNot, false},
		"busy":    {func(string, *runtime.Opened) error { return runtime.Errorf(runtime.KindBusy, "open elsewhere") }, runtime.KindBusy, false},
		"sign-in": {func(string, *runtime.Opened) error { return runtime.Errorf(runtime.KindNotSignedIn, "sign in") }, runtime.KindNotSignedIn, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := talkBench(t, "a")
			doc := "<Conversation name=\"task\" onLost=\"restart\">\n<Prompt agent=\"a\">the same words as ever</Prompt>\n</Conversation>\n"
			if r := b.run(doc); r.err != nil {
				t.Fatal(r.err)
			}
			b.agents["a"].onOpen = func(id string, o *runtime.Opened) error {
				if id == "" {
					return nil
				}
				return c.open(id, o)
			}
			r := b.run(doc)
			if c.restart {
				if r.err != nil || r.handovers() != "a:lost(1)" || len(b.sent("a")) != 2 {
					t.Errorf("%v %q", r.err, r.handovers())
				}
				return
			}
			if runtime.KindOf(r.err) != c.kind || len(b.sent("a")) != 1 || len(b.agents["a"].homes) != 1 {
				t.Fatalf("%v, %d prompts", r.err, len(b.sent("a")))
			}
			b.agents["a"].onOpen = nil
			if r := b.run(doc); r.err != nil || r.handovers() != "" {
				t.Errorf("it is not as it was: %v %q", r.err, r.handovers())
			}
		})
	}
}

// What an agent was sent counts as seen only once it is accepted.
func TestConversationSeenOnAcceptance(t *testing.T) {
	b := talkBench(t, "a", "b")
	b.agents["b"].onPrompt = func(runtime.Turn) (runtime.TurnResult, error) {
		return runtime.TurnResult{}, runtime.Errorf(runtime.KindFailed, "the line is down")
	}
	r := b.run(review)
	if len(r.failures) != 1 || r.handovers() != "b:joined(1)" {
		t.Fatalf("%v %q", r.failures, r.handovers())
	}
	b.agents["b"].onPrompt = nil
	r = b.run("<Conversation name=\"task\">\n<Prompt agent=\"b\">try again now</Prompt>\n</Conversation>\n")
	if r.err != nil || r.handovers() != "b:joined(2)" {
		t.Errorf("%v %q", r.err, r.handovers())
	}
	// A turn that failed after its words were taken stands in the log, with its failure.
	b.agents["b"].onPrompt = func(t runtime.Turn) (runtime.TurnResult, error) {
		t.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: "half of it"})
		return runtime.TurnResult{Stop: "end_turn", Failure: "out of credit"}, nil
	}
	b.run("<Conversation name=\"task\">\n<Prompt agent=\"b\">say the whole thing</Prompt>\n</Conversation>\n")
	b.agents["b"].onPrompt = nil
	r = b.run("<Conversation name=\"task\">\n<Prompt agent=\"a\">what came of it</Prompt>\n</Conversation>\n")
	if text := b.sent("a")[len(b.sent("a"))-1]; r.err != nil || !strings.Contains(text, "half of it") || !strings.Contains(text, "out of credit") {
		t.Errorf("%v; a was sent %q", r.err, text)
	}
}

// What an agent did stands between its words; a result that comes late reaches its action (case 11).
func TestConversationActions(t *testing.T) {
	b := talkBench(t, "a", "b")
	b.agents["a"].onPrompt = func(t runtime.Turn) (runtime.TurnResult, error) {
		for _, u := range []runtime.Update{
			{Kind: runtime.UpdateTool, Accepts: true, Tool: &runtime.ToolCall{ID: "1", Name: "Bash", Subject: "go test", Status: "in_progress"}},
			{Kind: runtime.UpdateTool, Tool: &runtime.ToolCall{ID: "2", Name: "Edit", Subject: "parser.go", Status: "declined"}},
			{Kind: runtime.UpdateTool, Tool: &runtime.ToolCall{ID: "3", Name: "Fetch", Subject: "https://example.org", Status: "in_progress"}},
			{Kind: runtime.UpdateMessage, Text: "meanwhile I say this"},
			{Kind: runtime.UpdateTool, Tool: &runtime.ToolCall{ID: "1", Status: "failed", Output: "FAIL parser", Diffs: []runtime.Diff{{Path: b.dir + "/out.txt"}}}},
			{Kind: runtime.UpdateTodo, Todo: []runtime.TodoItem{{Text: "write the fix", Status: "pending"}, {Text: "find it", Status: "completed"}}},
		} {
			t.Sink(u)
		}
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
	opts := b.opts
	b.opts = func(o *runtime.Options) {
		opts(o)
		o.Tree = func(_ context.Context, dir string) string { return "2 files changed in " + filepath.Base(dir) }
	}
	r := b.run("<Conversation name=\"task\">\n<Prompt agent=\"a\">find it</Prompt>\n<Prompt agent=\"b\">fix it</Prompt>\n</Conversation>\n")
	if r.err != nil {
		t.Fatal(r.err)
	}
	text := b.sent("b")[0]
	var at []int
	for _, want := range []string{"failed", "go test", "FAIL parser", "out.txt", "not run", "parser.go", "unknown", "https://example.org", "meanwhile I say this", "where things stand", "write the fix", "Fetch https://example.org, begun by A", "2 files changed"} {
		at = append(at, strings.Index(text, want))
		if at[len(at)-1] < 0 {
			t.Errorf("%q is not in it", want)
		}
	}
	if !slices.IsSorted(at) || strings.Contains(text, b.dir) {
		t.Errorf("the order is %v in\n%s", at, text)
	}
}

// Somebody else who works in the Conversation, with whatever agent, is not interrupted.
func TestConversationIsBusy(t *testing.T) {
	b := talkBench(t, "a", "b")
	if r := b.run(review); r.err != nil {
		t.Fatal(r.err)
	}
	s, err := store.Open(context.Background(), store.Options{Dir: b.state, BootID: "boot"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	key := store.ConversationKey{Session: store.Conversation("task"), Root: b.dir}
	lock, err := s.TryLock(context.Background(), store.LockSession, key.LockName(), store.LockOwner{Command: "xmd run other.xmd"})
	if err != nil {
		t.Fatal(err)
	}
	starts := b.agents["b"].starts
	r := b.run("<Conversation name=\"task\">\n<Prompt agent=\"b\">may I</Prompt>\n</Conversation>\n")
	if runtime.KindOf(r.err) != runtime.KindBusy || b.agents["b"].starts != starts {
		t.Errorf("%v", r.err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if r := b.run("<Conversation name=\"task\">\n<Prompt agent=\"b\">may I</Prompt>\n</Conversation>\n"); r.err != nil {
		t.Error(r.err)
	}
}

// Prompts that come to one Conversation at once take turns in document order.
func TestConversationTakesTurns(t *testing.T) {
	b := talkBench(t, "a", "b")
	b.agents["a"].onPrompt = func(runtime.Turn) (runtime.TurnResult, error) {
		if n := b.agents["b"].starts; n != 0 {
			t.Errorf("b was started %d times before its turn", n)
		}
		return runtime.TurnResult{}, nil
	}
	r := b.run(`<Let as="n" value="task"/>
<Parallel>
<Conversation name={n}>
<Prompt agent="a">the first of the two</Prompt>
</Conversation>
<Conversation name={n}>
<Prompt agent="b">the second of the two</Prompt>
</Conversation>
</Parallel>
`)
	if r.err != nil || r.handovers() != "b:joined(1)" {
		t.Errorf("%v %q", r.err, r.handovers())
	}
}
