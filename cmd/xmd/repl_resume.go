package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/store"
)

// begin begins the REPL's run, or takes over the one that goes on.
func (r *repl) begin(ctx context.Context, given settings) (err error) {
	j := job{plan: &plan.Plan{Source: diag.NewSource("repl", "")}, settings: given}
	r.agent = given.Agent
	if ref := r.c.String("resume"); ref != "" {
		return r.takeOver(ctx, ref, j)
	}
	if j.secrets, err = r.h.secrets(r.p, r.c, nil); err != nil {
		return err
	}
	j.settings.Secrets = j.secrets.Names()
	r.secrets = j.secrets
	r.live, err = r.h.begin(ctx, r.p, r.c, j)
	return err
}

// takeOver takes the run of an earlier REPL over: its lock, its record, its secrets. Nobody is contacted.
func (r *repl) takeOver(ctx context.Context, ref string, j job) error {
	s, err := r.p.openStore(ctx, r.c)
	if err != nil {
		return err
	}
	take := &resumption{p: r.p, c: r.c, h: r.h, store: s}
	defer take.close()
	run, err := s.FindRun(ctx, ref)
	switch {
	case errors.Is(err, store.ErrNoRun):
		return runtime.Errorf(runtime.KindInvalid, "%w; xmd runs lists them", err)
	case err != nil:
		return storeFailed(err)
	}
	take.recorded = &recorded{run: run}
	if err := take.read(r.p.recordedSecrets); err != nil {
		return err
	}
	if !take.settings.REPL {
		return runtime.Errorf(runtime.KindInvalid, "run %s was no REPL; xmd resume %s goes on with it", run.ID, run.ID)
	}
	if err := take.takeOver(ctx, run); err != nil {
		return err
	}
	if r.past, err = journal.Open(ctx, s, run.ID, take.secrets); err != nil {
		return storeFailed(err)
	}
	take.past = r.past
	if err := take.behaves(ctx); err != nil {
		return err
	}
	j.past, j.secrets, j.settings.Secrets = r.past, take.secrets, take.settings.Secrets
	r.secrets = take.secrets
	if j.settle, err = r.leftOpen(ctx); err != nil {
		return err
	}
	r.live, err = r.h.carryOn(ctx, take, j)
	return err
}

// leftOpen are the prompts that were in flight when the REPL died. Their entries are not run again, so nobody waits for their replies; what
// became of them is looked up when their sessions are used next.
func (r *repl) leftOpen(ctx context.Context) (map[string]runtime.Settling, error) {
	list, err := r.past.Flights(ctx)
	if err != nil {
		return nil, storeFailed(err)
	}
	words := map[string]runtime.Settling{}
	for _, f := range list {
		words[f.Step] = runtime.SettleSkip
	}
	return words, nil
}

// recall brings back what earlier entries bound. What they wrote is not written again. An entry that did not end is left as it is.
func (r *repl) recall(ctx context.Context) {
	if r.past == nil {
		return
	}
	entries, ended, err := r.recorded(ctx)
	if err != nil {
		r.code = r.p.finish(storeFailed(err))
		return
	}
	for _, e := range entries {
		r.entries = max(r.entries, e.Number)
		if e.Agent != "" {
			r.agent = e.Agent
		}
		r.live.runner.SetDefaultAgent(r.agent)
		switch {
		case e.Apart:
		case !ended[e.Number]:
			line, _, _ := strings.Cut(strings.TrimSpace(e.Text), "\n")
			r.say("the entry %q did not end and is not run again; what it bound is not there", line)
		default:
			r.recallEntry(ctx, e)
		}
	}
	r.say("%d entries of run %s are back", len(entries), r.live.id)
}

// recorded are the entries on record, in order, and which of them have ended.
func (r *repl) recorded(ctx context.Context) (entries []event.Entry, ended map[int]bool, err error) {
	ended = map[int]bool{}
	err = r.past.All(ctx, "", event.EntryStarted, func(_ event.At, body json.RawMessage) error {
		var e event.Entry
		err := json.Unmarshal(body, &e)
		entries = append(entries, e)
		return err
	})
	if err == nil {
		err = r.past.All(ctx, "", event.EntryEnded, func(_ event.At, body json.RawMessage) error {
			var e event.Entry
			err := json.Unmarshal(body, &e)
			ended[e.Number] = true
			return err
		})
	}
	return entries, ended, err
}

func (r *repl) recallEntry(ctx context.Context, e event.Entry) {
	doc, list := lang.Parse(e.Name, e.Text)
	compiled, names, more := plan.Compiler{Files: filesOf(e.Name, r.include)}.CompileEntry(doc, r.bound)
	if list = append(list, more...); list.HasErrors() {
		r.say("the entry %s cannot be read any more: %s; what it bound is not there", e.Name, list[0].Summary)
		return
	}
	r.bound = names
	r.accepted = append(r.accepted, e.Text)
	r.live.runner.Enter(e.Number)
	r.live.mute(true)
	err := r.live.runner.Recall(ctx, compiled)
	r.live.mute(false)
	if kind := runtime.KindOf(err); err != nil && (kind == runtime.KindDivergence || kind == runtime.KindStore) { // what else failed was said then
		r.say("the entry %s is not the one on record: %v; what it bound is not there", e.Name, err)
	}
}

// muted is a sink that can be silenced.
type muted struct {
	event.Sink
	off bool
}

// Event passes an event on, unless it is silenced.
func (m *muted) Event(e *event.Event) {
	if !m.off {
		m.Sink.Event(e)
	}
}

// mute silences what the run shows, or lets it be heard again. Between documents only.
func (l *live) mute(yes bool) {
	for _, m := range l.sinks {
		m.off = yes
	}
}
