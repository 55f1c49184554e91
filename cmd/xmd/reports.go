package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"xmd/cmd/xmd/report"
	"xmd/runtime"
	"xmd/runtime/event"
)

// reports are what a run writes beside its output: files, and what a GitHub Actions job reads. A nil one writes nothing.
type reports struct {
	files   []reportFile
	github  *report.GitHub
	lines   *report.Lines // stderr, where GitHub reads it
	summary string        // the file of the step's summary; "": none
}

// reportFile is one report with the place it goes to.
type reportFile struct {
	path string
	made reportMaker
}

// reportMaker is a sink that can be written when the run has ended.
type reportMaker interface {
	event.Sink
	io.WriterTo
}

// reportFlags are those of every command that runs or tells a document.
func reportFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "report", Usage: "write a report: junit=FILE or html=FILE; may be repeated"},
		&cli.BoolFlag{Name: "github", Usage: "annotations and groups for GitHub Actions on stderr, and the step summary"},
	}
}

// openReports makes what the flags ask for. That a file can be written is found out before anything runs.
func (p *program) openReports(c *call) error {
	r := &reports{}
	for _, given := range c.StringSlice("report") {
		kind, path, ok := strings.Cut(given, "=")
		if !ok || path == "" || kind != "junit" && kind != "html" {
			return &usageError{message: fmt.Sprintf("--report is junit=FILE or html=FILE, not %q", given)}
		}
		if err := writable(path); err != nil {
			return &usageError{message: fmt.Sprintf("--report %s: %v", given, err)}
		}
		var made reportMaker = report.NewJUnit()
		if kind == "html" {
			page, err := report.NewHTML()
			if err != nil {
				return runtime.Errorf(runtime.KindUsage, "--report %s: %w", given, plainError(err))
			}
			made = page
		}
		r.files = append(r.files, reportFile{path, made})
	}
	if c.Bool("github") {
		var token [16]byte
		_, _ = rand.Read(token[:]) // it never fails
		r.lines = report.NewLines(p.through(p.stderr))
		r.github = report.NewGitHub(r.lines, hex.EncodeToString(token[:]))
		r.summary = p.env.get("GITHUB_STEP_SUMMARY")
	}
	p.reports = r
	return nil
}

// writable says whether a report can be put there.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errors.New("it is a folder")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".xmd-report-*")
	if err != nil {
		return plainError(err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// sinks are what reads the event stream.
func (r *reports) sinks() []event.Sink {
	if r == nil {
		return nil
	}
	var list []event.Sink
	for _, f := range r.files {
		list = append(list, f.made)
	}
	if r.github != nil {
		list = append(list, r.github)
	}
	return list
}

// sinks are what reads the event stream beside what is shown.
func (p *program) sinks() []event.Sink {
	list := p.reports.sinks()
	if p.observe != nil {
		list = append(list, p.observe)
	}
	return list
}

// write puts every report in its place, after run.ended. One that fails hides no other.
func (r *reports) write() error {
	if r == nil {
		return nil
	}
	var all error
	for _, f := range r.files {
		if err := f.write(); err != nil {
			all = errors.Join(all, runtime.Errorf(runtime.KindFailed, "the report %s could not be written: %w", f.path, plainError(err)))
		}
	}
	if r.github != nil {
		r.github.Close()
		if err := r.summarize(); err != nil {
			all = errors.Join(all, runtime.Errorf(runtime.KindFailed, "the step summary could not be written: %w", plainError(err)))
		}
	}
	return all
}

// write puts a report in its place in one step: a reader sees the whole of it or what was there before.
func (f reportFile) write() error {
	if c, ok := f.made.(io.Closer); ok {
		defer func() { _ = c.Close() }() // what it kept is of no more use
	}
	return putInPlace(f.path, f.made)
}

// putInPlace writes a file in one step.
func putInPlace(path string, made io.WriterTo) error {
	// Its mode is what the person's umask makes of a new file, as of any other that a program is told to write.
	tmp, err := os.OpenFile(filepath.Join(filepath.Dir(path), ".xmd-report-"+rand.Text()), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = made.WriteTo(tmp)
	err = errors.Join(err, tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(tmp.Name()) // the first error counts
	}
	return err
}

// summarize adds the run to the summary of the job's step, which others may have begun.
func (r *reports) summarize() error {
	if r.summary == "" {
		return nil
	}
	f, err := os.OpenFile(r.summary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, r.github.Summary())
	return errors.Join(err, f.Close())
}

// errorsTo is where people read what is not the result.
func (p *program) errorsTo() io.Writer {
	if p.reports != nil && p.reports.lines != nil {
		return p.reports.lines
	}
	return p.through(p.stderr)
}

// report writes the reports of a run that has ended with code, and returns the code that is left.
func (p *program) report(code int) int {
	err := p.reports.write()
	p.reports = nil
	if err == nil {
		return code
	}
	var joined interface{ Unwrap() []error }
	list := []error{err}
	if errors.As(err, &joined) {
		list = joined.Unwrap()
	}
	for _, one := range list {
		_, _ = fmt.Fprintln(p.through(p.stderr), printable(fmt.Sprintf("%v [%s]", one, runtime.KindFailed)))
	}
	return max(code, 1)
}
