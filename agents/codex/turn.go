package codex

import (
	"context"
	"encoding/json"
	"sync"
	"time"
	"unicode/utf8"

	"xmd/agents/asking"
	"xmd/agents/wire"
	"xmd/runtime"
)

// turn is the state of one running prompt. The reader delivers into it, its questions are decided by a goroutine of theirs, and a cancel
// closes it for questions; mu orders them, so the sink is never called twice at once.
type turn struct {
	sink   func(runtime.Update)
	ask    func(context.Context, runtime.PermissionRequest) bool
	call   *wire.Pending // turn/start; set before the reader can see the turn
	chosen choice        // what is in force in the thread when Codex takes the turn

	started chan struct{} // closed when Codex has begun it
	done    chan struct{} // closed when it has ended

	mu      sync.Mutex
	id      string
	known   bool     // id is what the answer said
	unsaid  []string // warnings from before
	status  string   // at its end
	failure *failure
	items   map[string]*item
	order   []string          // ids of items, in the order in which they began
	said    map[string]int    // bytes shown of each message and thought
	source  map[string]string // of each thought: summary or content, whichever came first
	refused int

	before, total tokens // of the thread
	told          bool   // total was told in this turn

	questions asking.Queue
	calls     calls
	door      string   // the server that is the workflow's door; "": there is none
	own       ownTools // the tools of the workflow that Codex was told directly
}

// owns says whether a turn id is that of this turn, which the answer of turn/start tells.
func (t *turn) owns(id []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known && t.call.Answered() {
		if result, err := t.call.Wait(context.Background()); err == nil {
			t.id, _ = wire.String(wire.Path(result, "turn", "id"))
			t.known = true
		}
	}
	return t.id != "" && wire.Is(id, t.id)
}

// adopts takes the id of a turn that begins before turn/start is answered; the answer confirms or replaces it.
func (t *turn) adopts(id []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.id == "" && !t.known {
		t.id, _ = wire.String(id)
		return t.id != ""
	}
	return false
}

func (t *turn) turnID() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.id
}

// begun says that Codex works on the turn. What it warned of before is told now.
func (t *turn) begun() {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.started:
		return
	default:
		close(t.started)
	}
	for _, text := range t.unsaid {
		t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: text})
	}
	t.unsaid = nil
}

// completed takes the end of the turn.
func (t *turn) completed(turn []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over() {
		return
	}
	t.status, _ = wire.String(wire.Field(turn, "status"))
	if f := parseFailure(wire.Field(turn, "error")); f != nil {
		t.failure = f
	}
	close(t.done)
}

func (t *turn) over() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// within waits for the end of the turn, at most so long.
func (t *turn) within(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-t.done:
	case <-timer.C:
	}
}

// emit hands one update to the caller. The turn is locked.
func (t *turn) emit(u runtime.Update) {
	if t.sink != nil {
		t.sink(u)
	}
}

// notice tells what Codex says beside the conversation.
func (t *turn) notice(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: text})
}

// stops are the statuses of a turn as the runtime calls its ends.
var stops = map[string]string{"completed": "end_turn", "interrupted": "cancelled", "failed": "error"}

// ended makes the result of a turn that is over. The turn is locked.
func (t *turn) ended() runtime.TurnResult {
	res := t.result()
	res.Stop = stops[t.status]
	switch {
	case res.Stop == "":
		res.Stop, res.Failure = "error", "the agent ended the turn without saying how"
	case t.status == "failed" && t.failure == nil:
		res.Failure = "the agent did not say why"
	case t.status == "failed":
		res.Failure, res.Retryable = t.failure.text, t.failure.retryable()
	}
	return res
}

func (t *turn) result() runtime.TurnResult {
	return runtime.TurnResult{Refused: t.refused, Usage: t.usage()}
}

// commands are the ids of the commands that began in the turn and did not end.
func (t *turn) commands() map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := map[string]bool{}
	for id, it := range t.items {
		if it.Type == "commandExecution" && it.Status == "inProgress" {
			left[id] = true
		}
	}
	return left
}

// handlers are the notifications of a running turn. The turn is locked.
var handlers = map[string]func(t *turn, params []byte){
	"item/started":                      func(t *turn, p []byte) { t.item(p, false) },
	"item/completed":                    func(t *turn, p []byte) { t.item(p, true) },
	"item/agentMessage/delta":           (*turn).message,
	"item/reasoning/summaryTextDelta":   func(t *turn, p []byte) { t.thought(p, "summary") },
	"item/reasoning/textDelta":          func(t *turn, p []byte) { t.thought(p, "content") },
	"item/reasoning/summaryPartAdded":   (*turn).part,
	"item/plan/delta":                   (*turn).progress,
	"item/commandExecution/outputDelta": (*turn).progress,
	"item/fileChange/patchUpdated":      (*turn).progress,
	"item/mcpToolCall/progress":         (*turn).progress,
	"turn/plan/updated":                 (*turn).plan,
	"thread/tokenUsage/updated":         (*turn).tokenUsage,
	"error":                             (*turn).trouble,
	"model/rerouted":                    (*turn).rerouted,
}

