package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// choose decides what is run again, by what the record shows and what the flags say.
func (r *resumption) choose(ctx context.Context) error {
	flights, err := r.past.Flights(ctx)
	if err != nil {
		return storeFailed(err)
	}
	for flag, word := range map[string]runtime.Settling{"resend": runtime.SettleResend, "adopt": runtime.SettleAdopt, "skip": runtime.SettleSkip} {
		for _, text := range r.c.StringSlice(flag) {
			if err := r.word(text, flag, word, flights); err != nil {
				return err
			}
		}
	}
	for _, text := range r.c.StringSlice("retry") {
		if err := r.retryFrom(ctx, text); err != nil {
			return err
		}
	}
	for _, one := range r.undo {
		r.discard = append(r.discard, discarded{one, "resume"})
	}
	ended := r.past.Seq("", event.RunEnded) > r.past.Seq("", event.RunStarted)
	if len(r.discard) > 0 || len(r.seen.Pending) > 0 || len(flights) > 0 || r.edited != nil || !ended {
		return nil
	}
	return r.nothing()
}

// nothing says why there is nothing to go on with.
func (r *resumption) nothing() error {
	switch {
	case r.thrown == nil && r.run.Outcome != "done" && r.run.Outcome != "failed": // it was cancelled when all of it was done
		return nil
	case r.thrown == nil && len(r.gone) == 0:
		return runtime.Errorf(runtime.KindInvalid, "run %s is done; xmd replay %s prints its document again", r.run.ID, r.run.ID)
	case r.thrown == nil:
		step := journal.StepOf(r.gone[0].Step)
		return runtime.Errorf(runtime.KindInvalid, "run %[1]s came to its end, past %[2]d failed; nothing is left to run. xmd resume %[1]s --retry %[3]s runs that step again",
			r.run.ID, len(r.gone), step)
	}
	return runtime.Errorf(runtime.KindInvalid, "run %s ended by a failure of the document itself, which would come again: %w; change the document and resume with --edited", r.run.ID, r.thrown)
}

// word takes --resend, --adopt or --skip of one step.
func (r *resumption) word(text, flag string, word runtime.Settling, flights []journal.Flight) error {
	var open []event.At
	for _, f := range flights {
		open = append(open, event.At{Step: f.Step, Position: f.At.Position})
	}
	for _, at := range r.seen.Pending { // exec blocks that were running
		if word != runtime.SettleAdopt && r.past.Seq(at.Step, event.StepStarted) != 0 && !slices.ContainsFunc(open, func(o event.At) bool { return o.Step == at.Step }) {
			open = append(open, at)
		}
	}
	for _, one := range r.undo {
		var was event.Step
		_, _, err := r.past.Last(context.Background(), one.Step, event.StepEnded, &was)
		if word == runtime.SettleSkip && !one.Turn && err == nil && (was.Kind == "prompt" || was.Kind == "exec") {
			open = append(open, r.place(one.Step))
		}
	}
	step, err := oneStep(text, open)
	if err != nil {
		return runtime.Errorf(runtime.KindInvalid, "--%s %s: %w", flag, text, err)
	}
	r.settle[step] = word
	return nil
}

// place is where a recorded step stands.
func (r *resumption) place(step string) event.At {
	for _, t := range []event.Type{event.StepEnded, event.StepStarted, event.PromptSent} {
		if at, found, err := r.past.Last(context.Background(), step, t, nil); err == nil && found {
			return at
		}
	}
	return event.At{Step: step}
}

// retryFrom takes a step out of use, and what came after it in its session.
func (r *resumption) retryFrom(ctx context.Context, text string) error {
	var known []event.At
	for _, step := range r.past.Steps() {
		if _, inCall := journal.TurnOfCall(step); !inCall && journal.StepOf(step) == step {
			known = append(known, r.place(step))
		}
	}
	step, err := oneStep(text, known)
	if err != nil {
		return runtime.Errorf(runtime.KindInvalid, "--retry %s: %w", text, err)
	}
	again, err := r.after(ctx, step)
	if err != nil {
		return storeFailed(err)
	}
	if err := r.agree(ctx, step, len(again)-1); err != nil {
		return err
	}
	for _, one := range again {
		r.throwAway(one)
		if err := r.reopen(ctx, one); err != nil {
			return storeFailed(err)
		}
	}
	return nil
}

// throwAway takes a step with all its turns out of use.
func (r *resumption) throwAway(step string) {
	r.discard = append(r.discard, discarded{runtime.Undo{Step: step}, "retry"})
	for _, turn := range r.past.Turns(step) {
		r.discard = append(r.discard, discarded{runtime.Undo{Step: turn, Turn: true}, "retry"})
	}
}

