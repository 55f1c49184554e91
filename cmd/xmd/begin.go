package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"xmd/agents"
	"xmd/agents/door"
	"xmd/agents/relay"
	"xmd/handoff"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// job is what a run is to do: a checked document and what it was given.
type job struct {
	plan       *plan.Plan
	props, env map[string]any
	answers    map[string]runtime.Answer
	settings   settings
	secrets    *secret.Set // nil: none

	// Of a run that goes on:
	past   *journal.Past
	settle map[string]runtime.Settling
	retry  bool
	edited []event.Source
}

// begin makes a run: its lock, its rows in the store, its event stream. On error nothing is left open.
func (h *host) begin(ctx context.Context, p *program, c *call, j job) (_ *live, err error) {
	l := &live{id: ulid.Make().String(), verb: c.verb}
	l.ctx, l.cancel = context.WithCancelCause(ctx)
	defer func() {
		if err != nil {
			l.release()
		}
	}()
	if l.store, err = h.store(ctx); err != nil {
		return nil, err
	}
	owner := store.LockOwner{Run: l.id, Command: commandLine(c)}
	if l.lock, err = l.store.TryLock(ctx, store.LockRun, l.id, owner); err != nil {
		return nil, notBegun(ctx, fmt.Errorf("the run's lock: %w", err))
	}
	if err = l.record(ctx, h, j); err != nil {
		return nil, notBegun(ctx, err)
	}
	return l, l.start(ctx, h, p, c, j)
}

// notBegun is why a run could not be put on record: the store, or a signal that came first.
func notBegun(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return runtime.Errorf(runtime.KindCancelled, "%w", context.Cause(ctx))
	}
	return runtime.Errorf(runtime.KindStore, "%w", err)
}

// start opens the event stream of a run whose lock is held, and tells its start.
func (l *live) start(ctx context.Context, h *host, p *program, c *call, j job) error {
	if err := l.traceTo(c.String("trace-acp")); err != nil {
		return err
	}
	l.journal = journal.New(l.store, l.id, j.secrets)
	l.journal.OnFailure(func(err error) { l.cancel(runtime.Errorf(runtime.KindStore, "%w", err)) })
	var w io.Writer
	w, l.styled = p.document(j.settings.Format)
	l.output = event.NewOutput(w, func(err error) { l.cancel(outputLost(err)) })
	l.digest = event.NewDigestSink()
	l.report, l.faults = p.report, filepath.Join(h.stateDir, "faults")
	notes := p.notes(c, j.secrets)
	notes.told = c.verb == "repl"
	sinks := []event.Sink{event.TextSink{W: l.output}, notes, l.digest}
	if machine := machineSink(j.settings.Format, l.output); machine != nil {
		sinks[0] = machine
	}
	sinks = slices.Concat(sinks, p.sinks(), p.watch, p.face.sinks())
	var keep event.Recorder = l.journal
	if p.recorder != nil {
		keep = p.recorder(keep)
	}
	if l.verb == "repl" {
		for i, sink := range sinks {
			m := &muted{Sink: sink}
			sinks[i], l.sinks = m, append(l.sinks, m)
		}
	}
	l.stream = event.NewStream(l.id, time.Now, keep, sinks...)
	l.stream.Hide(j.secrets)
	l.secrets = j.secrets
	l.watch = h.observer(j.secrets.Names()...)
	l.door = door.New(door.Options{Executable: self()})
	l.runner = runtime.New(h.options(p, c, l, j), l.lock)
	body := &event.Run{Document: j.plan.Source.Name, Digest: j.plan.Digest, Dir: h.dir, Props: j.props, Resumed: j.past != nil, Edited: j.edited}
	if err := l.stream.Commit(ctx, event.RunStarted, event.At{}, body, nil); err != nil {
		return notBegun(ctx, err)
	}
	return nil
}

// options are what the runner gets of the command line.
func (h *host) options(p *program, c *call, l *live, j job) runtime.Options {
	notes := p.notes(c, j.secrets)
	o := runtime.Options{
		RunID: l.id, Dir: h.dir, Stream: l.stream, Store: l.store, Agents: h.reach(), Testing: p.testing,
		Handoff: handoff.Writer{}, Hide: p.hider(j.secrets), Tree: p.tree(j.secrets.Names()...),
		Programs: agents.Programs{}, Terminal: p.window(l.flush), Policy: j.settings.Policy, DefaultAgent: j.settings.Agent, Children: p.env.forChildren(j.secrets.Names()...),
		Props: j.props, Env: j.env, Meta: j.plan.Inputs.Meta, LookupEnv: j.settings.Variables.lookup, Given: j.answers,
		Wait: waitOf(c, "wait"), Idle: j.settings.idle(), PromptLimit: durationOf(j.settings.PromptTimeout), ExecLimit: durationOf(j.settings.ExecTimeout), Budget: j.settings.budget(), RequireConfirmed: j.settings.RequireConfirmed,
		WholeReplies: j.settings.Format != "text", Notice: notes.line, Command: commandLine(c),
		Secrets: j.secrets, Past: j.past, Settle: j.settle, Retry: j.retry, Door: l.door, Relay: relay.Relay{},
	}
	if p.agents == nil { // what stands in for agents has no builds to tell apart
		o.Observer = l.watch
	}
	if c.verb == "repl" { // its entries are not known beforehand
		o.LookupEnv = p.env.lookup
	}
	if who := p.person(); who != nil {
		who.flush, who.mask = l.flush, j.secrets.Mask
		o.Ask, o.Answers = who.permit, who
	}
	if c.Bool("v") {
		o.AgentStderr = notes.raw
	}
	if l.trace != nil {
		o.TraceFrames = l.frame
	}
	return o
}

// record writes the run's own row.
func (l *live) record(ctx context.Context, h *host, j job) error {
	raw, err := json.Marshal(j.props)
	if err != nil {
		return err
	}
	var sources []store.Source
	for _, f := range j.plan.Sources() {
		sources = append(sources, store.Source{Name: f.Name, Text: j.secrets.Encode(f.Text)})
	}
	given, err := json.Marshal(j.settings)
	if err == nil {
		given, err = j.secrets.EncodeJSON(given)
	}
	if err == nil {
		raw, err = j.secrets.EncodeJSON(raw)
	}
	if err != nil {
		return err
	}
	run := store.Run{ID: l.id, Document: j.plan.Source.Name, Dir: h.dir, Props: raw, Settings: given, Sources: sources}
	return l.store.DoSoon(ctx, func(tx *store.Tx) error { return tx.BeginRun(run) }) // durable with the first thing that the run does
}
