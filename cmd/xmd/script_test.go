package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/rogpeppe/go-internal/testscript"

	"xmd/agents/door"
	"xmd/agents/proc"
	"xmd/runtime/event"
)

var update = flag.Bool("update", false, "rewrite generated pages and the output in scripts")

// quickExit makes a program that is built with the race detector end without the second it would wait first. Every process of every test is
// one, guardians too.
const quickExit = "GORACE=atexit_sleep_ms=0"

// TestMain makes the test binary be xmd where xmd would start itself: as a guardian, as the agent sim, and as the shim of the door.
func TestMain(m *testing.M) {
	proc.GuardianMain()
	if len(os.Args) > 1 && (os.Args[1] == "sim" || os.Args[1] == door.ShimCommand) || os.Getenv("GO_TEST_AS_XMD") != "" {
		mainAsXMD()
	}
	testscript.Main(m, map[string]func(){"xmd": mainAsXMD})
}

func mainAsXMD() {
	proc.AdoptOrphans()
	os.Exit(run(&program{
		args: os.Args[1:], env: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, recorder: mortalRecorder(os.Environ()), observe: &judge{},
	}))
}

// judge ends xmd at the first event that is not what specs/events.schema.json says, in every run of every test.
type judge struct {
	forms map[event.Type]*jsonschema.Resolved
	ended bool
}

// invalidEvent is the exit code of a test's xmd that made an event which is none.
const invalidEvent = 99

func (j *judge) Event(e *event.Event) {
	line, err := e.AppendJSON(nil)
	var v map[string]any
	if err == nil {
		err = json.Unmarshal(line, &v)
	}
	form, ferr := j.form(e.Type)
	switch {
	case err != nil:
	case ferr != nil:
		err = ferr
	case j.ended:
		err = errors.New("it comes after run.ended")
	default:
		err = form.Validate(v)
	}
	j.ended = e.Type == event.RunEnded
	if err != nil {
		fmt.Fprintf(os.Stderr, "an event that is none: %v: %s\n", err, line)
		os.Exit(invalidEvent)
	}
}

// form is the schema of one type of event, resolved once: all of them together take long.
func (j *judge) form(t event.Type) (*jsonschema.Resolved, error) {
	if form := j.forms[t]; form != nil {
		return form, nil
	}
	var all jsonschema.Schema
	if err := json.Unmarshal([]byte(event.Schema), &all); err != nil {
		return nil, err
	}
	for _, s := range all.OneOf {
		if s.Title != string(t) {
			continue
		}
		form, err := s.Resolve(nil)
		if err == nil && j.forms == nil {
			j.forms = map[event.Type]*jsonschema.Resolved{}
		}
		if err == nil {
			j.forms[t] = form
		}
		return form, err
	}
	return nil, fmt.Errorf("the schema has no %s", t)
}

// TestScripts runs testdata/script: one command or behaviour a file, as a person would type it.
func TestScripts(t *testing.T) {
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("EXAMPLES", examples)
			env.Setenv("README", filepath.Join(examples, "../README.md"))
			own, _, _ := strings.Cut(env.Getenv("PATH"), string(os.PathListSeparator))
			env.Setenv("BARE", own) // a PATH with nothing but xmd: what is installed here does not count
			env.Setenv("GORACE", strings.TrimPrefix(quickExit, "GORACE="))
			return os.MkdirAll(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": wantCode, "ndjson": wantNDJSON, "lines": wantLines,
		},
	})
}

// wantCode runs a command and checks its exit code: code 2 xmd run x.xmd. Its output is checked with stdout and stderr as usual.
func wantCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		var exit interface{ ExitCode() int }
		if e, ok := err.(interface{ ExitCode() int }); ok {
			exit = e
		}
		if exit == nil {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// wantNDJSON checks that every line of a file is a valid event and that run.ended is the last.
func wantNDJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: ndjson FILE")
	}
	ts.Check(eventsError(ts.ReadFile(args[0])))
}

func checkEvents(t *testing.T, text string) {
	t.Helper()
	if err := eventsError(text); err != nil {
		t.Error(err)
	}
}

// eventsError says what is wrong with a text as NDJSON of one run.
func eventsError(text string) error {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(event.Schema), &schema); err != nil {
		return err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return err
	}
	last, n := "", 0
	for line := range strings.Lines(text) {
		n++
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return fmt.Errorf("line %d is no JSON: %w: %s", n, err, line)
		}
		if err := resolved.Validate(v); err != nil {
			return fmt.Errorf("line %d is no event: %w: %s", n, err, line)
		}
		last = fmt.Sprint(v["type"])
	}
	if last != "run.ended" {
		return fmt.Errorf("the last of %d events is %q", n, last)
	}
	return nil
}

// wantLines checks how many lines a file has: lines stderr 1.
func wantLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	text := ts.ReadFile(args[0])
	if n := strings.Count(text, "\n"); fmt.Sprint(n) != args[1] {
		ts.Fatalf("%d lines, want %s:\n%s", n, args[1], text)
	}
}
