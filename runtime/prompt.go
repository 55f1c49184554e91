package runtime

import (
	"context"
	"errors"
	"strings"
	"sync"

	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/runtime/event"
	"xmd/runtime/store"
)

// prompt runs one <Prompt>: words, session, attachment, turn, reply.
func (r *Runner) prompt(ctx context.Context, n *plan.Prompt, at place, out layout.Sink) error {
	defer at.begin()
	where := at.where(n.Step)
	want, err := at.form(n)
	if err != nil {
		return err
	}
	if want.words, err = r.words(ctx, n, at); err != nil {
		return err
	}
	input := r.promptInput(n, at, want)
	done, err := r.lookUp(ctx, where, "prompt", input)
	if err != nil {
		return err
	}
	with := &partner{r: r, n: n, at: at, done: done, limit: want.limit}
	defer with.release()
	if done == nil {
		r.begins(where, input)
	}
	failure, err := r.turn(ctx, with, n, at, want, out)
	if err != nil {
		failure = asError(err)
	}
	body := &event.Step{Kind: "prompt", Input: input, Outcome: outcomeDone}
	if failure != nil {
		body.Outcome, body.Error = outcomeOf(failure.Kind), EventError(failure)
	}
	switch {
	case failure != nil && isRecordEnd(failure):
	case done != nil:
		r.o.Stream.Replay(event.StepEnded, where, body)
	default:
		r.o.Stream.Emit(event.StepEnded, where, body)
	}
	if err == nil && failure != nil {
		at.log.add(failure)
	}
	return err
}

// begins tells that a prompt begins; one that an earlier invocation has begun is on record.
func (r *Runner) begins(where event.At, input string) {
	body := &event.Step{Kind: "prompt", Input: input}
	if r.o.Past.Has(where.Step) {
		r.o.Stream.Replay(event.StepStarted, where, body)
		return
	}
	r.o.Stream.Emit(event.StepStarted, where, body)
}

// promptInput is the digest of what a prompt is given: the words, the form of the reply, whom it is for.
func (r *Runner) promptInput(n *plan.Prompt, at place, want form) string {
	agent, _ := r.agentOf(n, at) // what is wrong with it is said where it is used
	session := at.session
	if n.Session.Given {
		name, _ := at.text(n.Session, n.Step, "session")
		session = sessionPin{name: name}
	}
	var fits any
	if want.schema != nil {
		fits = want.schema.Value()
	}
	if told := at.offers.last.instructions(); told != "" {
		return r.inputOf(want.words, fits, agent, session.name, session.scope, told)
	}
	return r.inputOf(want.words, fits, agent, session.name, session.scope)
}

// words renders what the prompt says.
func (r *Runner) words(ctx context.Context, n *plan.Prompt, at place) (string, error) {
	var words string
	var err error
	if n.Text.Given {
		words, err = at.text(n.Text, n.Step, "text")
	} else {
		inner := at
		inner.inLet, inner.throws = false, true
		words, err = r.capture(ctx, n.Body, inner)
	}
	if err == nil && strings.TrimSpace(words) == "" {
		err = thrown(Errorf(KindFailed, "the prompt is empty; nothing was sent"), at.where(n.Step))
	}
	return words, err
}

// sessionOf finds the session a prompt belongs to, in this invocation. It contacts nobody.
func (r *Runner) sessionOf(n *plan.Prompt, at place) (*session, error) {
	agentName, err := r.agentOf(n, at)
	if err != nil {
		return nil, err
	}
	agent, err := r.agents(at).Lookup(agentName)
	if err != nil {
		return nil, err
	}
	pin := at.session
	if n.Session.Given {
		name, err := at.text(n.Session, n.Step, "session")
		if err != nil {
			return nil, err
		}
		if err := resolve.SessionName(name); err != nil {
			return nil, Errorf(KindFailed, "%w", err)
		}
		pin = sessionPin{name: name}
	}
	s, err := r.session(agent, pin)
	if err == nil {
		at.cast.joins(s)
	}
	return s, err
}

func (r *Runner) agentOf(n *plan.Prompt, at place) (string, error) {
	if n.Agent.Given {
		return at.text(n.Agent, n.Step, "agent")
	}
	if at.agent.name != "" {
		return at.agent.name, nil
	}
	return r.defaultAgent()
}

// defaultAgent is the agent of prompts that name none.
func (r *Runner) defaultAgent() (string, error) {
	if r.o.DefaultAgent != "" {
		return r.o.DefaultAgent, nil
	}
	return "", Errorf(KindUnavailable, "no agent is named for this prompt; write agent=\"…\" or <Agent>, or give --agent; known here: %s", strings.Join(r.o.Agents.Names(), ", "))
}

