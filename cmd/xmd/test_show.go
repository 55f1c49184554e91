package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"xmd/cmd/xmd/report"
	"xmd/lang/diag"
	"xmd/runtime"
)

// testWriters make a suite write its results in a format.
var testWriters = map[string]func(*suite){"text": textTests, "json": jsonTests, "ndjson": ndjsonTests}

// mostStderrLines is how much of the stderr of a document that ended badly a failure shows.
const mostStderrLines = 10

// textTests writes a line for each test as it ends, then what failed, then a summary.
func textTests(s *suite) {
	var failed []testResult
	shown := 0
	s.show = func(r testResult) error {
		shown++
		if r.Outcome == "failed" {
			failed = append(failed, r)
		}
		word := map[string]string{"passed": "ok", "failed": "FAIL", "cancelled": "-"}[r.Outcome]
		_, err := fmt.Fprintf(s.p.stdout, "%-5s %s: %s%s\n", word, r.File, printable(r.Name), r.time())
		return err
	}
	s.end = func(t testTotal) error {
		var b strings.Builder
		for _, r := range failed {
			r.writeFailures(&b)
		}
		switch {
		case t.refused != nil:
			return nil
		case shown == 0:
			b.WriteString("no tests\n")
		default:
			b.WriteString("\n" + t.summary() + "\n")
		}
		_, err := io.WriteString(s.p.stdout, b.String())
		return err
	}
}

func (r testResult) time() string {
	if r.Outcome == "cancelled" {
		return " (did not end)"
	}
	return fmt.Sprintf(" (%.2fs)", r.Took.Seconds())
}

func (r testResult) writeFailures(b *strings.Builder) {
	fmt.Fprintf(b, "\nFAIL  %s: %s\n", r.Position, printable(r.Name))
	for _, f := range r.Failures {
		where := ""
		if f.Position != "" {
			where = f.Position + ": "
		}
		for line := range strings.Lines(fmt.Sprintf("%s%s [%s]\n", where, f.first(), f.Kind) + f.rest()) {
			b.WriteString("  " + printable(line))
		}
	}
	b.WriteString(r.lastBadRun())
}

// first is the first line of what a failure says.
func (f testFailure) first() string {
	line, _, _ := strings.Cut(f.Message, "\n")
	return line
}

// rest are the other lines.
func (f testFailure) rest() string {
	_, rest, more := strings.Cut(f.Message, "\n")
	if !more {
		return ""
	}
	return strings.TrimSuffix(rest, "\n") + "\n"
}

// lastBadRun shows the end of what the last document said that ended badly; "": none did.
func (r testResult) lastBadRun() string {
	for i := len(r.Runs) - 1; i >= 0; i-- {
		ran := r.Runs[i]
		if ran.ExitCode == 0 {
			continue
		}
		lines := strings.Split(strings.TrimRight(ran.Stderr, "\n"), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "go on with: ") }) // nothing of it is left
		if n := len(lines) - mostStderrLines; n > 0 {
			lines = append([]string{"…"}, lines[n:]...)
		}
		return fmt.Sprintf("  the run of %s ended with code %d:\n    %s\n", ran.Src, ran.ExitCode, printable(strings.Join(lines, "\n    ")))
	}
	return ""
}

// summary counts.
func (t testTotal) summary() string {
	parts := []string{fmt.Sprintf("%d passed", t.passed)}
	if t.failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", t.failed))
	}
	if t.cancelled > 0 {
		parts = append(parts, fmt.Sprintf("%d did not end", t.cancelled))
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(" (%.2fs)", t.took.Seconds())
}

// testJSON is a test in the machine formats.
type testJSON struct {
	V            int           `json:"v"`
	Type         string        `json:"type,omitempty"` // ndjson: "test"
	File         string        `json:"file"`
	Name         string        `json:"name"`
	Position     string        `json:"position"`
	Outcome      string        `json:"outcome"` // passed, failed, cancelled
	Milliseconds int64         `json:"milliseconds"`
	Errors       []testFailure `json:"errors,omitempty"`
	Runs         []testRan     `json:"runs,omitempty"`
}

// endJSON is the end in the machine formats.
type endJSON struct {
	V            int           `json:"v"`
	Type         string        `json:"type,omitempty"` // ndjson: "end"
	Outcome      string        `json:"outcome"`        // passed, failed, cancelled, invalid
	ExitCode     int           `json:"exitCode"`
	Passed       int           `json:"passed"`
	Failed       int           `json:"failed"`
	Cancelled    int           `json:"cancelled"`
	Milliseconds int64         `json:"milliseconds"`
	Errors       []testFailure `json:"errors,omitempty"` // why nothing ran
	Tests        []testJSON    `json:"tests,omitempty"`  // json
}

func (r testResult) json(kind string) testJSON {
	return testJSON{V: 1, Type: kind, File: r.File, Name: r.Name, Position: r.Position, Outcome: r.Outcome, Milliseconds: r.Took.Milliseconds(), Errors: r.Failures, Runs: r.Runs}
}

func (t testTotal) json(kind string) endJSON {
	end := endJSON{V: 1, Type: kind, Outcome: "passed", ExitCode: t.code, Passed: t.passed, Failed: t.failed, Cancelled: t.cancelled, Milliseconds: t.took.Milliseconds()}
	switch {
	case t.refused != nil:
		end.Outcome, end.Errors = "invalid", refusals(t.refused)
	case t.cancelled > 0:
		end.Outcome = "cancelled"
	case t.failed > 0:
		end.Outcome = "failed"
	}
	return end
}

// refusals says in the machine form why nothing ran.
func refusals(err error) []testFailure {
	var docs invalidDocuments
	if !errors.As(err, &docs) {
		return []testFailure{{Kind: string(runtime.KindOf(err)), Message: err.Error()}}
	}
	var list []testFailure
	for _, doc := range docs {
		for _, d := range doc.list {
			src := doc.src
			if d.Source != nil {
				src = d.Source
			}
			if d.Severity == diag.Error {
				list = append(list, testFailure{string(runtime.KindInvalid), d.Summary, src.At(d.Span.Start)})
			}
		}
	}
	return list
}

// jsonTests writes one object at the end.
func jsonTests(s *suite) {
	tests := []testJSON{}
	s.show = func(r testResult) error {
		tests = append(tests, r.json(""))
		return nil
	}
	s.end = func(t testTotal) error {
		end := t.json("")
		end.Tests = tests
		return writeLine(s.p.stdout, end)
	}
}

// ndjsonTests writes a line for each test as it ends, and one for the end.
func ndjsonTests(s *suite) {
	s.show = func(r testResult) error { return writeLine(s.p.stdout, r.json("test")) }
	s.end = func(t testTotal) error { return writeLine(s.p.stdout, t.json("end")) }
}

func writeLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// junit is a test in a JUnit report.
func (r testResult) junit() report.Test {
	t := report.Test{Document: r.File, Name: r.Name, Position: r.Position, Took: r.Took.Round(time.Millisecond), Skipped: r.Outcome == "cancelled"}
	var said []string
	for _, f := range r.Failures {
		t.Kind = first(t.Kind, f.Kind)
		said = append(said, strings.TrimPrefix(f.Position+": ", ": ")+f.Message)
	}
	t.Message = strings.Join(said, "\n")
	for _, ran := range r.Runs {
		if r.Outcome == "failed" && ran.ExitCode != 0 {
			t.Stderr += ran.Stderr
		}
	}
	return t
}
