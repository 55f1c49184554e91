package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"xmd/lang/expr"
	"xmd/runtime/event"
	"xmd/runtime/journal"
)

// maxCalls is how deep calls may stand in calls: the body of a tool prompts an agent that calls a tool whose body …
const maxCalls = 8

// Why a call ends before its body does.
var (
	errTurnOver  = &Error{Kind: KindCancelled, Message: "the turn that made the call has ended", Err: context.Canceled}
	errCallEnded = &Error{Kind: KindCancelled, Message: "the agent has given the call up", Err: context.Canceled}
)

// caller is the session whose turn waits for a call, and in turn the one whose turn waits for that turn.
type caller struct {
	up *caller
	s  *session
}

func (c *caller) depth() int {
	n := 0
	for ; c != nil; c = c.up {
		n++
	}
	return n
}

func (c *caller) has(s *session) bool {
	for ; c != nil; c = c.up {
		if c.s == s || s.conv != nil && c.s.conv == s.conv {
			return true
		}
	}
	return false
}

// waiting is the body of a call that waits for a session.
type waiting struct {
	from *caller
	on   *session
}

// takeIn waits for a session's turn token on behalf of a call. It refuses where the session itself waits for the call, over others too: that
// would never end.
func (r *Runner) takeIn(ctx context.Context, from *caller, s *session, queued func()) error {
	if from == nil {
		return s.queue().take(ctx, queued)
	}
	w := &waiting{from, s}
	r.mu.Lock()
	if r.waitsFor(from, s, map[*session]bool{}) {
		r.mu.Unlock()
		return s.fail(Errorf(KindFailed, "session %q of %s waits for this call, so a prompt to it would wait for ever; use another session", s.shown(), s.info.Shown))
	}
	r.waits = append(r.waits, w)
	r.mu.Unlock()
	err := s.queue().take(ctx, queued)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits = slices.DeleteFunc(r.waits, func(o *waiting) bool { return o == w })
	return err
}

// waitsFor says whether the turn of s, if it has one, waits for a call of from. The caller holds mu.
func (r *Runner) waitsFor(from *caller, s *session, seen map[*session]bool) bool {
	if from.has(s) {
		return true
	}
	if seen[s] {
		return false
	}
	seen[s] = true
	return slices.ContainsFunc(r.waits, func(w *waiting) bool { return w.from.has(s) && r.waitsFor(from, w.on, seen) })
}

// calls are the calls of one turn.
type calls struct {
	ctx   context.Context // of the turn
	stop  context.CancelCauseFunc
	under sync.WaitGroup

	mu      sync.Mutex
	number  map[string]int // by tool: how many there were
	claimed map[string]int // by tool: how many of them the agent has told of
	broken  error          // the store failed in a call
	panics  any
}

// begin lets the agent call tools in the turn.
func (t *turn) begin(ctx context.Context) {
	c := &calls{number: map[string]int{}, claimed: map[string]int{}}
	c.ctx, c.stop = context.WithCancelCause(ctx)
	t.calls = c
	t.s.callMu.Lock()
	defer t.s.callMu.Unlock()
	t.s.running = t
}

// over ends the calls of the turn and waits for them.
func (t *turn) over() {
	t.s.callMu.Lock()
	t.s.running = nil
	t.s.callMu.Unlock()
	t.calls.stop(errTurnOver)
	t.calls.under.Wait()
	if t.calls.panics != nil {
		panic(t.calls.panics)
	}
	if t.broken == nil {
		t.broken = t.calls.broken
	}
}

// answerCall answers a call of a tool that came in on a session's attachment. It may come at any time, from whoever has the key.
func (r *Runner) answerCall(ctx context.Context, s *session, use ToolUse) ToolAnswer {
	s.callMu.Lock()
	t := s.running
	if t != nil {
		t.calls.under.Add(1)
	}
	s.callMu.Unlock()
	if t == nil {
		return ToolAnswer{Failed: true, Text: fmt.Sprintf("the tool %s is not in scope: no prompt of the workflow is being answered in this conversation", use.Name)}
	}
	defer t.calls.under.Done()
	defer func() {
		if p := recover(); p != nil { // thrown again where the turn ends
			t.calls.mu.Lock()
			t.calls.panics = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			t.calls.mu.Unlock()
			t.idle.cancel(errTurnOver)
		}
	}()
	return t.call(ctx, use)
}

