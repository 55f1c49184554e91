package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/lang/resolve"
	"xmd/runtime/store"
)

func runsCommand() *command {
	return &command{
		name: "runs", args: "[prune]",
		usage: "list the runs, the last one first; prune deletes old ones",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "limit", Value: 20, Usage: "how many; 0 is all"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
			&cli.StringFlag{Name: "older-than", Usage: "prune: delete runs of which nothing was recorded for this long, as in 30d"},
			&cli.BoolFlag{Name: "dry-run", Usage: "prune: only say what would be deleted"},
			&cli.StringFlag{Name: "state-dir", Usage: "the state folder"},
		},
		run: runsMain,
	}
}

func runsMain(p *program, c *call) error {
	if err := oneFormat(c); err != nil {
		return err
	}
	verb := listRuns
	switch {
	case len(c.args) == 1 && c.args[0] == "prune":
		verb = pruneRuns
	case len(c.args) > 0:
		return &usageError{message: fmt.Sprintf("unknown: runs %s; known is prune, and xmd show RUN shows one", c.args[0])}
	case c.IsSet("older-than") || c.IsSet("dry-run"):
		return &usageError{message: "--older-than and --dry-run are for xmd runs prune"}
	}
	return p.withStore(c, func(ctx context.Context, s *store.Store) error { return verb(ctx, p, c, s) })
}

// withStore runs a command that needs nothing but the store.
func (p *program) withStore(c *call, fn func(ctx context.Context, s *store.Store) error) error {
	ctx, stop := p.signals(context.Background())
	defer stop()
	s, err := p.openStore(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	err = fn(ctx, s)
	if code := signalCode(ctx); code != 0 {
		return exitCode(code)
	}
	return storeProblem(err)
}

// runView is a run as lists show it.
type runView struct {
	Run      string `json:"run"`
	State    string `json:"state"` // done, failed, waiting, cancelled, running, interrupted
	ExitCode *int   `json:"exitCode,omitempty"`
	Document string `json:"document"`
	Dir      string `json:"dir"`
	Started  string `json:"started"`
	Ended    string `json:"ended,omitempty"`
	Millis   *int64 `json:"durationMs,omitempty"`
}

// The states of a run that has no end on record.
const (
	runRunning     = "running"
	runInterrupted = "interrupted"
)

// viewOfRun looks whether the run goes on, taking its lock from nobody.
func viewOfRun(s *store.Store, r store.Run, now time.Time) (runView, error) {
	v := runView{Run: r.ID, State: r.Outcome, Document: r.Document, Dir: r.Dir, Started: stamp(r.Started), Ended: stamp(r.Ended)}
	holder, err := s.Locked(store.LockRun, r.ID)
	ended := r.Ended
	switch {
	case err != nil:
		return v, err
	case holder != nil: // also when an earlier end is on record: it is being resumed
		v.State, v.Ended, ended = runRunning, "", now
	case r.Ended.IsZero():
		v.State = runInterrupted
		return v, nil
	default:
		v.ExitCode = &r.ExitCode
	}
	ms := max(0, ended.Sub(r.Started).Milliseconds())
	v.Millis = &ms
	return v, nil
}

func listRuns(ctx context.Context, p *program, c *call, s *store.Store) error {
	var runs []store.Run
	err := s.View(ctx, func(tx *store.Tx) (err error) {
		runs, err = tx.Runs(c.Int("limit"))
		return err
	})
	if err != nil {
		return err
	}
	views := []runView{}
	for _, r := range runs {
		v, err := viewOfRun(s, r, time.Now())
		if err != nil {
			return err
		}
		views = append(views, v)
	}
	if c.String("format") == "json" {
		return writeJSON(p, map[string]any{"v": 1, "runs": views})
	}
	for _, v := range views {
		if _, err := fmt.Fprintln(p.stdout, printable(fmt.Sprintf("%s  %-11s  %s  %8s  %s", v.Run, v.State, v.Started, v.duration(), v.Document))); err != nil {
			return err
		}
	}
	return nil
}

func (v runView) duration() string {
	if v.Millis == nil {
		return "-"
	}
	return shortDuration(time.Duration(*v.Millis) * time.Millisecond)
}

// shortDuration is a time for people: three digits are enough.
func shortDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

func pruneRuns(ctx context.Context, p *program, c *call, s *store.Store) error {
	age, err := pruneAge(c.String("older-than"))
	if err != nil {
		return err
	}
	dry := c.Bool("dry-run")
	done, err := s.Prune(ctx, time.Now().Add(-age), dry)
	if c.String("format") == "json" {
		if err != nil {
			return err
		}
		return writeJSON(p, map[string]any{
			"v": 1, "dryRun": dry, "runs": orNone(done.Runs), "records": done.Records, "freedBytes": done.Freed,
			"running": orNone(done.Going), "needed": orNone(done.Owners),
		})
	}
	verb := "deleted"
	if dry {
		verb = "would delete"
	}
	text := fmt.Sprintf("%s %s with %s", verb, counted(int64(len(done.Runs)), "run"), counted(done.Records, "record"))
	if !dry {
		text += "; freed " + byteCount(done.Freed)
	}
	if n := len(done.Going); n > 0 {
		text += fmt.Sprintf("\nkept %s that goes on", counted(int64(n), "run"))
	}
	for _, id := range done.Owners {
		text += fmt.Sprintf("\nkept %s: a session needs it for xmd sessions recover", id)
	}
	_, werr := fmt.Fprintln(p.stdout, text)
	return errors.Join(err, werr)
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func byteCount(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

var daysForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,5})d$`) })

// pruneAge reads --older-than: a duration as documents have it, or days.
func pruneAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, &usageError{message: "runs prune needs --older-than, as in --older-than 30d"}
	}
	if m := daysForm().FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	ms, err := resolve.Duration(text)
	if err != nil {
		return 0, &usageError{message: fmt.Sprintf("--older-than: %q is no age; write a whole number above zero with d, h, m, s or ms, as in 30d", text)}
	}
	return time.Duration(ms) * time.Millisecond, nil
}
