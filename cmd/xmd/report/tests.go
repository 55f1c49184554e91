package report

import (
	"io"
	"time"
)

// Tests makes the JUnit report of xmd test: each document is a suite, each test a case. The zero value is empty. Not safe for concurrent use.
type Tests struct {
	list []*suite
	took time.Duration
}

// NewTests makes a report without tests.
func NewTests() *Tests { return &Tests{} }

// Test is one test as it ended.
type Test struct {
	Document string
	Name     string
	Position string // of the test: file.xmd:12:3
	Took     time.Duration
	Kind     string // of the failure; "": there is none
	Message  string // all that went wrong
	Stderr   string // of the documents it ran
	Skipped  bool   // it did not run, or not to its end
}

// Add takes a test; those of a document one after the other.
func (r *Tests) Add(t Test) {
	if len(r.list) == 0 || r.list[len(r.list)-1].Name != text(t.Document) {
		r.list = append(r.list, &suite{Name: text(t.Document)})
	}
	s := r.list[len(r.list)-1]
	file, line, _ := place(t.Position)
	c := testcase{Name: text(t.Name), Class: text(t.Document), File: text(file), Line: line, Time: seconds(t.Took), Stderr: text(t.Stderr)}
	switch {
	case t.Skipped:
		c.Skipped = &skipped{"it did not end"}
		s.Skipped++
	case t.Kind != "":
		c.Failure = problemOf(t.Kind, t.Message)
		s.Failures++
	}
	s.took += t.Took
	s.Time = seconds(s.took)
	s.Tests++
	s.Cases = append(s.Cases, c)
	r.took += t.Took
}

// WriteTo writes the report.
func (r *Tests) WriteTo(w io.Writer) (int64, error) {
	all := suites{Name: "xmd test", Time: seconds(r.took)}
	for _, s := range r.list {
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Suites = append(all.Suites, *s)
	}
	return all.writeTo(w)
}
