package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"xmd/agents/door"
	"xmd/lang/resolve"
	"xmd/runtime"
	"xmd/runtime/event"
	"xmd/runtime/journal"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// closeLimit bounds how long the end of a run waits for its agents to go, TERM and KILL included.
const closeLimit = 30 * time.Second

// live is one run while it goes on.
type live struct {
	id      string
	verb    string
	ctx     context.Context
	cancel  context.CancelCauseFunc
	store   *store.Store
	lock    *store.Lock
	journal *journal.Journal
	stream  *event.Stream
	output  *event.Output
	styled  func() error // writes what the styling of output holds back
	digest  *event.DigestSink
	runner  *runtime.Runner
	sinks   []*muted   // of a REPL: what shows the events
	door    *door.Door // of the workflow's tools
	watch   *observer
	trace   *os.File
	secrets *secret.Set
	thrown  error              // what ended the document
	faults  string             // the folder for reports of faults
	faulty  bool               // xmd met a fault of its own
	report  func(code int) int // writes what is to be written when the run has ended, and returns the exit code
}

// finish closes the agents, records the end, shows it and returns the exit code as an error.
func (l *live) finish() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), closeLimit)
	defer cancel()
	closeErr := l.close(ctx)
	l.stream.EndText()
	_ = l.flush() // an output that is lost belongs to the end that is recorded; l.ctx knows of it
	end := l.end()
	if closeErr != nil && len(end.Errors) == 0 {
		l.stream.Emit(event.Warning, event.At{}, &event.Warn{Code: "teardown", Text: fmt.Sprintf("closing the agents: %v", closeErr)})
	}
	err := l.stream.Commit(ctx, event.RunEnded, event.At{}, end, func(tx *store.Tx) error {
		return tx.EndRun(l.id, end.Outcome, end.ExitCode)
	})
	if err != nil { // the end is owed to whoever reads, durable or not
		end.Errors = append(end.Errors, &event.Error{Code: 1, Kind: string(runtime.KindStore), Message: fmt.Sprintf("the end of the run could not be recorded: %v", err)})
		if end.ExitCode == 0 {
			end.ExitCode, end.Outcome = 1, "failed"
		}
		l.stream.Unrecorded(event.RunEnded, event.At{}, end)
	}
	if errors.Join(l.output.Close(), l.styled()) != nil && end.ExitCode == 0 {
		end.ExitCode = exitOutputClosed
	}
	l.release()
	return codeError(l.report(end.ExitCode))
}

// flush waits until the document's text so far is written.
func (l *live) flush() error { return errors.Join(l.output.Flush(), l.styled()) }

// end says how the run ended: a signal wins, else the first failure in document order decides.
func (l *live) end() *event.End {
	end := &event.End{Outcome: "done", Stopped: l.runner.StoppedAt(), Output: l.digest.Sum()}
	failures := l.runner.Failures()
	var fault *runtime.Error
	if errors.As(l.thrown, &fault) && fault.Kind == runtime.KindInternal {
		failures = append(failures, fault)
	}
	var lost *runtime.Error
	if len(failures) == 0 && errors.As(context.Cause(l.ctx), &lost) && lost.Kind == runtime.KindFailed {
		failures = append(failures, lost) // everything ran, and the last of it could not be written
	}
	for _, e := range failures {
		end.Errors = append(end.Errors, runtime.EventError(e))
	}
	if v, ok := l.runner.Value(); ok {
		end.Value = v
	}
	if end.ExitCode = runtime.ExitCode(failures); end.ExitCode != 0 {
		end.Outcome = "failed"
	}
	if end.ExitCode == runtime.KindWaiting.ExitCode() {
		end.Outcome = "waiting"
	}
	if code := signalCode(l.ctx); code != 0 {
		end.Outcome, end.ExitCode = "cancelled", code
	}
	if end.ExitCode != 0 && l.verb != "repl" {
		end.Resume = l.goesOn(failures)
	}
	return end
}

