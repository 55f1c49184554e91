package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"xmd/agents/sim"
	"xmd/cmd/xmd/report"
	"xmd/lang/diag"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/runtime"
)

func testCommand() *command {
	return &command{
		name: "test", args: "FILE|DIR…", usage: "run the tests of test documents (*.test.xmd), with scripted agents alone",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text, json or ndjson"},
			&cli.StringSliceFlag{Name: "report", Usage: "write a report: junit=FILE; may be repeated"},
			&cli.StringFlag{Name: "run", Usage: "only tests whose names have a match of this regular expression"},
			&cli.IntFlag{Name: "j", Usage: "how many tests run at once (default: the number of CPUs)"},
			includeFlag(),
			&cli.BoolFlag{Name: "v", Aliases: []string{"verbose"}, Usage: "what tests wrote too, on stderr"},
		},
		run: runTests,
	}
}

// suite is one start of xmd test.
type suite struct {
	p       *program
	only    *regexp.Regexp // nil: all
	include []string
	verbose bool
	atOnce  int
	show    func(testResult) error // each test, in the order of the documents
	end     func(testTotal) error
}

// testFile is one test document, checked.
type testFile struct {
	name  string
	plan  *plan.Plan
	tests []*plan.Test // that run
}

// runTests checks all documents first; then their tests run.
func runTests(p *program, c *call) error {
	s, err := newSuite(p, c)
	if err != nil {
		return err
	}
	junit, err := junitFiles(c)
	if err != nil {
		return err
	}
	names, err := testFiles(c.args)
	if err != nil {
		return s.refuse(err)
	}
	files, err := s.compile(names)
	if err != nil {
		return s.refuse(err)
	}
	ctx, stop := p.signals(context.Background())
	defer stop()
	total := s.run(ctx, files, junit)
	for _, f := range junit {
		if err := putInPlace(f.path, f.made); err != nil {
			return runtime.Errorf(runtime.KindFailed, "the report %s could not be written: %w", f.path, plainError(err))
		}
	}
	if err := s.end(total); err != nil && total.code != exitOutputClosed {
		return outputLost(err)
	}
	return codeError(total.code)
}

func newSuite(p *program, c *call) (*suite, error) {
	s := &suite{p: p, include: c.StringSlice("include"), verbose: c.Bool("v"), atOnce: c.Int("j")}
	if len(c.args) == 0 {
		return nil, &usageError{message: "test takes one test document or folder, or more"}
	}
	show := testWriters[c.String("format")]
	if show == nil {
		return nil, &usageError{message: fmt.Sprintf("--format is text, json or ndjson, not %q", c.String("format"))}
	}
	show(s)
	switch {
	case !c.IsSet("j"):
		s.atOnce = goruntime.NumCPU()
	case s.atOnce < 1:
		return nil, &usageError{message: fmt.Sprintf("-j is a number from 1, not %d", s.atOnce)}
	}
	if text := c.String("run"); text != "" {
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, &usageError{message: fmt.Sprintf("--run is no regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))}
		}
		s.only = re
	}
	return s, nil
}

// testReport is one JUnit report with the place it goes to.
type testReport struct {
	path string
	made *report.Tests
}

// junitFiles are the reports that --report asks for.
func junitFiles(c *call) ([]testReport, error) {
	var list []testReport
	for _, given := range c.StringSlice("report") {
		path, ok := strings.CutPrefix(given, "junit=")
		if !ok || path == "" {
			return nil, &usageError{message: fmt.Sprintf("--report is junit=FILE, not %q", given)}
		}
		if err := writable(path); err != nil {
			return nil, &usageError{message: fmt.Sprintf("--report %s: %v", given, err)}
		}
		list = append(list, testReport{path, report.NewTests()})
	}
	return list, nil
}

// refuse ends the command before a test ran: the end that a machine format owes, and the error.
func (s *suite) refuse(err error) error {
	if s.end != nil {
		if werr := s.end(testTotal{refused: err, code: 2}); werr != nil {
			return werr
		}
	}
	return err
}

// testFiles lists the test documents that are meant, each once: files in the order in which they are given, those of a folder by name.
func testFiles(args []string) ([]string, error) {
	var list []string
	for _, arg := range args {
		found, err := testFilesOf(arg)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list, nil
}

func testFilesOf(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, runtime.Errorf(runtime.KindInvalid, "%s: there is no such file", arg)
	case err != nil:
		return nil, runtime.Errorf(runtime.KindInvalid, "%s cannot be read: %w", arg, plainError(err))
	case info.IsDir():
		return testsBelow(arg)
	case !resolve.IsTest(arg):
		return nil, &usageError{message: fmt.Sprintf("%s is no test document: the name of one ends in %s", arg, resolve.TestSuffix)}
	}
	return []string{arg}, nil
}

// testsBelow finds the test documents in a folder and those in it, without hidden ones and node_modules.
func testsBelow(dir string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case !d.IsDir() && resolve.IsTest(d.Name()):
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		return nil, runtime.Errorf(runtime.KindInvalid, "%s cannot be searched: %w", dir, plainError(err))
	}
	if len(list) == 0 {
		return nil, runtime.Errorf(runtime.KindUsage, "%s holds no test documents (*%s)", dir, resolve.TestSuffix)
	}
	return list, nil
}

