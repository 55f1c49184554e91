package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode"

	"xmd/runtime/event"
)

// GitHub writes what the log of a GitHub Actions job understands: a group for each step, an annotation for each warning and error, and the
// step's summary. The runner obeys every line that looks like one of its commands, whoever wrote it: so commands are switched off from the
// first event on, and on again only for the lines of this type's own.
type GitHub struct {
	w     *Lines
	token string // that switches commands on again; nobody else may know it

	steps   *steps
	group   string // the step whose group is open, since groups do not nest; "": none
	doc     string
	started time.Time
	rows    []row
	more    int // rows that were left out
	used    usage
	warned  []string
	end     *event.End
	took    time.Duration
}

// row is one step of the summary.
type row struct {
	Place, Kind, Who, Outcome string
	Took                      time.Duration
}

const (
	// mostRows bounds the steps that the summary lists, mostWarnings the warnings.
	mostRows     = 200
	mostWarnings = 50
)

// NewGitHub makes the sink of one run. token is a random text of at least 128 bits.
func NewGitHub(w *Lines, token string) *GitHub {
	g := &GitHub{w: w, token: token}
	g.steps = newSteps(false, g.step)
	return g
}

// Event takes one event of the run.
func (g *GitHub) Event(e *event.Event) {
	switch body := e.Body.(type) {
	case *event.Run:
		g.doc, g.started = body.Document, e.Time
		g.w.write("::stop-commands::" + g.token + "\n")
	case *event.Warn:
		g.commands(command("warning", e.At.Position, body.Text))
		if len(g.warned) < mostWarnings {
			g.warned = append(g.warned, body.Text)
		}
	case *event.Step:
		if e.Type == event.StepStarted && !inner[body.Kind] && g.group == "" {
			g.commands("::group::" + data(strings.TrimSpace(e.At.Position+" "+body.Kind)) + "\n")
			g.group = e.At.Step
		}
	case *event.Ended:
		g.count(body)
	case *event.End:
		g.steps.event(e)
		g.ended(e, body)
		return
	}
	g.steps.event(e)
}

// commands writes lines that the runner obeys, in one piece, so that as little as possible of anybody else's comes between.
func (g *GitHub) commands(lines string) {
	g.w.write("::" + g.token + "::\n" + lines + "::stop-commands::" + g.token + "\n")
}

func (g *GitHub) step(st *step) {
	if g.group == st.ID {
		g.group = ""
		g.commands("::endgroup::\n")
	}
	if len(g.rows) >= mostRows {
		g.more++
		return
	}
	outcome := st.Outcome
	if outcome == "" {
		outcome = "not ended"
	}
	if st.Replayed {
		outcome += " (on record)"
	}
	g.rows = append(g.rows, row{st.Position, st.Kind, strings.TrimSpace(who(st)), outcome, st.End.Sub(st.Start)})
}

// count adds up what agents reported. A figure that one of them did not report is not counted as zero: it is left as it is.
func (g *GitHub) count(body *event.Ended) {
	t := &turn{}
	(&steps{}).answered(t, body)
	for _, pair := range []struct{ sum, more **int64 }{{&g.used.Input, &t.Usage.Input}, {&g.used.Output, &t.Usage.Output}} {
		if more := *pair.more; more != nil {
			sum := *more
			if *pair.sum != nil {
				sum += **pair.sum
			}
			*pair.sum = &sum
		}
	}
}

func (g *GitHub) ended(e *event.Event, end *event.End) {
	g.end, g.took = end, e.Time.Sub(g.started)
	if g.started.IsZero() {
		g.took = 0
		g.w.write("::stop-commands::" + g.token + "\n")
	}
	var lines strings.Builder
	if g.group != "" {
		lines.WriteString("::endgroup::\n")
	}
	for _, err := range end.Errors {
		lines.WriteString(command("error", err.Position, fmt.Sprintf("%s [%s]", err.Message, err.Kind)))
	}
	if lines.Len() > 0 {
		g.commands(lines.String())
	}
}

// Close switches the runner's commands on again for what runs after xmd.
func (g *GitHub) Close() { g.w.write("::" + g.token + "::\n") }

// command is one workflow command about a place in a document.
func command(name, position, message string) string {
	file, line, col := place(position)
	var props []string
	for _, p := range []struct{ name, value string }{{"file", file}, {"line", line}, {"col", col}} {
		if p.value != "" && file != "" {
			props = append(props, p.name+"="+prop(p.value))
		}
	}
	if len(props) > 0 {
		name += " " + strings.Join(props, ",")
	}
	return "::" + name + "::" + data(message) + "\n"
}

// data escapes the message of a command, prop one of its properties, so that neither can end it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(strings.Map(harmless, s))
}

// harmless drops what would be obeyed by whoever shows the log at a terminal.
func harmless(r rune) rune {
	if unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
		return -1
	}
	return r
}

func prop(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(strings.Map(harmless, s))
}

// Summary is the step's summary in Markdown; after run.ended only.
func (g *GitHub) Summary() string {
	if g.end == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### xmd: %s: %s\n\n", cell(g.doc), g.end.Outcome)
	if len(g.rows) > 0 {
		b.WriteString("| step | kind | agent | outcome | time |\n|---|---|---|---|---:|\n")
		for _, r := range g.rows {
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", cell(r.Place), cell(r.Kind), cell(r.Who), cell(r.Outcome), seconds(r.Took)+" s")
		}
		if g.more > 0 {
			fmt.Fprintf(&b, "\nand %d more steps\n", g.more)
		}
		b.WriteString("\n")
	}
	for _, err := range g.end.Errors {
		fmt.Fprintf(&b, "%s\n\n", fenced(fmt.Sprintf("%s [%s]", err.Message, err.Kind)))
	}
	for _, w := range g.warned {
		fmt.Fprintf(&b, "- %s\n", cell(w))
	}
	if g.used.Input != nil || g.used.Output != nil {
		fmt.Fprintf(&b, "\nReported by the agents: %s tokens in, %s out.\n", figure(g.used.Input), figure(g.used.Output))
	}
	if g.end.Resume != "" {
		fmt.Fprintf(&b, "\nGo on with:\n\n%s\n", fenced(g.end.Resume))
	}
	return b.String()
}

func figure(n *int64) string {
	if n == nil {
		return "an unknown number of"
	}
	return fmt.Sprint(*n)
}

// cell makes a text harmless in a line of Markdown.
func cell(s string) string {
	s = strings.Join(strings.Fields(text(s)), " ")
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "[", "&#91;", "]", "&#93;", "*", "&#42;", "_", "&#95;", "@", "&#64;", "#", "&#35;", "\\", "&#92;", "!", "&#33;").Replace(s)
}

// fenced is a text in a fence that it cannot end.
func fenced(s string) string {
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text(s), "\n") + "\n" + fence
}

// Lines is a writer that knows whether it stands at the beginning of a line, for those who share stderr: a command counts only there.
// Safe for concurrent use.
type Lines struct {
	mu   sync.Mutex
	w    io.Writer
	open bool
}

// NewLines makes a writer on w.
func NewLines(w io.Writer) *Lines { return &Lines{w: w} }

// Write passes bytes on.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(p) > 0 {
		l.open = !bytes.HasSuffix(p, []byte("\n"))
	}
	return l.w.Write(p)
}

// write writes whole lines from the beginning of one, in one piece.
func (l *Lines) write(lines string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open {
		lines = "\n" + lines
	}
	l.open = false
	_, _ = io.WriteString(l.w, lines) // whoever reads the log has gone
}