// goesOn is the command by which the run goes on. Failures that the document went on after stay what they are unless they are retried.
func (l *live) goesOn(failures []*runtime.Error) string {
	if l.thrown == nil && len(failures) > 0 && failures[0].Step != "" && signalCode(l.ctx) == 0 {
		return fmt.Sprintf("xmd resume %s --retry %s", l.id, journal.StepOf(failures[0].Step))
	}
	return "xmd resume " + l.id
}

// release gives up everything that is open. Idempotent.
func (l *live) release() {
	l.cancel(nil)
	if l.watch != nil {
		l.watch.Close()
	}
	if l.door != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		_ = l.door.Close(ctx) // it is closed already, but where the run did not begin
		cancel()
	}
	if l.journal != nil {
		_ = l.journal.Close()
	}
	if l.output != nil {
		_ = l.output.Close()
	}
	if l.lock != nil {
		_ = l.lock.Close()
	}
	if l.store != nil {
		_ = l.store.Close()
	}
	if l.trace != nil {
		_ = l.trace.Close()
	}
}

// traceMu keeps frames of several agents apart in one file.
var traceMu sync.Mutex

func (l *live) traceTo(path string) error {
	if path == "" {
		return nil
	}
	f, err := openTrace(path)
	if err != nil {
		return runtime.Errorf(runtime.KindUsage, "--trace-acp %s: %w", path, plainError(err))
	}
	l.trace = f
	return nil
}

// openTrace begins a file with everything that is said, so nobody else may have it open for reading or get at it: somebody else's file in
// its place is refused before anything of it is lost. What is no plain file (/dev/stderr) is taken as it is.
func openTrace(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
	case !store.Owned(info):
		err = errors.New("it belongs to another user")
	default:
		err = errors.Join(f.Chmod(0o600), f.Truncate(0))
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, err
	}
	return f, nil
}

func (l *live) frame(direction string, frame []byte) {
	traceMu.Lock()
	defer traceMu.Unlock()
	shown, err := l.secrets.MaskJSON(frame)
	if err != nil { // what is no JSON is traced as well
		shown = []byte(l.secrets.Mask(string(frame)))
	}
	_, _ = fmt.Fprintf(l.trace, "%s %s\n", direction, shown)
}

// waitOf is the duration of a flag that durations already checked; 0 when it was not given.
func waitOf(c *call, flag string) time.Duration { return durationOf(c.String(flag)) }

// durations checks the flags that hold one: a whole number and a unit, as in documents.
func durations(c *call, flags ...string) error {
	for _, flag := range flags {
		if text := c.String(flag); text != "" {
			if _, err := resolve.Duration(text); err != nil {
				return &usageError{message: fmt.Sprintf("--%s: %v", flag, err)}
			}
		}
	}
	return nil
}

// policyOf is the policy of the flag that was given; "" for none.
func policyOf(c *call) runtime.Policy {
	for flag, policy := range policies {
		if c.Bool(flag) {
			return policy
		}
	}
	return ""
}

var policies = map[string]runtime.Policy{
	"approve-all": runtime.PolicyAllowAll, "approve-reads": runtime.PolicyApproveReads,
	"ask": runtime.PolicyAsk, "deny-all": runtime.PolicyDenyAll,
}

// onePolicy refuses contradicting permission flags.
func onePolicy(c *call) error {
	given := 0
	for flag := range policies {
		if c.Bool(flag) {
			given++
		}
	}
	if given > 1 {
		return &usageError{message: "--approve-all, --approve-reads, --ask and --deny-all exclude each other"}
	}
	return nil
}

// outputLost is the cause of a context that ended because stdout cannot be written: its reader has gone, or, as on a full disk, it failed.
func outputLost(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return outputClosed{}
	}
	return runtime.Errorf(runtime.KindFailed, "stdout cannot be written: %w", plainError(err))
}

// outputClosed is the cause of a context that ended because the reader of stdout has gone.
type outputClosed struct{}

func (outputClosed) Error() string { return "stdout was closed" }

// Is makes the cause match context.Canceled.
func (outputClosed) Is(target error) bool { return target == context.Canceled }
