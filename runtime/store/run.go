package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Run is what is known of one run apart from its journal.
type Run struct {
	ID       string // unique; the caller's
	Document string // the name of the root document as given, "-" for stdin
	Dir      string // the run's directory
	Sources  []Source
	Props    json.RawMessage // resolved props, secrets as references; nil: none
	Settings json.RawMessage // what else a resume needs: policies, limits, formats; nil: none
	Started  time.Time       // zero: now
	Ended    time.Time       // zero: going on, or its process died
	Outcome  string          // as in the json output; empty until EndRun
	ExitCode int             // meaningful with Outcome
}

// Source is one document involved in a run, as it was when the run began.
type Source struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// BeginRun records the start of a run. A run of that id must not exist.
func (tx *Tx) BeginRun(r Run) error {
	if r.ID == "" {
		return fmt.Errorf("begin run: the id is empty")
	}
	if r.Sources == nil {
		r.Sources = []Source{}
	}
	sources, err := json.Marshal(r.Sources)
	if err != nil {
		return fmt.Errorf("begin run: sources: %w", err)
	}
	props, err := jsonText(r.Props)
	if err != nil {
		return fmt.Errorf("begin run: props: %w", err)
	}
	settings, err := jsonText(r.Settings)
	if err != nil {
		return fmt.Errorf("begin run: settings: %w", err)
	}
	return tx.write("begin run",
		`INSERT INTO run (id, document, dir, sources, props, settings, started) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		r.ID, r.Document, r.Dir, string(sources), props, settings, toMillis(tx.now(r.Started)))
}

// EndRun records how a run ended. A resumed run ends again: the last end counts.
func (tx *Tx) EndRun(id, outcome string, exitCode int) error {
	if !tx.writable {
		return fmt.Errorf("end run: inside View nothing is written")
	}
	res, err := tx.exec(`UPDATE run SET ended = ?, outcome = ?, exit_code = ? WHERE id = ?`,
		toMillis(tx.now(time.Time{})), outcome, exitCode, id)
	if err != nil {
		return tx.s.wrap("end run", err)
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("end run %s: %w", id, ErrNoRun)
	}
	return nil
}

const runColumns = `id, document, dir, sources, props, settings, started, COALESCE(ended, 0), COALESCE(outcome, ''),
	COALESCE(exit_code, 0), ended IS NOT NULL`

// Run returns the run named by ref: its id, a prefix that only it has, or "last" for the one begun last. Errors match
// ErrNoRun when there is none or more than one.
func (tx *Tx) Run(ref string) (Run, error) {
	var found []Run
	collect := func(r Run) error { found = append(found, r); return nil }
	var err error
	switch {
	case ref == "":
		return Run{}, fmt.Errorf("%w: no id was given", ErrNoRun)
	case ref == "last":
		err = tx.runs(`SELECT `+runColumns+` FROM run ORDER BY number DESC LIMIT 1`, nil, collect)
	default:
		err = tx.runs(`SELECT `+runColumns+` FROM run WHERE substr(id, 1, length(?1)) = ?1
			ORDER BY id <> ?1, number DESC LIMIT 3`, []any{ref}, collect)
	}
	switch {
	case err != nil:
		return Run{}, err
	case len(found) == 0:
		return Run{}, fmt.Errorf("%w: %s", ErrNoRun, ref)
	case len(found) > 1 && found[0].ID != ref:
		ids := make([]string, len(found))
		for i, r := range found {
			ids[i] = r.ID
		}
		return Run{}, fmt.Errorf("%w: %s is the beginning of several: %s", ErrNoRun, ref, strings.Join(ids, ", "))
	}
	return found[0], nil
}

// runHeadColumns are runColumns without what can be large.
const runHeadColumns = `id, document, dir, '[]', '', '', started, COALESCE(ended, 0), COALESCE(outcome, ''),
	COALESCE(exit_code, 0), ended IS NOT NULL`

// Runs returns up to limit runs, the one begun last first, without their sources, props and settings. limit <= 0 means all.
func (tx *Tx) Runs(limit int) ([]Run, error) {
	if limit <= 0 {
		limit = -1
	}
	var all []Run
	err := tx.runs(`SELECT `+runHeadColumns+` FROM run ORDER BY number DESC LIMIT ?`, []any{limit},
		func(r Run) error { all = append(all, r); return nil })
	return all, err
}

func (tx *Tx) runs(query string, args []any, each func(Run) error) error {
	return tx.rows("read run", query, args, func(scan func(...any) error) error {
		var r Run
		var sources, props, settings string
		var started, ended int64
		var hasEnded bool
		err := scan(&r.ID, &r.Document, &r.Dir, &sources, &props, &settings, &started, &ended, &r.Outcome, &r.ExitCode, &hasEnded)
		if err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(sources), &r.Sources); err != nil {
			return tx.s.unaccountable("read run", fmt.Sprintf("run %s: sources", r.ID), err)
		}
		if r.Props, err = jsonValue(props); err != nil {
			return tx.s.unaccountable("read run", fmt.Sprintf("run %s: props", r.ID), err)
		}
		if r.Settings, err = jsonValue(settings); err != nil {
			return tx.s.unaccountable("read run", fmt.Sprintf("run %s: settings", r.ID), err)
		}
		r.Started = fromMillis(started)
		if hasEnded {
			r.Ended = fromMillis(ended)
		}
		return each(r)
	})
}

// jsonText checks a JSON value on its way in; nil is stored as an empty text.
func jsonText(v json.RawMessage) (string, error) {
	if v == nil {
		return "", nil
	}
	if !json.Valid(v) {
		return "", fmt.Errorf("not a JSON value")
	}
	return string(v), nil
}

// jsonValue is the way back, as strict.
func jsonValue(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, nil
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("not a JSON value")
	}
	return json.RawMessage(text), nil
}

// Do-and-View shorthands for the calls that mostly stand alone.

// BeginRun is Tx.BeginRun in a transaction of its own.
func (s *Store) BeginRun(ctx context.Context, r Run) error {
	return s.Do(ctx, func(tx *Tx) error { return tx.BeginRun(r) })
}

// EndRun is Tx.EndRun in a transaction of its own.
func (s *Store) EndRun(ctx context.Context, id, outcome string, exitCode int) error {
	return s.Do(ctx, func(tx *Tx) error { return tx.EndRun(id, outcome, exitCode) })
}

// FindRun is Tx.Run in a view of its own.
func (s *Store) FindRun(ctx context.Context, ref string) (r Run, err error) {
	err = s.View(ctx, func(tx *Tx) error { r, err = tx.Run(ref); return err })
	return r, err
}
