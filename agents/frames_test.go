//go:build unix

package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/agents/acp"
	"xmd/agents/proc"
	"xmd/agents/sim"
	"xmd/runtime"
)

var update = flag.Bool("update", false, "write the goldens anew")

// The test binary is the guardian, the scripted agent, and an agent that plays recorded frames.
func TestMain(m *testing.M) {
	proc.GuardianMain()
	if len(os.Args) > 2 && os.Args[1] == "play" {
		if err := play(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "play:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "sim" {
		os.Exit(sim.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	flag.Parse()
	os.Setenv("GORACE", "atexit_sleep_ms=0") // else every child takes a second longer to end under -race
	os.Exit(m.Run())
}

// recorded is one frame of a session with a real agent.
type recorded struct {
	Dir   string          `json:"dir"`
	Frame json.RawMessage `json:"frame"`
}

type rpcMessage struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func readFrames(file string) ([]recorded, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var all []recorded
	for line := range bytes.Lines(data) {
		var r recorded
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// player answers as the recorded agent did: each recorded request waits for the client's request of that method.
type player struct {
	frames []recorded
	in     chan rpcMessage
	queue  []rpcMessage
	ids    map[string]json.RawMessage // recorded request id to the client's
	dir    string
}

func play(file string) error {
	frames, err := readFrames(file)
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	p := &player{frames: frames, in: make(chan rpcMessage, 1024), ids: map[string]json.RawMessage{}, dir: dir}
	go func() {
		defer close(p.in)
		lines := bufio.NewReader(os.Stdin)
		for {
			line, err := lines.ReadBytes('\n')
			var m rpcMessage
			if json.Unmarshal(line, &m) == nil {
				p.in <- m
			}
			if err != nil {
				return
			}
		}
	}()
	for i, r := range frames {
		if r.Dir == "in" {
			p.send(r.Frame)
		} else if !p.await(r.Frame, frames[i:]) {
			return nil
		}
	}
	for m := range p.in {
		p.extra(m)
	}
	return nil
}

// send writes a recorded frame, with the client's id and in the client's folder.
func (p *player) send(frame json.RawMessage) {
	var m rpcMessage
	_ = json.Unmarshal(frame, &m)
	text := strings.ReplaceAll(string(frame), `"cwd": "/home/person/project"`, `"cwd": "`+p.dir+`"`)
	if m.Method == "" {
		id, ok := p.ids[string(m.ID)]
		if !ok {
			return // of a request that this client did not make
		}
		text = strings.Replace(text, `"id": `+string(m.ID), `"id": `+string(id), 1)
	}
	fmt.Println(text)
}

// await waits for what the client sent at this place; false at the end of its messages. What it sends besides is answered
// with nothing in particular.
func (p *player) await(frame json.RawMessage, rest []recorded) bool {
	var want rpcMessage
	_ = json.Unmarshal(frame, &want)
	for {
		for i, m := range p.queue {
			if m.Method == want.Method && (m.Method != "" || string(m.ID) == string(want.ID)) {
				p.queue = append(p.queue[:i], p.queue[i+1:]...)
				if m.Method != "" {
					p.ids[string(want.ID)] = m.ID
				}
				return true
			}
		}
		m, ok := <-p.in
		if !ok {
			return false
		}
		if m.Method != "" && !expected(m.Method, rest) {
			p.extra(m)
			continue
		}
		p.queue = append(p.queue, m)
		if want.Method == "session/list" && m.Method != want.Method {
			return true // the recorded client asked for the list, this one goes on without
		}
	}
}

func expected(method string, rest []recorded) bool {
	for _, r := range rest {
		var m rpcMessage
		if r.Dir == "out" && json.Unmarshal(r.Frame, &m) == nil && m.Method == method {
			return true
		}
	}
	return false
}

func (p *player) extra(m rpcMessage) {
	if m.Method == "" || m.ID == nil {
		return
	}
	result := `{}`
	if m.Method == "session/list" {
		result = `{"sessions":[]}`
	}
	fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
}

func openedText(o runtime.Opened) string {
	listed := map[runtime.Listed]string{runtime.ListNotOffered: "not offered", runtime.ListNames: "names it", runtime.ListOmits: "omits it"}
	h := o.History
	var words []string
	for _, turn := range h.Newest {
		words = append(words, fmt.Sprintf("%.6s/%.6s", turn.Words.Digest, turn.Reply.Digest))
	}
	return fmt.Sprintf("asserted %v, list %s, history known %v turns %d compacted %v\n  %s\n",
		o.Asserted == o.ID, listed[o.Listed], h.Known, h.UserTurns, h.Compacted, strings.Join(words, " "))
}

// homeOf makes the provider home in which the recorded agent had its rollout.
func homeOf(t *testing.T, name, id string) string {
	home := t.TempDir()
	version, what, _ := strings.Cut(strings.TrimPrefix(name, "codex-"), "-")
	if !strings.HasPrefix(name, "codex-") || what == "deleted" || what == "missing" || id == "" {
		return home
	}
	data, err := os.ReadFile(filepath.Join("agenttest", "testdata", "rollouts", "codex-"+version+"-full.jsonl"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no recorded rollout")
	}
	if err != nil {
		t.Fatal(err)
	}
	var first struct{ Payload struct{ ID string } }
	line, _, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(line, &first); err != nil || first.Payload.ID == "" {
		t.Fatalf("the recorded rollout has no id: %v", err)
	}
	data = bytes.ReplaceAll(data, []byte(first.Payload.ID), []byte(id)) // rollouts and frames are not always of one recording
	if what == "emptied" {
		data, _, _ = bytes.Cut(data, []byte("\n"))
	}
	dir := filepath.Join(home, "sessions", "2026", "11", "30")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-11-30T15-00-00-"+id+".jsonl"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// Sessions recorded with the real agents show, through the driver and the table's profiles, what the goldens say.
func TestRecordedFrames(t *testing.T) {
	files, err := filepath.Glob("agenttest/testdata/frames/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("nothing is recorded")
	}
	more, _ := filepath.Glob("testdata/recorded/*.jsonl") // what the suite's cases do not do
	files = append(files, more...)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames, err := readFrames(file)
			if err != nil {
				t.Fatal(err)
			}
			full, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			s := scriptOf(frames)
			p, _ := New(Options{Config: map[string]Custom{"codex": {Transport: "acp"}}}).row(strings.SplitN(name, "-", 2)[0])
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			agent := acp.New(acp.Config{Profile: p.Driver, Info: runtime.AgentInfo{
				Name: p.Name, Shown: p.Shown, Command: []string{self, "play", full}, ConfirmList: p.Confirm,
			}})
			home := homeOf(t, name, s.load)
			c, err := agent.Start(t.Context(), runtime.StartOptions{Root: root, Env: append(os.Environ(), "CODEX_HOME="+home, "HOME="+home)})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close(context.Background())
			var got strings.Builder
			opening := t.Context()
			if strings.HasSuffix(name, "busy") { // a recording refuses once
				var stop context.CancelFunc
				opening, stop = context.WithTimeout(opening, time.Second)
				defer stop()
			}
			opened, err := c.Open(opening, s.load)
			if err != nil {
				fmt.Fprintf(&got, "open: error [%s] %v\n", runtime.KindOf(err), err)
			} else {
				fmt.Fprintf(&got, "open: %s", openedText(opened))
				for _, turn := range s.turns {
					got.WriteString(runTurn(t, c, turn))
				}
			}
			text := strings.ReplaceAll(got.String(), root, "/home/person/project")
			golden(t, filepath.Join("testdata", "frames", name+".golden"), text)
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}
