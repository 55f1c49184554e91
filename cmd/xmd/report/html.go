package report

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"xmd/runtime/event"
)

//go:embed page.html
var pageText string

// page is made when the first report is.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{
		"clock": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
		"lines": lines,
	}).Parse(pageText))
})

// HTML makes one self-contained page of a run, readable without scripts, of which it has none. What it tells of a step that has ended is
// in a temporary file: its memory does not grow with what agents write. Not safe for concurrent use beside the event stream.
type HTML struct {
	steps  *steps
	spool  *os.File
	body   *bufio.Writer
	err    error
	marks  []mark
	head   head
	output outputText
}

// head is what stands at the top of the page.
type head struct {
	Document, Run, Dir string
	Started, Ended     time.Time
	Outcome            string
	ExitCode           int
	Errors             []*event.Error
	Warnings           []string
	Resume             string
	Lanes              []lane
	Output             string
	Cut                bool
}

// mark is a step of the timeline.
type mark struct {
	Number            int
	Lane, Title       string
	Outcome           string
	Start, End        time.Time
	Left, Width       string // percent
	Place, Kind, Took string
}

// lane is one agent's session, or what needs none.
type lane struct {
	Name  string
	Marks []mark
}

// mostOutput bounds how much of the document's text the page shows.
const mostOutput = 1 << 20

type outputText struct {
	b   strings.Builder
	cut bool
}

// NewHTML makes the report of one run.
func NewHTML() (*HTML, error) {
	f, err := os.CreateTemp("", "xmd-report-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // where a file that is open cannot be removed, Close does it
	h := &HTML{spool: f, body: bufio.NewWriterSize(f, 64<<10)}
	h.steps = newSteps(true, h.step)
	return h, nil
}

// Event takes one event of the run.
func (h *HTML) Event(e *event.Event) {
	switch body := e.Body.(type) {
	case *event.Run:
		h.head.Document, h.head.Run, h.head.Dir, h.head.Started = body.Document, e.Run, body.Dir, e.Time
	case *event.Warn:
		if len(h.head.Warnings) < mostWarnings {
			h.head.Warnings = append(h.head.Warnings, body.Text)
		}
	case *event.Delta:
		if e.Type == event.Text {
			h.output.add(body.Text)
		}
	case *event.End:
		h.steps.event(e)
		h.ended(e, body)
		return
	}
	h.steps.event(e)
}

func (o *outputText) add(s string) {
	if o.b.Len()+len(s) > mostOutput {
		o.cut = true
		return
	}
	o.b.WriteString(s)
}

// step writes what is told of one step and keeps only its place in time.
func (h *HTML) step(st *step) {
	if h.err == nil {
		h.err = page().ExecuteTemplate(h.body, "step", st)
	}
	name := "without an agent"
	if st.Agent != "" {
		name = st.Agent
		if st.Session != "" {
			name += " · " + st.Session
		}
	}
	outcome := st.Outcome
	if outcome == "" {
		outcome = "not ended"
	}
	took := st.End.Sub(st.Start)
	h.marks = append(h.marks, mark{
		Number: st.Number, Lane: name, Outcome: outcome, Start: st.Start, End: st.End, Place: st.Position, Kind: st.Kind, Took: seconds(took) + " s",
		Title: fmt.Sprintf("%s %s: %s, %s s", st.Position, st.Kind, outcome, seconds(took)),
	})
}

func (h *HTML) ended(e *event.Event, end *event.End) {
	h.head.Ended, h.head.Outcome, h.head.ExitCode = e.Time, end.Outcome, end.ExitCode
	h.head.Errors, h.head.Resume = end.Errors, end.Resume
	h.head.Output, h.head.Cut = h.output.b.String(), h.output.cut
	if h.head.Started.IsZero() {
		h.head.Started = e.Time
	}
	h.head.Lanes = h.lanes()
}

// lanes puts the steps of each session on a line of their own, in the order in which the sessions began.
func (h *HTML) lanes() []lane {
	var list []lane
	index := map[string]int{}
	whole := h.head.Ended.Sub(h.head.Started).Seconds()
	for _, m := range h.marks {
		i, ok := index[m.Lane]
		if !ok {
			i = len(list)
			index[m.Lane] = i
			list = append(list, lane{Name: m.Lane})
		}
		if whole > 0 {
			m.Left = percent(m.Start.Sub(h.head.Started).Seconds() / whole)
			m.Width = percent(m.End.Sub(m.Start).Seconds() / whole)
		}
		list[i].Marks = append(list[i].Marks, m)
	}
	return list
}

func percent(f float64) string { return fmt.Sprintf("%.2f", 100*min(1, max(0, f))) }

// Steps are the rows of the table of steps.
func (h head) Steps() []mark {
	var list []mark
	for _, l := range h.Lanes {
		list = append(list, l.Marks...)
	}
	slices.SortStableFunc(list, func(a, b mark) int { return a.Number - b.Number })
	return list
}

// WriteTo writes the page; after run.ended only.
func (h *HTML) WriteTo(w io.Writer) (int64, error) {
	count := &counter{w: w}
	err := errors.Join(h.err, h.body.Flush())
	if err == nil {
		err = page().ExecuteTemplate(count, "top", h.head)
	}
	if err == nil {
		if _, err = h.spool.Seek(0, io.SeekStart); err == nil {
			_, err = io.Copy(count, h.spool)
		}
	}
	if err == nil {
		err = page().ExecuteTemplate(count, "end", h.head)
	}
	return count.n, err
}

// Close removes what is kept. Idempotent.
func (h *HTML) Close() error {
	err := h.spool.Close()
	if rerr := os.Remove(h.spool.Name()); rerr != nil && !errors.Is(rerr, os.ErrNotExist) {
		err = errors.Join(err, rerr)
	}
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// diffLine is one line of an edit.
type diffLine struct{ Mark, Text string }

// lines tells an edit line by line: what both texts begin and end with is said once.
func lines(d diff) []diffLine {
	var old []string
	if d.Old != nil {
		old = strings.Split(*d.Old, "\n")
	}
	now := strings.Split(d.New, "\n")
	var list []diffLine
	begin := 0
	for begin < len(old) && begin < len(now) && old[begin] == now[begin] {
		begin++
	}
	end := 0
	for end < len(old)-begin && end < len(now)-begin && old[len(old)-1-end] == now[len(now)-1-end] {
		end++
	}
	add := func(mark string, texts []string) {
		for _, t := range texts {
			list = append(list, diffLine{mark, t})
		}
	}
	add(" ", now[max(0, begin-3):begin])
	add("-", old[begin:len(old)-end])
	add("+", now[begin:len(now)-end])
	add(" ", now[len(now)-end:min(len(now), len(now)-end+3)])
	return list
}