// session returns the one session of that agent and pin, making it on first use.
func (r *Runner) session(agent Agent, pin sessionPin) (*session, error) {
	info := agent.Info()
	key := store.SessionKey{Agent: info.Name, Root: r.o.Dir}
	there := false
	conv, err := r.conversationOf(pin)
	switch {
	case err != nil:
		return nil, err
	case conv != nil:
		key = conv.key.Of(info.Name)
	case pin.name == "":
		key.Session = store.Unnamed(r.o.RunID, pin.scope)
	default:
		found, err := r.o.Store.FindRoot(context.Background(), r.o.Dir, info.Name, pin.name)
		if err != nil {
			return nil, storeError(err)
		}
		key.Session, key.Root, there = pin.name, found.Root, found.Found
		defer r.noteRoot(key, found)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.sessions[key]; s != nil {
		return s, nil
	}
	s := &session{key: key, name: pin.name, scope: pin.scope, conv: conv, agent: agent, info: info, generation: 1, found: there}
	r.sessions[key] = s
	return s, nil
}

// throwing says whether a failure of the prompt is thrown there.
func (at place) throwing(n *plan.Prompt) bool {
	if n.Throws || at.throws || !n.ThrowIf.Given {
		return n.Throws || at.throws
	}
	v, err := at.value(n.ThrowIf, n.Step)
	yes, ok := v.(bool)
	return err != nil || !ok || yes // what cannot be decided is not gone past
}

// thrownAnywhere are failures that end the run wherever the prompt stands: nothing after them could go better.
var thrownAnywhere = map[Kind]bool{KindCancelled: true, KindStore: true, KindNotSignedIn: true, KindMismatch: true, KindLimit: true}

// turn is one request to an agent while it runs. update and ask are called by the driver.
type turn struct {
	r        *Runner
	s        *session
	at       event.At
	from     place // of the prompt
	number   int
	attempt  int // from 1
	resend   bool
	idle     *idleWatch
	words    Fingerprint
	text     replyText
	reply    *layout.Reply
	actions  map[string]*action
	order    []*action // the same, as they began
	calls    *calls
	accepted bool
	well     bool  // it came to a normal end, whatever its reply is worth
	broken   error // the store or the output failed in the middle of the turn

	carried   *carried // nil: only words
	minutes   *minutes // nil: not in a Conversation
	compacted bool

	mu      sync.Mutex
	reason  string          // why the policy refused last
	refused string          // the first permission that was refused
	denied  map[string]bool // the calls to which a refusal belongs
}

// sent makes the prompt durable before its first byte leaves, with the owner record that says a turn is in flight.
func (t *turn) sent(ctx context.Context, words string) error {
	s, r := t.s, t.r
	body := &event.Sent{Turn: t.number, Attempt: t.attempt, Words: words, NativeID: s.nativeID, Scope: s.scope, Resend: t.resend, Restart: s.restart}
	return r.o.Stream.Commit(ctx, event.PromptSent, t.at, body, func(tx *store.Tx) error {
		if t.carried != nil {
			if err := t.carried.record(tx, s.key1(), t.number); err != nil {
				return err
			}
		}
		if !s.key.Named() {
			return nil
		}
		return tx.SetOwner(store.Owner{Key: s.key1(), State: store.OwnerTurn, Run: r.o.RunID, Step: t.at.Step, NativeID: s.nativeID})
	})
}

// accept records that the provider has the words: the route if there is none yet, and the turn. What other turns are built on is durable
// at once. Of a turn that goes on in a known conversation only its own row is written, before long: were the process to die before that,
// the turn is settled like one whose acceptance was not seen.
func (t *turn) accept() {
	t.accepted = true
	s, r := t.s, t.r
	body := &event.Accepted{Turn: t.number, NativeID: s.nativeID}
	key, row := s.key1(), t.row(store.AcceptedYes, Fingerprint{})
	rows := func(tx *store.Tx) error { return errors.Join(took(tx, key, row.Number), tx.PutTurn(row)) }
	if t.carried == nil && (s.route != nil || !s.key.Named() && t.number > 1) {
		r.o.Stream.Soon(event.PromptAccepted, t.at, body, rows)
		return
	}
	err := r.o.Stream.Commit(context.Background(), event.PromptAccepted, t.at, body, func(tx *store.Tx) error {
		if s.route == nil && s.key.Named() {
			if err := r.createRoute(tx, s); err != nil {
				return err
			}
		}
		return rows(tx)
	})
	if err != nil && t.broken == nil {
		t.broken = err
	}
	if err == nil && t.carried != nil {
		s.why, s.told = "", store.Told{Instructions: t.carried.Instructions, Tools: t.carried.Tools}
	}
}

func (t *turn) row(accepted store.Accepted, reply Fingerprint) store.Turn {
	return store.Turn{
		Key: t.s.key1(), Number: t.number, Run: t.r.o.RunID, Step: t.at.Step,
		WordsDigest: t.words.Digest, WordsLetters: t.words.Letters,
		ReplyDigest: reply.Digest, ReplyLetters: reply.Letters, Accepted: accepted,
	}
}

// createRoute records how the session was constructed; another writer's route must be the same conversation.
func (r *Runner) createRoute(tx *store.Tx, s *session) error {
	route := store.Route{
		Key: s.key1(), Transport: s.info.Transport, NativeSessionID: s.nativeID, Provenance: store.ProviderAsserted,
	}
	if s.begun != nil {
		route.Transport, route.InstructionDigest = s.begun.transport, s.begun.layer
		if s.begun.native() {
			route.Provenance = store.ClientAllocated
		}
	}
	if s.build != (Build{}) {
		route.Established = &store.Established{Version: s.build.Version, Digest: s.build.Digest}
	}
	winner, _, err := tx.CreateRoute(route)
	if err != nil {
		return err
	}
	if winner.NativeSessionID != s.nativeID {
		return Errorf(KindRoute, "session %s was constructed by somebody else meanwhile (conversation %s, ours is %s)", s.key, winner.NativeSessionID, s.nativeID)
	}
	s.route = &winner
	return nil
}

// judge says how the turn went; nil: well.
func (t *turn) judge(ctx context.Context, result TurnResult, err error) *Error {
	switch {
	case t.broken != nil:
		return t.failure(asError(t.broken))
	case ctx.Err() != nil:
		return t.failure(stopped(ctx))
	case err != nil:
		return t.failure(asError(err))
	case result.SessionID != "" && result.SessionID != t.s.nativeID:
		return t.failure(Errorf(KindMismatch, "%s answered in another conversation (%s) than the one asked for (%s); the turn was cancelled", t.s.info.Shown, result.SessionID, t.s.nativeID))
	case t.refused != "" && (t.s.info.RejectEnds || result.Stop != "end_turn"):
		return t.failure(Errorf(KindRefused, "%s was refused: %s", t.s.info.Shown, t.refused))
	case result.Failure != "":
		e := Errorf(KindFailed, "%s: %s", t.s.info.Shown, strings.TrimSpace(result.Failure))
		e.Retryable = result.Retryable
		return t.failure(e)
	case result.Stop != "end_turn":
		return t.failure(Errorf(KindFailed, "%s ended the turn with %q instead of a normal end", t.s.info.Shown, result.Stop))
	}
	return nil
}

func (t *turn) failure(e *Error) *Error {
	c := own(e)
	c.Position, c.Step, c.Agent, c.Session = t.at.Position, t.at.Step, t.s.info.Name, t.s.name
	return c
}

// ended records the end of the turn and sets the owner idle. A turn that ended without being known as accepted is settled by the
// next attach.
func (t *turn) ended(ctx context.Context, result TurnResult, failure *Error, value any) error {
	ctx = context.WithoutCancel(ctx)
	t.endActions()
	normal := failure == nil || result.Stop == "end_turn"
	if !t.accepted && normal && t.broken == nil {
		t.accept()
	}
	row := t.row(store.AcceptedUnknown, Fingerprint{})
	if t.accepted {
		row.Accepted = store.AcceptedYes
	}
	if t.text.short() && t.well {
		reply := FingerprintOf(t.text.String())
		row.ReplyDigest, row.ReplyLetters = reply.Digest, reply.Letters
	}
	body := t.endedBody(result, failure, value)
	err := t.r.o.Stream.Commit(ctx, event.PromptEnded, t.at, body, func(tx *store.Tx) error {
		if failure != nil && failure.Kind == KindMismatch {
			if err := tx.PutMark(store.Mark{Key: t.s.key1(), Name: string(KindMismatch), Run: t.r.o.RunID}); err != nil {
				return err
			}
		}
		err := errors.Join(tx.PutTurn(row), t.r.endEntry(tx, t.s.key1(), t.number, t.minutes.entry(body)))
		if err == nil && t.compacted {
			err = t.forgetInstructions(tx)
		}
		if err != nil || !t.s.key.Named() {
			return err
		}
		return tx.SetOwner(store.Owner{Key: t.s.key1(), State: store.OwnerIdle, Run: t.r.o.RunID, NativeID: t.s.nativeID})
	})
	return err
}

// forgetInstructions has what was said of instructions in the conversation itself, and was shortened with it, told once again.
func (t *turn) forgetInstructions(tx *store.Tx) error {
	if t.s.told.Instructions == "" || t.s.info.Channel == ChannelEvery || t.s.info.Channel == ChannelDoor {
		return nil
	}
	t.s.told.Instructions = ""
	return tx.PutTold(t.s.key1(), t.s.told)
}

func (t *turn) endedBody(result TurnResult, failure *Error, value any) *event.Ended {
	body := &event.Ended{
		Turn: t.number, Outcome: "done", Stop: result.Stop, Reply: t.recordedReply(), Value: value,
		NativeID: t.s.nativeID, Identity: string(t.s.identity), History: string(t.s.history),
	}
	if result.Usage != nil {
		body.Usage = result.Usage
	}
	if failure != nil {
		body.Outcome, body.Error = outcomeOf(failure.Kind), EventError(failure)
	}
	return body
}

// recordedReply is what the end of the turn says of the reply: all of it for machines that read events, else its beginning, since its pieces
// are on record.
func (t *turn) recordedReply() string {
	reply := layout.TrimReply(t.text.String())
	if t.r.o.WholeReplies || len(reply) <= maxReplyKept {
		return reply
	}
	return strings.ToValidUTF8(reply[:maxReplyKept], "")
}