// compile checks all documents, and the scripts that stand in them. What is wrong goes to stderr.
func (s *suite) compile(names []string) ([]testFile, error) {
	var files []testFile
	var bad invalidDocuments
	for _, name := range names {
		doc, err := s.p.load(name, s.include)
		if err != nil {
			return nil, err
		}
		compiled, src, list, err := compile(doc)
		if err != nil {
			return nil, err
		}
		list = append(list, checkScripts(compiled)...)
		s.p.say(src, list)
		if list.HasErrors() {
			bad = append(bad, &documentError{src, list})
			continue
		}
		f := testFile{name: name, plan: compiled}
		for _, t := range compiled.Tests() {
			if s.only == nil || s.only.MatchString(t.Name) {
				f.tests = append(f.tests, t)
			}
		}
		files = append(files, f)
	}
	if bad != nil {
		return nil, errors.Join(bad, exitCode(2)) // it is said already
	}
	return files, nil
}

// invalidDocuments are those for which nothing runs.
type invalidDocuments []*documentError

func (invalidDocuments) Error() string { return "documents are invalid" }

// checkScripts says what is wrong with the scripts that stand in a document.
func checkScripts(p *plan.Plan) diag.List {
	var list diag.List
	if p == nil {
		return list
	}
	for _, it := range p.Items() {
		if n, ok := it.Node.(*plan.TestAgent); ok && len(n.Rules) > 0 {
			_, found := sim.CheckScript(p.Source.Name, placed(p.Source.Text, n.Rules))
			list = append(list, found...)
		}
	}
	return list
}

// placed is the script that some rules make, with each of them where it stands in its document, to the byte: what is between them is blank.
func placed(text string, rules []plan.Rule) string {
	var b strings.Builder
	at := 0
	for _, r := range rules {
		for i, line := range strings.Split(text[at:r.Pos.Start], "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.Repeat(" ", len(line)))
		}
		b.WriteString(r.Text)
		at = r.Pos.End
	}
	b.WriteByte('\n')
	return b.String()
}

// testResult is how a test ended.
type testResult struct {
	File     string
	Name     string
	Position string
	Outcome  string // passed, failed, cancelled
	Failures []testFailure
	Runs     []testRan // documents that it ran
	Took     time.Duration
	wrote    string // its own output, stderr
}

// testFailure is why a test failed.
type testFailure struct {
	Kind     string `json:"kind"`
	Message  string `json:"message"`
	Position string `json:"position,omitempty"`
}

// testRan is a document that a test ran.
type testRan struct {
	Src      string `json:"src"`
	ExitCode int    `json:"exitCode"`
	Stderr   string `json:"stderr,omitempty"` // the last of it
}

// testTotal is how all ended.
type testTotal struct {
	passed, failed, cancelled int
	took                      time.Duration
	code                      int
	refused                   error // why nothing ran
}

// run runs all tests, several at once, and shows each in the order of the documents.
func (s *suite) run(ctx context.Context, files []testFile, junit []testReport) testTotal {
	began := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all []*testJob
	for _, f := range files {
		for _, t := range f.tests {
			all = append(all, &testJob{f, t, make(chan testResult, 1)})
		}
	}
	go s.begin(ctx, all)
	var total testTotal
	for _, job := range all {
		r := <-job.done
		total.add(r)
		if err := s.told(r, junit); err != nil {
			cancel(outputLost(err))
		}
	}
	total.took = time.Since(began)
	total.code = max(total.code, signalCode(ctx))
	return total
}

// testJob is a test that is to run.
type testJob struct {
	file testFile
	test *plan.Test
	done chan testResult
}

// begin begins the tests in the order of the documents, each when there is room for it.
func (s *suite) begin(ctx context.Context, all []*testJob) {
	room := make(chan struct{}, s.atOnce)
	for _, job := range all {
		room <- struct{}{} // whatever ends ctx ends those that run
		go func() {
			defer func() { <-room }()
			job.done <- s.one(ctx, job.file, job.test)
		}()
	}
}

// told shows one result.
func (s *suite) told(r testResult, junit []testReport) error {
	if s.verbose && r.wrote != "" {
		_, _ = fmt.Fprintf(s.p.stderr, "--- %s: %s\n%s", r.File, r.Name, r.wrote)
	}
	for _, f := range junit {
		f.made.Add(r.junit())
	}
	return s.show(r)
}

func (t *testTotal) add(r testResult) {
	switch r.Outcome {
	case "passed":
		t.passed++
	case "failed":
		t.failed++
		t.code = 1
	default:
		t.cancelled++
	}
}