// call answers a call in the turn.
func (t *turn) call(ctx context.Context, use ToolUse) ToolAnswer {
	do := t.doing(use)
	if do == nil {
		return ToolAnswer{Failed: true, Text: fmt.Sprintf("the tool %s is not in scope here%s", use.Name, t.inScope())}
	}
	if t.from.caller.depth() >= maxCalls {
		return ToolAnswer{Failed: true, Text: fmt.Sprintf("%d calls stand in one another already; a tool cannot be called any deeper", maxCalls)}
	}
	defer t.idle.asked()()
	ctx, done := t.calls.join(ctx)
	defer done()
	c := t.newCall(use)
	text, err := c.run(ctx, do)
	switch {
	case err == nil:
		return ToolAnswer{Text: text}
	case KindOf(err) == KindStore:
		t.calls.mu.Lock()
		t.calls.broken = err
		t.calls.mu.Unlock()
		t.idle.cancel(err) // what comes of it could not be kept either
	}
	return ToolAnswer{Failed: true, Text: callFailure(err)}
}

// join is ctx of a call, which also ends with the turn.
func (c *calls) join(call context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(c.ctx)
	stop := context.AfterFunc(call, func() { cancel(errCallEnded) })
	return ctx, func() { stop(); cancel(nil) }
}

// inScope says which tools there are.
func (t *turn) inScope() string {
	names := t.from.offers.last.tools()
	if len(names) == 0 {
		return ""
	}
	return "; in scope are " + strings.Join(names, ", ")
}

// callFailure is how a body failed, for the agent.
func callFailure(err error) string {
	e := asError(err)
	switch {
	case errors.Is(err, errTold):
		return e.Message
	case e.Kind == KindWaiting:
		return "nobody is present who could answer: " + firstLine(e.Error())
	}
	return e.Error()
}

// call is one call while it is answered.
type call struct {
	t   *turn
	use ToolUse
	id  string // the step identity
	at  event.At
}

// newCall numbers a call.
func (t *turn) newCall(use ToolUse) *call {
	t.calls.mu.Lock()
	t.calls.number[use.Name]++
	k := t.calls.number[use.Name]
	t.calls.mu.Unlock()
	id := journal.Call(t.at.Step, t.attempt, use.Name, k)
	c := &call{t: t, use: use, id: id, at: event.At{Step: id, Position: t.at.Position}}
	if o := t.from.offers.last.toolNamed(use.Name); o != nil {
		c.at.Position = o.at.position(o.n.Pos)
	}
	return c
}

// run does what the tool does. Its start is on record before, its result before the agent has it.
func (c *call) run(ctx context.Context, do func(ctx context.Context, c *call) (string, error)) (string, error) {
	r := c.t.r
	input := r.inputOf(c.use.Name, c.use.Args)
	shown := event.Tool{ID: c.id, Name: c.use.Name, Kind: "other", Input: c.use.Args, Own: true}
	if err := r.o.Stream.Commit(ctx, event.StepStarted, c.at, &event.Step{Kind: "tool", Input: input}, nil); err != nil {
		if ctx.Err() != nil {
			return "", stopped(ctx)
		}
		return "", thrown(storeError(err), c.at)
	}
	c.t.show(event.ToolStarted, shown)
	text, failure := do(ctx, c)
	if failure != nil && ctx.Err() != nil {
		failure = stopped(ctx)
	}
	body := &event.Step{Kind: "tool", Input: input}
	shown.Outcome, shown.Output = outcomeDone, text
	if failure == nil {
		body.Value = text
	} else {
		failure = thrown(failure, c.at)
		shown.Outcome, shown.Output = "failed", callFailure(failure)
	}
	err := r.endStep(ctx, c.at, body, failure)
	c.t.show(event.ToolEnded, shown)
	return text, err
}

