package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"xmd/lang/expr"
	"xmd/runtime"
)

// atPlace is the beginning of an error in a file.
var atPlace = regexp.MustCompile(`^xmd\.toml:(\d+):(\d+): `)

// FuzzConfig: whatever stands in a configuration, it is read, or refused as a mistake of usage at a place in the file. What was read, written
// again, is read the same.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		"", "agent = 'codex'\npolicy = 'ask'\nsecrets = ['A']\n[limits]\ntimeout = '1h'\nmax-turns = 3\nmax-cost = 1.5\n", "policy = 'yes'\n", "[limits]\ntimeout = '0s'\n",
		"[agents.codex]\ntransport = 'acp'\nenv = {A = 'b'}\nversion = ['x', '--version']\nnoise = []\n", "[agents.mine]\ncommand = 'm'\nreject = 'never'\n", "[agents]\nmine = 'x'\n",
		"[agents.\"a\\u0000b\"]\ncommand = ''\n", "agents.x.transport = 'app-server'\n", "[[agents]]\n", "a = 1\na = 2\n", "agent = 'x", "limits = {timeout = 'x'}\n", "max-turns = -1\n", "\ufeffagent = 'x'\n", "\xff",
		"[limits]\nmax-tokens = 99999999999999999999\n", "[limits]\nmax-cost = nan\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseConfig("xmd.toml", text)
		if err != nil {
			m := atPlace.FindStringSubmatch(err.Error())
			if m == nil || runtime.KindOf(err) != runtime.KindUsage || strings.HasPrefix(m[1], "0") || strings.HasPrefix(m[2], "0") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		written, err := toml.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseConfig("xmd.toml", written)
		if err != nil {
			t.Fatalf("%q was read, but not as it was written again: %v\n%s", text, err, written)
		}
		if twice, err := toml.Marshal(again); err != nil || string(twice) != string(written) {
			t.Fatalf("%s\nbecame %s, %v", written, twice, err)
		}
	})
}

// FuzzAnswers: whatever stands in a file of answers, it is an object of values that are the same when they are written again, or refused.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{"", "{}", `{"a":1,"b[2]":null,"":[true,{"x":"\ud800"}]}`, "[]", `{"a":1}{}`, `{"a":1e999}`, `{"a":9007199254740993}`, `{"a":1,"a":2}`, "{\"a\":\"\xff\"}", strings.Repeat("[", 2000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		given, err := parseAnswers("answers.json", text)
		if err != nil {
			if runtime.KindOf(err) != runtime.KindUsage || given != nil {
				t.Fatalf("%v, %v", given, err)
			}
			return
		}
		values := map[string]any{}
		for name, a := range given {
			values[name] = a.Value
			if !a.Parsed {
				t.Fatalf("%q is not taken as the value that it is", name)
			}
		}
		written := expr.JSON(values)
		again, err := parseAnswers("answers.json", written)
		if err != nil || len(again) != len(given) {
			t.Fatalf("%s became %v, %v", written, again, err)
		}
		for name, a := range given {
			if expr.JSON(again[name].Value) != expr.JSON(a.Value) {
				t.Fatalf("%q was %v and became %v", name, a.Value, again[name].Value)
			}
		}
	})
}

// FuzzImport: whatever a record is, a session comes of it that the store reads, exports and takes back, or it is refused in words and
// nothing is there. What is printed holds no control character.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob(foreign + "/*.json*")
	if err != nil || len(files) < 9 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	m := newMachine(f)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "0199-a", "planner")
	}
	m.must("sessions", "import", "--agent", "claude", "--id", "0199-b", "planner", "-C", m.dir)
	whole := m.must("sessions", "export", "planner", "-C", m.dir)
	for _, change := range [][2]string{{"", ""}, {"0199-b", "--resume"}, {`"marks":[]`, `"marks":[{"generation":1,"name":"moved","data":{"to":"/"}}]`}, {"claude", "nobody"}, {"planner", "a\\u001bb"}} {
		f.Add([]byte(strings.Replace(whole, change[0], change[1], 1)), "", "")
	}
	n := 0
	f.Fuzz(func(t *testing.T, data []byte, id, name string) {
		if strings.Contains(id+name, "\x00") {
			return // no argument can hold one
		}
		n++
		at := &machine{t, m.home, m.dir}
		file := filepath.Join(m.dir, "record.json")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		states := []string{filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")}
		args := []string{"sessions", "import", file, "-C", m.dir, "--state-dir", states[0]}
		if id != "" {
			args = append(args, "--id="+id)
		}
		if name != "" {
			args = append(args, "--name="+name, "--root", adasRoot)
		}
		code, stdout, stderr := at.xmd(args...)
		printed(t, stdout, stderr)
		if code != 0 {
			if code != 2 && code != 5 || stderr == "" || strings.Contains(stderr, "internal") {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			return
		}
		for s, err := range at.exported(states[0]) {
			if err != nil {
				t.Fatal(err)
			}
			if err := at.takesBack(states[1], s); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// printed finds what no terminal should be given.
func printed(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool { return c != '\n' && c != '\t' && unicode.IsControl(c) }) {
			t.Fatalf("printed was %q", text)
		}
	}
}

// exported are the exports of all sessions of a store.
func (m *machine) exported(state string) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		var list struct {
			Sessions []struct{ Agent, Session, Root string }
		}
		if err := json.Unmarshal([]byte(m.must("sessions", "--format", "json", "-C", m.dir, "--state-dir", state)), &list); err != nil || len(list.Sessions) != 1 {
			yield("", fmt.Errorf("%d sessions, %w", len(list.Sessions), err))
			return
		}
		for _, s := range list.Sessions {
			code, stdout, stderr := m.xmd("sessions", "export", s.Agent+":"+s.Session, "-C", m.dir, "--root", s.Root, "--state-dir", state)
			var err error
			if code != 0 {
				err = errors.New(stderr)
			}
			if !yield(stdout, err) {
				return
			}
		}
	}
}

// takesBack imports an export into another store, where it is the same.
func (m *machine) takesBack(state, text string) error {
	file := filepath.Join(m.dir, "export.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	if code, _, stderr := m.xmd("sessions", "import", file, "-C", m.dir, "--state-dir", state); code != 0 {
		return fmt.Errorf("what was exported is not imported: %s\n%s", stderr, text)
	}
	var was, is map[string]any
	for again, err := range m.exported(state) {
		if err = errors.Join(err, json.Unmarshal([]byte(text), &was), json.Unmarshal([]byte(again), &is)); err != nil {
			return err
		}
		if expr.JSON(was["routes"]) != expr.JSON(is["routes"]) {
			return fmt.Errorf("exported was %s, then %s", text, again)
		}
	}
	return nil
}