// progress takes a sign of work of which nothing is shown.
func (t *turn) progress([]byte) { t.emit(runtime.Update{Accepts: true}) }

var deltaMembers = []string{"itemId", "delta", "summaryIndex"}

// message takes a piece of the answer.
func (t *turn) message(params []byte) {
	var m [3][]byte
	wire.Pick(params, deltaMembers, m[:])
	id, _ := wire.String(m[0])
	text, _ := wire.String(m[1])
	t.say(runtime.UpdateMessage, id, text)
}

// thought takes a piece of one: its summary, or its content where the model tells that. One that is told both ways is shown once.
func (t *turn) thought(params []byte, source string) {
	var m [3][]byte
	wire.Pick(params, deltaMembers, m[:])
	id, _ := wire.String(m[0])
	text, _ := wire.String(m[1])
	if t.source == nil {
		t.source = map[string]string{}
	}
	if t.source[id] == "" {
		t.source[id] = source
	}
	if t.source[id] != source {
		t.emit(runtime.Update{Accepts: true})
		return
	}
	t.say(runtime.UpdateThought, id, text)
}

// part separates the parts of a thought's summary.
func (t *turn) part(params []byte) {
	var m [3][]byte
	wire.Pick(params, deltaMembers, m[:])
	id, _ := wire.String(m[0])
	if t.said[id] == 0 || string(m[2]) == "0" {
		t.emit(runtime.Update{Accepts: true})
		return
	}
	t.say(runtime.UpdateThought, id, "\n\n")
}

// say shows a piece of a message or thought.
func (t *turn) say(kind runtime.UpdateKind, id, text string) {
	if text == "" {
		t.emit(runtime.Update{Accepts: true})
		return
	}
	if t.said == nil {
		t.said = map[string]int{}
	}
	t.said[id] += len(text)
	t.emit(runtime.Update{Kind: kind, Accepts: true, Text: text})
}

// rest shows what of a whole text was not streamed.
func (t *turn) rest(kind runtime.UpdateKind, id, text string) {
	n := t.said[id]
	if n >= len(text) || !utf8.RuneStart(text[n]) {
		n = len(text) // all of it was shown
	}
	t.say(kind, id, text[n:])
}

// plan takes Codex's own list.
func (t *turn) plan(params []byte) {
	statuses := map[string]string{"inProgress": "in_progress"}
	list := []runtime.TodoItem{}
	for step := range wire.Elements(wire.Field(params, "plan")) {
		text, _ := wire.String(wire.Field(step, "step"))
		status, _ := wire.String(wire.Field(step, "status"))
		if s := statuses[status]; s != "" {
			status = s
		}
		list = append(list, runtime.TodoItem{Text: text, Status: status})
	}
	t.emit(runtime.Update{Kind: runtime.UpdateTodo, Todo: list})
}

// trouble takes an error on the way to the model. The last one comes again with the end of the turn.
func (t *turn) trouble(params []byte) {
	f := parseFailure(wire.Field(params, "error"))
	switch {
	case f == nil:
		t.emit(runtime.Update{})
	case string(wire.Field(params, "willRetry")) == "true":
		t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: f.text})
	default:
		t.failure = f
		t.emit(runtime.Update{})
	}
}

func (t *turn) rerouted(params []byte) {
	from, _ := wire.String(wire.Field(params, "fromModel"))
	to, _ := wire.String(wire.Field(params, "toModel"))
	t.emit(runtime.Update{Kind: runtime.UpdateNotice, Text: "the model " + from + " was replaced by " + to})
}

// tokens are the figures of a thread so far.
type tokens struct {
	Total  int64 `json:"totalTokens"`
	Input  int64 `json:"inputTokens"` // the cached ones too
	Cached int64 `json:"cachedInputTokens"`
	Output int64 `json:"outputTokens"`
}

func (a tokens) less(b tokens) tokens {
	return tokens{a.Total - b.Total, a.Input - b.Input, a.Cached - b.Cached, a.Output - b.Output}
}

// tokenUsage takes the figures of a call of the model: of the thread in all, and of the call. What a thread had used when it was loaded,
// nobody tells: it is what the first call leaves over.
func (t *turn) tokenUsage(params []byte) {
	var u struct {
		Total, Last tokens
	}
	if json.Unmarshal(wire.Field(params, "tokenUsage"), &u) != nil {
		t.emit(runtime.Update{})
		return
	}
	if !t.told && t.before == (tokens{}) {
		t.before = u.Total.less(u.Last)
	}
	t.total, t.told = u.Total, true
	if used := t.usage(); used != nil {
		t.emit(runtime.Update{Kind: runtime.UpdateUsage, Usage: used})
		return
	}
	t.emit(runtime.Update{})
}

// usage is what the turn used; nil when nothing of it was told. As for every other agent, input is what was not cached.
func (t *turn) usage() *runtime.Usage {
	if !t.told || t.total == t.before {
		return nil
	}
	u := t.total.less(t.before)
	fresh := u.Input - u.Cached
	return &runtime.Usage{InputTokens: &fresh, OutputTokens: &u.Output, CachedTokens: &u.Cached, TotalTokens: &u.Total}
}