// doing is what answers a call of that tool in the turn; nil: it is not in scope.
func (t *turn) doing(use ToolUse) func(ctx context.Context, c *call) (string, error) {
	if use.Name == QuestionTool {
		return t.question
	}
	if server, tool, ok := t.s.relays.find(use.Name); ok {
		if !slices.ContainsFunc(t.from.offers.last.servers(), func(s MCPServer) bool { return s.Name == server.name }) {
			return nil
		}
		return func(ctx context.Context, c *call) (string, error) { return server.call(ctx, tool, c.use.Args) }
	}
	if o := t.from.offers.last.toolNamed(use.Name); o != nil {
		return func(ctx context.Context, c *call) (string, error) { return t.body(ctx, c, o) }
	}
	return nil
}

// body runs the body of a tool.
func (t *turn) body(ctx context.Context, c *call, o *offeredTool) (string, error) {
	args, err := recordedValue(c.use.Args)
	if err != nil {
		return "", Errorf(KindFailed, "the arguments are no JSON")
	}
	if args == nil {
		args = map[string]any{}
	}
	if limit := time.Duration(o.n.TimeoutMS) * time.Millisecond; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, Errorf(KindTimeout, "the tool %s was not done within its timeout of %s", o.n.Name, limit))
		defer cancel()
	}
	at := o.at
	at.vars = newScope(at.vars, map[string]any{"args": args, "call": map[string]any{"id": c.id}})
	at.id = identity{static: o.n.ID + "/", here: c.id + "/", rounds: at.id.rounds}
	at.log, at.strand, at.aside = &failureLog{}, &strand{}, t.from.aside
	at.session = sessionPin{scope: c.id}
	at.throws, at.tried, at.inLet, at.region, at.branches, at.begun = true, false, false, nil, nil, nil
	at.caller = &caller{up: t.from.caller, s: t.s}
	defer t.r.endScope(ctx, c.id)
	text, err := t.r.capture(ctx, o.n.Body, at)
	if err != nil && ctx.Err() != nil {
		err = stopped(ctx)
	}
	return text, err
}

// show tells of a call of the workflow's own tools, or of another action of the agent.
func (t *turn) show(kind event.Type, body event.Tool) {
	t.minutes.did(body)
	t.r.o.Stream.Emit(kind, t.at, &body)
}

// saw says whether a call that the agent tells of is one that came in, each counted once.
func (c *calls) saw(tool string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claimed[tool] >= c.number[tool] {
		return false
	}
	c.claimed[tool]++
	return true
}

// QuestionTool is the built-in tool with which an agent asks the person; --answer knows its question by the same name.
const QuestionTool = DoorName + "_question"

// question answers a call of QuestionTool.
func (t *turn) question(ctx context.Context, c *call) (string, error) {
	v, err := recordedValue(c.use.Args)
	given, _ := v.(map[string]any)
	q := Question{}
	q.Text, _ = given["question"].(string)
	if choices, ok := given["choices"].([]any); ok && len(choices) > 0 {
		q.Choices = choices
	}
	if err != nil || strings.TrimSpace(q.Text) == "" {
		return "", Errorf(KindFailed, "the question is empty")
	}
	r := t.r
	q.Name = r.asking(ctx, QuestionTool)
	r.o.Stream.Emit(event.Question, c.at, &event.Questioned{Name: q.Name, Text: q.Text, Choices: q.Choices})
	answer, from, err := r.answer(ctx, q)
	asked := Asked{Question: q.Text, Answered: err == nil}
	if asked.Answered {
		asked.Answer = expr.Render(answer)
	}
	t.minutes.question(asked)
	switch {
	case err != nil && KindOf(err) == KindWaiting:
		return "Nobody is present to answer. Go on as you think best, or say what you would need to know.", nil
	case err != nil:
		return "", err
	}
	r.o.Stream.Emit(event.Answer, c.at, &event.Answered{Name: q.Name, Value: answer, From: from})
	return expr.Render(answer), nil
}
