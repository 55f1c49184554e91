package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// recorded is a run as it stands in the store, with its plan made again from the sources on record.
type recorded struct {
	run      store.Run
	settings settings
	secrets  *secret.Set
	past     *journal.Past
	sources  []store.Source // as the last invocation used them
	plan     *plan.Plan
	props    map[string]any
	env      map[string]any
}

// recordedRun reads a run. It writes nothing and starts nothing. known gives the values of its secrets by their names.
func recordedRun(ctx context.Context, s *store.Store, ref string, known func(run string, names []string) (*secret.Set, error)) (*recorded, error) {
	run, err := s.FindRun(ctx, ref)
	switch {
	case errors.Is(err, store.ErrNoRun):
		return nil, runtime.Errorf(runtime.KindInvalid, "%w; xmd runs lists them", err)
	case err != nil:
		return nil, storeFailed(err)
	}
	r := &recorded{run: run, sources: run.Sources}
	if err := r.read(known); err != nil {
		return nil, err
	}
	if r.settings.REPL {
		return nil, runtime.Errorf(runtime.KindInvalid, "run %s was a REPL, which is no document; xmd repl --resume %s goes on with it", run.ID, run.ID)
	}
	if r.past, err = journal.Open(ctx, s, run.ID, r.secrets); err != nil {
		return nil, storeFailed(err)
	}
	if err := r.behaves(ctx); err != nil {
		return nil, err
	}
	return r, r.compile(ctx)
}

// read decodes what the run was started with.
func (r *recorded) read(known func(run string, names []string) (*secret.Set, error)) error {
	names, err := readSettings(r.run, nil)
	if err != nil {
		return err
	}
	if r.secrets, err = known(r.run.ID, names.Secrets); err != nil {
		return err
	}
	if r.settings, err = readSettings(r.run, r.secrets); err != nil {
		return err
	}
	if r.run.Props, err = r.secrets.DecodeJSON(r.run.Props); err != nil {
		return runtime.Errorf(runtime.KindRoute, "the props of run %s: %w", r.run.ID, err)
	}
	for i, one := range r.sources {
		if r.sources[i].Text, err = r.secrets.Decode(one.Text); err != nil {
			return runtime.Errorf(runtime.KindRoute, "%s of run %s: %w", one.Name, r.run.ID, err)
		}
	}
	return nil
}

// standIns let a run be told again without the values of its secrets.
func standIns(_ string, names []string) (*secret.Set, error) { return secret.StandIns(names) }

// behaves refuses a run that uses a behaviour which this build does not have.
func (r *recorded) behaves(ctx context.Context) error {
	n, err := r.past.Unknown(ctx)
	switch {
	case err != nil:
		return storeFailed(err)
	case n != 0:
		return runtime.Errorf(runtime.KindInvalid, "run %s uses behaviour %d of a later xmd; use that build", r.run.ID, n)
	}
	return nil
}

// compile makes the plan again, and binds what the run was given.
func (r *recorded) compile(ctx context.Context) error {
	var began event.Run
	_, found, err := r.past.Last(ctx, "", event.RunStarted, &began)
	if err != nil {
		return storeFailed(err)
	}
	if err := r.editions(ctx); err != nil {
		return err
	}
	doc, err := recordedDocument(r.run, r.sources, r.settings)
	if err != nil {
		return err
	}
	compiled, _, list, err := compile(doc)
	switch {
	case err != nil:
		return unreadable(r.run, err)
	case list.HasErrors():
		return unreadable(r.run, errors.New(list[0].Summary))
	case found && compiled.Digest != began.Digest:
		return unreadable(r.run, errDigest(began.Digest, compiled.Digest))
	}
	r.plan = compiled
	return r.bind()
}

// editions takes over the sources of the last invocation that used others than the first.
func (r *recorded) editions(ctx context.Context) error {
	err := r.past.All(ctx, "", event.RunStarted, func(_ event.At, body json.RawMessage) error {
		var began event.Run
		if err := json.Unmarshal(body, &began); err != nil {
			return err
		}
		if began.Edited != nil {
			r.sources = nil
			for _, one := range began.Edited {
				r.sources = append(r.sources, store.Source(one))
			}
		}
		return nil
	})
	if err != nil {
		return storeFailed(err)
	}
	return nil
}

// bind makes the values of props and env again.
func (r *recorded) bind() error {
	v, err := expr.ParseJSON(first(string(r.run.Props), "{}"))
	if err != nil {
		return runtime.Errorf(runtime.KindRoute, "the props of run %s %w", r.run.ID, err)
	}
	r.props, _ = v.(map[string]any)
	r.env, err = documentEnv(r.plan, r.settings.Variables)
	return err
}

// offline is a Runner that tells what is on record of the run, to sinks, and does nothing else.
func (r *recorded) offline(replay, retry bool, sinks ...event.Sink) *runtime.Runner {
	stream := event.NewStream(r.run.ID, time.Now, nil, sinks...)
	stream.Hide(r.secrets)
	return runtime.New(runtime.Options{
		RunID: r.run.ID, Dir: r.run.Dir, Stream: stream, Secrets: r.secrets, Past: r.past, Offline: true, Replay: replay,
		Agents: noAgents{}, DefaultAgent: r.settings.Agent, Props: r.props, Env: r.env, Meta: r.plan.Inputs.Meta,
		LookupEnv: r.settings.Variables.lookup, WholeReplies: r.settings.Format != "text", Retry: retry,
	}, nil)
}

// noAgents are the agents of a run that is only told again.
type noAgents struct{}

func (noAgents) Lookup(name string) (runtime.Agent, error) {
	return nil, runtime.Errorf(runtime.KindUnavailable, "%s is not reached offline", name)
}

func (noAgents) Names() []string { return nil }

// storeFailed is an error of the store as commands tell it.
func storeFailed(err error) error {
	if errors.Is(err, store.ErrUnaccountable) && store.KindOf(err) != store.KindDamaged {
		return runtime.Errorf(runtime.KindRoute, "%w", err)
	}
	return runtime.Errorf(runtime.KindStore, "%w", err)
}

// notEnded is the answer to a replay of a run that has no end.
func notEnded(run store.Run) error {
	return runtime.Errorf(runtime.KindInvalid, "run %s has not ended, so there is no whole document to print; xmd resume %s goes on with it", run.ID, run.ID)
}

// sayDiverged prints divergences, all of them.
func (p *program) sayDiverged(list []*runtime.Error) error {
	for _, e := range list {
		_, _ = fmt.Fprintln(p.through(p.stderr), printable(errorLine(e)))
	}
	return exitCode(runtime.KindDivergence.ExitCode())
}