// reopen takes the ends of the sets of bodies around a step out of use that were left before their end, and what failed or was cancelled in
// them: they are run to their end now.
func (r *resumption) reopen(ctx context.Context, step string) error {
	for _, set := range r.past.Steps() {
		var end event.Step
		if !strings.HasPrefix(step, set) || step == set {
			continue
		}
		if _, found, err := r.past.Last(ctx, set, event.StepEnded, &end); err != nil || !found || end.Outcome != "left" {
			if err != nil {
				return err
			}
			continue
		}
		r.discard = append(r.discard, discarded{runtime.Undo{Step: set}, "retry"})
		if err := r.throwAwayIn(ctx, set); err != nil {
			return err
		}
	}
	return nil
}

// after lists a step and the prompts that were sent in the same session after it, or in the same Conversation.
func (r *resumption) after(ctx context.Context, step string) ([]string, error) {
	var sent event.Sent
	again := []string{step}
	at, found, err := r.past.Last(ctx, step, event.PromptSent, &sent)
	if err != nil || !found {
		return again, err
	}
	from := r.past.Seq(step, event.PromptSent)
	for _, other := range r.past.Steps() {
		if journal.StepOf(other) == step || r.past.Seq(other, event.PromptSent) <= from {
			continue
		}
		var s event.Sent
		where, _, err := r.past.Last(ctx, other, event.PromptSent, &s)
		if err != nil {
			return nil, err
		}
		same := s.NativeID == sent.NativeID || inOneSession(at, sent.Scope, where, s.Scope) || inOneTalk(at.Session, sent.Scope, where.Session, s.Scope)
		turn, _ := journal.TurnOfCall(other) // what a tool has sent is sent again by the prompt that called it
		if owner := journal.StepOf(turn); same && !slices.Contains(again, owner) {
			again = append(again, owner)
		}
	}
	return again, nil
}

// inOneSession says whether two prompts went to one session. Its provider conversation may be another by now: one in which no turn was
// accepted is made anew.
func inOneSession(at event.At, scope string, other event.At, otherScope string) bool {
	return at.Agent == other.Agent && at.Session == other.Session && (at.Session != "" || scope == otherScope)
}

// inOneTalk says whether two prompts, by the sessions and scopes they were sent to, stand in one Conversation.
func inOneTalk(session, scope, otherSession, otherScope string) bool {
	key := store.SessionKey{Session: session}
	if session == "" {
		key.Session = store.Unnamed("", scope)
	}
	_, talk := key.Conversation()
	return talk && session == otherSession && scope == otherScope
}

// throwAwayIn takes what did not come to a good end in a set of bodies out of use.
func (r *resumption) throwAwayIn(ctx context.Context, set string) error {
	for _, inner := range r.past.Steps() {
		if !strings.HasPrefix(inner, set+"/") && !strings.HasPrefix(inner, set+"[") {
			continue
		}
		var end event.Step
		if _, found, err := r.past.Last(ctx, inner, event.StepEnded, &end); err != nil {
			return err
		} else if found && end.Outcome != "done" {
			r.throwAway(inner)
		}
	}
	return nil
}

// agree asks whether recorded results are to be thrown away.
func (r *resumption) agree(ctx context.Context, step string, more int) error {
	if r.c.Bool("yes") {
		return nil
	}
	what := "the result on record of " + step
	if more > 0 {
		what += fmt.Sprintf(", and of %d prompts after it in its session,", more)
	}
	who := r.p.person()
	if who == nil {
		return &usageError{message: fmt.Sprintf("--retry throws away %s and nobody is here to be asked; add --yes", what)}
	}
	yes, err := who.confirm(ctx, fmt.Sprintf("%s is thrown away, and it is run again. Go on? [y/N] ", what))
	if err != nil || !yes {
		return runtime.Errorf(runtime.KindCancelled, "nothing was changed and nothing was run")
	}
	return nil
}

// oneStep finds the one step that a text means: its identity or its position (file:line:col, with [n] and #k), or a unique beginning.
func oneStep(text string, open []event.At) (string, error) {
	var matches []string
	for _, at := range open {
		position := at.Position + at.Step[len(journal.StepOf(at.Step)):]
		if at.Step == text || position == text {
			return at.Step, nil
		}
		if strings.HasPrefix(at.Step, text) || strings.HasPrefix(position, text) {
			matches = append(matches, at.Step)
		}
	}
	switch {
	case len(matches) == 1:
		return matches[0], nil
	case len(matches) > 1:
		return "", fmt.Errorf("several steps begin so: %s", strings.Join(matches, ", "))
	case len(open) == 0:
		return "", errors.New("no step of this run can be meant by it")
	}
	var all []string
	for _, at := range open {
		all = append(all, at.Step)
	}
	return "", fmt.Errorf("no such step; there are %s", strings.Join(all, ", "))
}
