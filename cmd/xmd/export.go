package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/runtime/store"
)

func exportCommand() *command {
	return &command{
		name: "export", args: "RUN", usage: "write a run as JSON lines: the run itself, then every record of its journal",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
		},
		run: exportMain,
	}
}

// exportedRun is the first line of an export.
type exportedRun struct {
	V   int          `json:"v"`
	Run exportedHead `json:"run"`
}

type exportedHead struct {
	ID       string          `json:"id"`
	Document string          `json:"document"`
	Dir      string          `json:"dir"`
	Started  time.Time       `json:"started"`
	Ended    *time.Time      `json:"ended"` // null: no end is on record
	Outcome  string          `json:"outcome,omitempty"`
	ExitCode *int            `json:"exitCode,omitempty"`
	Props    json.RawMessage `json:"props,omitempty"`
	Settings json.RawMessage `json:"settings,omitempty"`
	Sources  []store.Source  `json:"sources"`
	Records  int64           `json:"records"` // how many lines follow
}

// exportedRecord is a record as it is stored.
type exportedRecord struct {
	Seq  int64           `json:"seq"`
	Step string          `json:"step"`
	Kind string          `json:"kind"`
	Time time.Time       `json:"time"`
	Data json.RawMessage `json:"data,omitempty"`
}

func exportMain(p *program, c *call) error {
	if len(c.args) != 1 {
		return &usageError{message: fmt.Sprintf("export takes one run, got %d; xmd runs lists them", len(c.args))}
	}
	return p.withStore(c, func(ctx context.Context, s *store.Store) error { return exportRun(ctx, p, s, c.args[0]) })
}

func exportRun(ctx context.Context, p *program, s *store.Store, ref string) error {
	head, err := exportHead(ctx, s, ref)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(p.stdout, 64<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	if err := lines.Encode(head); err != nil {
		return outputLost(err)
	}
	for r, err := range s.Records(ctx, head.Run.ID, 0) {
		if err != nil {
			return err
		}
		if r.Seq > head.Run.Records {
			break // the run goes on; what came since is not counted in the first line
		}
		if err := lines.Encode(exportedRecord{r.Seq, r.Step, r.Kind, r.Time, r.Data}); err != nil {
			return outputLost(err)
		}
	}
	if err := out.Flush(); err != nil {
		return outputLost(err)
	}
	return nil
}

// exportHead is the run, and how many records it has at this moment.
func exportHead(ctx context.Context, s *store.Store, ref string) (exportedRun, error) {
	head := exportedRun{V: 1}
	err := s.View(ctx, func(tx *store.Tx) error {
		r, err := tx.Run(ref)
		if err != nil {
			return err
		}
		head.Run = exportedHead{
			ID: r.ID, Document: r.Document, Dir: r.Dir, Started: r.Started, Outcome: r.Outcome, Props: r.Props, Settings: r.Settings,
			Sources: orNone(r.Sources),
		}
		if !r.Ended.IsZero() {
			head.Run.Ended, head.Run.ExitCode = &r.Ended, &r.ExitCode
		}
		head.Run.Records, err = tx.Append(r.ID) // of none: the last one's number
		return err
	})
	return head, err
}
