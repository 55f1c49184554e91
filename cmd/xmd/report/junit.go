package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"xmd/runtime/event"
)

// JUnit makes a test suite of a run: the document is the suite, each step that has an effect is a case. Not safe for concurrent use
// beside the event stream, which calls it one event at a time.
type JUnit struct {
	steps   *steps
	suite   suite
	started time.Time
}

// NewJUnit makes the report of one run.
func NewJUnit() *JUnit {
	j := &JUnit{}
	j.steps = newSteps(true, j.step)
	return j
}

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name      string     `xml:"name,attr"`
	Tests     int        `xml:"tests,attr"`
	Failures  int        `xml:"failures,attr"`
	Errors    int        `xml:"errors,attr"`
	Skipped   int        `xml:"skipped,attr"`
	Time      string     `xml:"time,attr"`
	Timestamp string     `xml:"timestamp,attr,omitempty"`
	Props     []property `xml:"properties>property,omitempty"`
	Cases     []testcase `xml:"testcase"`

	took time.Duration
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Name    string   `xml:"name,attr"`
	Class   string   `xml:"classname,attr"`
	File    string   `xml:"file,attr,omitempty"`
	Line    string   `xml:"line,attr,omitempty"`
	Time    string   `xml:"time,attr"`
	Failure *problem `xml:"failure"`
	Error   *problem `xml:"error"`
	Skipped *skipped `xml:"skipped"`
	Stderr  string   `xml:"system-err,omitempty"`
}

type problem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type skipped struct {
	Message string `xml:"message,attr,omitempty"`
}

// Event takes one event of the run.
func (j *JUnit) Event(e *event.Event) {
	switch body := e.Body.(type) {
	case *event.Run:
		j.suite.Name, j.started = text(body.Document), e.Time
		j.suite.Timestamp = e.Time.UTC().Format("2006-01-02T15:04:05")
		j.suite.Props = append(j.suite.Props, property{"run", e.Run}, property{"directory", text(body.Dir)})
	case *event.End:
		j.steps.event(e)
		j.end(e, body)
		return
	}
	j.steps.event(e)
}

func (j *JUnit) step(st *step) {
	file, line, _ := place(st.Position)
	c := testcase{
		Name: text(strings.TrimSpace(st.Position + " " + st.Kind + who(st))), Class: text(file), File: text(file), Line: line, Time: seconds(st.End.Sub(st.Start)),
	}
	switch {
	case st.Outcome == "skipped":
		c.Skipped = &skipped{}
		j.suite.Skipped++
	case st.Outcome == "":
		c.Skipped = &skipped{"it did not end in this run"}
		j.suite.Skipped++
	case st.Error != nil:
		j.fault(&c, st.Error)
		c.Stderr = text(st.Stderr)
	}
	j.suite.Cases = append(j.suite.Cases, c)
}

// who says for whom a prompt was.
func who(st *step) string {
	switch {
	case st.Agent == "":
		return ""
	case st.Session == "":
		return " " + st.Agent
	}
	return " " + st.Agent + " (" + st.Session + ")"
}

// fault puts an error into a case: what a step did badly is a failure, what kept it from being done is an error.
func (j *JUnit) fault(c *testcase, e *event.Error) {
	p := problemOf(e.Kind, e.Message)
	if e.Code == 1 || e.Code == 7 {
		c.Failure = p
		j.suite.Failures++
		return
	}
	c.Error = p
	j.suite.Errors++
}

func problemOf(kind, message string) *problem {
	first, _, _ := strings.Cut(message, "\n")
	return &problem{Message: text(first), Type: text(kind), Text: text(message)}
}

// end takes what ended the run and belongs to none of the steps.
func (j *JUnit) end(e *event.Event, end *event.End) {
	j.suite.Time = seconds(e.Time.Sub(j.started))
	if j.started.IsZero() {
		j.suite.Time = seconds(0)
	}
	told := map[string]bool{}
	for _, c := range j.suite.Cases {
		for _, p := range []*problem{c.Failure, c.Error} {
			if p != nil {
				told[p.Text] = true
			}
		}
	}
	for _, err := range end.Errors {
		if !told[text(err.Message)] {
			c := testcase{Name: "the run", Class: j.suite.Name, Time: seconds(0)}
			j.fault(&c, err)
			j.suite.Cases = append(j.suite.Cases, c)
		}
	}
	if end.ExitCode != 0 && len(end.Errors) == 0 {
		c := testcase{Name: "the run", Class: j.suite.Name, Time: seconds(0)}
		j.fault(&c, &event.Error{Code: end.ExitCode, Kind: end.Outcome, Message: fmt.Sprintf("the run ended with exit code %d (%s)", end.ExitCode, end.Outcome)})
		j.suite.Cases = append(j.suite.Cases, c)
	}
	j.suite.Tests = len(j.suite.Cases)
}

// WriteTo writes the suite; after run.ended only.
func (j *JUnit) WriteTo(w io.Writer) (int64, error) {
	all := suites{Name: "xmd", Tests: j.suite.Tests, Failures: j.suite.Failures, Errors: j.suite.Errors, Time: j.suite.Time, Suites: []suite{j.suite}}
	return all.writeTo(w)
}

func (all *suites) writeTo(w io.Writer) (int64, error) {
	raw, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return 0, err
	}
	n, err := io.WriteString(w, xml.Header+string(raw)+"\n")
	return int64(n), err
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", max(0, d).Seconds()) }

// text is what XML 1.0 can hold of a text: other control characters have no form there at all.
func text(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF:
			return 0xFFFD
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
