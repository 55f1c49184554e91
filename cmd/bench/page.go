package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// report is all that was measured.
type report struct {
	when        time.Time
	machine     []string
	repetitions int
	results     []result
	loads       []loadResult
}

// loadResult is what a load came to.
type loadResult struct {
	title string
	lines []measured
	err   error
}

const (
	intro = `# Benchmarks

Made by ` + "`make bench`" + `, up to the line that says so. Each case is run in turn by the floor (` + "`cmd/bench/floor`" + `, a bare client on
encoding/json), by acpx where it is installed, and by xmd, with the same agent (` + "`cmd/bench/agent`" + `). xmd is the released build with the
defaults that everybody has, its agent declared in an ` + "`xmd.toml`" + `, its store on disk, guardian and journal included; outputs go to files
and are compared byte by byte with what the agent said. A cell has the median, the range, and the peak memory: that of the largest single
process, agent included, taken by a small process of its own that starts the program. A ratio is that of the medians, and behind it that of
the least processor time. Times are of this machine on that day; the ratios are what counts.
`
	handMark = "<!-- Up to here the page is made by `make bench`. What follows is written by hand and kept. -->"
	handText = `
## Gaps

Where a target is missed, a profile says why.
`
)

// text is the made part of the page.
func (r report) text() string {
	var b strings.Builder
	b.WriteString(intro + "\n")
	for _, line := range r.machine {
		b.WriteString("* " + line + "\n")
	}
	fmt.Fprintf(&b, "* **Date**: %s, medians of %d\n", r.when.UTC().Format("2006-01-02"), r.repetitions)
	b.WriteString("\n## Against the floor\n\n| case | floor | acpx | xmd | ratio | target | reached |\n|---|---|---|---|---|---|---|\n")
	for _, result := range r.results {
		b.WriteString(row(result))
	}
	if len(r.loads) > 0 {
		b.WriteString("\n## Load\n\nEach once. One that is not marked failed gave the whole output in order and exit code 0, left no process behind, and `xmd replay` gave the same bytes.\n\n| load | what | time | peak |\n|---|---|---|---|\n")
	}
	for _, l := range r.loads {
		b.WriteString(l.rows())
	}
	b.WriteString(r.gates())
	return b.String()
}

// gates shows what the short form would fail on, beside what was measured.
func (r report) gates() string {
	var b strings.Builder
	b.WriteString("\n## The short form\n\n`make bench-short` takes less of everything, looks for losses all the same, and fails on these, of the least that it measures. It runs a case\nthat misses once more before it says so. Here they were, at full size:\n\n| case | bound | here |\n|---|---|---|\n")
	for _, result := range r.results {
		for _, t := range of(result.id, gates) {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", result.id, t, t.value(t.best(result)))
		}
	}
	return b.String()
}

// row is the line of a case.
func row(r result) string {
	if r.err != nil {
		return fmt.Sprintf("| %s | – | – | %s | – | – | **failed** |\n", r.title, escaped(r.err.Error()))
	}
	var bounds, verdicts []string
	for _, t := range of(r.id, targets) {
		bounds = append(bounds, t.String())
		verdicts = append(verdicts, verdict(t, r))
	}
	if len(bounds) == 0 {
		bounds, verdicts = []string{"–"}, []string{"–"}
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |\n", r.title, cell(r.floor), cell(r.acpx), cell(r.xmd), ratios(r), strings.Join(bounds, "; "), strings.Join(verdicts, "; "))
}

// ratios are what xmd takes as a multiple of the floor, by the clock and of processor time.
func ratios(r result) string {
	byClock := times(median(r.xmd), median(r.floor))
	if byClock == 0 {
		return "–"
	}
	text := fmt.Sprintf("%.2f", byClock)
	if work := times(least(r.xmd, processors), least(r.floor, processors)); work > 0 {
		text += fmt.Sprintf(" (%.2f)", work)
	}
	return text
}

// verdict says yes, or what it is instead.
func verdict(t target, r result) string {
	figure := t.figure(r)
	if t.reached(r, figure) {
		return "yes"
	}
	return "**no**: " + t.value(figure)
}

func (l loadResult) rows() string {
	if l.err != nil {
		return fmt.Sprintf("| %s | **failed**: %s | – | – |\n", l.title, escaped(l.err.Error()))
	}
	var b strings.Builder
	title := l.title
	for _, line := range l.lines {
		memory := "–"
		if line.peak > 0 {
			memory = fmt.Sprintf("%.1f MiB", float64(line.peak)/mib)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", title, line.what, shown(line.took), memory)
		title = ""
	}
	return b.String()
}

// escaped is a text that can stand in a cell.
func escaped(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// write puts the page where it belongs and keeps what was written by hand.
func (r report) write(path string) error {
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	hand := handText
	if _, kept, ok := strings.Cut(string(old), handMark+"\n"); ok {
		hand = kept
	} else if len(old) > 0 {
		return fmt.Errorf("%s: the line %q is missing, so what was written by hand cannot be told apart", path, handMark)
	}
	part := path + ".part"
	if err := os.WriteFile(part, []byte(r.text()+"\n"+handMark+"\n"+hand), 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}

// faults are the cases and loads that failed: something was lost, or did not end as it should.
func (r report) faults() error {
	var all []error
	for _, result := range r.results {
		if result.err != nil {
			all = append(all, fmt.Errorf("%s: %w", result.title, result.err))
		}
	}
	for _, l := range r.loads {
		if l.err != nil {
			all = append(all, fmt.Errorf("%s: %w", l.title, l.err))
		}
	}
	return errors.Join(all...)
}
