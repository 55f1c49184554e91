package acp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"xmd/agents/link"
	"xmd/agents/past"
	"xmd/runtime"
)

const fuzzID = "0198b3c2-7a7c-7d54-8f53-51d8b0c3c111"

// oddProfile has every trait of a profile that changes how updates are read.
var oddProfile = Profile{
	NoticeWithoutID: true, CompactTitle: "Compacting", CompactNotice: "Compacted", Noise: []string{"[noise] "}, OwnWords: []string{"Own: "},
	Harmless: []string{"Warning: "}, CostIsTotal: true, UsageIsTotal: true, ServerMark: "mcp", Asserts: true, WholeTurns: true, CompletedMark: "completed",
	Unsaid: []past.Frame{{Open: "<ran>", Close: "</ran>"}}, Fence: "available_commands_update", Ready: "ready", DoorFailed: "mcp-{server}",
	Forms: past.Forms{
		Synthetic: []past.Frame{{Open: "<context>", Close: "</context>"}}, Summary: "This session is being continued",
		Wrappers: []past.Frame{{Open: "<query>", Close: "</query>"}}, ErrorText: []string{"API Error: "},
	},
}

// spoken is an agent's side of a connection: what it says once it was asked, and everything that it is told.
type spoken struct {
	asked chan struct{}
	once  sync.Once
	says  io.Reader

	mu   sync.Mutex
	told []byte
}

func (s *spoken) Write(b []byte) (int, error) {
	s.mu.Lock()
	s.told = append(s.told, b...)
	s.mu.Unlock()
	s.once.Do(func() { close(s.asked) })
	return len(b), nil
}
func (s *spoken) Close() error { return nil }
func (s *spoken) Read(b []byte) (int, error) {
	<-s.asked
	return s.says.Read(b)
}

// heard is what the agent was told, by line.
func (s *spoken) heard() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Split(bytes.TrimSpace(bytes.Clone(s.told)), []byte("\n"))
}

type said struct{ *spoken }

func (said) Close() error { return nil }

// recordedFrames are what real agents said in a turn, as frames of the fuzz target's conversation.
func recordedFrames(f *testing.F) {
	f.Helper()
	files, err := filepath.Glob("../testdata/door/*.jsonl")
	if err != nil || len(files) < 10 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var b strings.Builder
		for line := range bytes.Lines(data) {
			var m struct {
				Dir   string
				Frame json.RawMessage
			}
			var p struct{ Params struct{ SessionID string } }
			if json.Unmarshal(line, &m) != nil || m.Dir != "in" || json.Unmarshal(m.Frame, &p) != nil || p.Params.SessionID == "" || b.Len()+len(m.Frame) > 6<<10 {
				continue
			}
			b.WriteString(strings.ReplaceAll(string(m.Frame), p.Params.SessionID, fuzzID) + "\n")
		}
		f.Add([]byte(b.String()), true)
	}
}

// oddFrames are frames as no agent should send them.
var oddFrames = []string{
	`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn","usage":{"inputTokens":-1,"outputTokens":9223372036854775807}}}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":"x","message":7}}`, `{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":"1","result":{}}`,
	`{"method":"session/update","params":{"sessionId":"` + fuzzID + `","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","kind":"execute","rawInput":{"command":["a",7]},"content":[{"type":"diff","path":"/p","oldText":null,"newText":"n"}],"locations":[{"path":"/p"},7]}}}`,
	`{"method":"session/update","params":{"sessionId":"` + fuzzID + `","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":[{"type":"text","text":"a"},{"type":"image"}]}}}`,
	`{"method":"session/update","params":{"sessionId":"` + fuzzID + `","update":{"sessionUpdate":"usage_update","cost":{"amount":-1e308,"currency":"\u0000"}}}}`,
	`{"method":"session/update","params":{"sessionId":"` + fuzzID + `","update":{"sessionUpdate":"plan","entries":[{"content":"a","status":"x"},[]]}}}`,
	`{"method":"session/update","params":{"sessionId":"` + fuzzID + `","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"<query>hi</query>"},"_meta":{"completed":true}}}}`,
	"{\"method\":\"session/update\",\"params\":{\"sessionId\":\"" + fuzzID + "\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":{\"type\":\"text\",\"text\":\"\xff\\ud800\"}}}}",
	`{"id":7,"method":"session/request_permission","params":{"sessionId":"` + fuzzID + `","toolCall":{"toolCallId":"t"},"options":[{"kind":"allow_always","optionId":"y"},{"kind":"allow_once","optionId":"a"},{"kind":"reject_once","optionId":"r"}]}}`,
	`{"id":"q","method":"session/request_permission","params":{"sessionId":"` + fuzzID + `","options":[{"kind":"allow_once","optionId":"a"},{"kind":"reject_always","optionId":"n"}]}}`,
	`{"id":8,"method":"session/request_permission","params":{"sessionId":"other","options":[{"kind":"allow_once","optionId":"a"}]}}`,
	`{"id":9,"method":"fs/write_text_file","params":{"path":"/etc/passwd","content":"x"}}`, `{"method":"$/cancel_request","params":{"requestId":7}}`,
	`{"method":"_claude/sdkMessage","params":{"sessionId":"` + fuzzID + `","message":{"session_id":"other"}}}`, `[]`, `{`, `"x"`, "\xff\xfe",
}

// FuzzFrames: whatever an agent says in a turn, the turn ends, what is shown is text of known kinds, and no permission is given: a request
// is answered once, with a way to refuse it that it offers itself, or with none.
func FuzzFrames(f *testing.F) {
	recordedFrames(f)
	for _, line := range oddFrames {
		f.Add([]byte(line+"\n"), false)
	}
	f.Add([]byte(strings.Join(oddFrames, "\n")+"\n"), false)
	f.Fuzz(func(t *testing.T, frames []byte, plain bool) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		p := &oddProfile
		if plain {
			p = &Profile{}
		}
		done := make(chan struct{})
		close(done)
		c := &conn{Link: link.Link{Proc: nothingRuns{done}}, p: p, id: fuzzID}
		agent := &spoken{asked: make(chan struct{}), says: io.MultiReader(bytes.NewReader(frames), strings.NewReader("\n"+`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`+"\n"))}
		connect(c, said{agent}, agent, nil)
		_, err := c.Prompt(ctx, runtime.Turn{
			Words: "go",
			Sink:  func(u runtime.Update) { sensible(t, u) },
			Ask:   func(context.Context, runtime.PermissionRequest) bool { return false },
		})
		if ctx.Err() != nil {
			t.Fatalf("the turn does not end: %v", err)
		}
		select {
		case <-c.Wire.Done():
		case <-ctx.Done():
			t.Fatal("the connection does not end")
		}
		answersRefuse(t, frames, agent.heard())
	})
}

// sensible says what is wrong with an update.
func sensible(t *testing.T, u runtime.Update) {
	t.Helper()
	texts := []string{u.Text}
	for _, item := range u.Todo {
		texts = append(texts, item.Text, item.Status)
	}
	if (u.Kind == runtime.UpdateTool) != (u.Tool != nil) || (u.Kind == runtime.UpdatePermission) != (u.Permission != nil) || (u.Kind == runtime.UpdateUsage) != (u.Usage != nil) {
		t.Errorf("%+v", u)
	}
	if u.Tool != nil {
		texts = append(texts, u.Tool.ID, u.Tool.Name, u.Tool.Kind, u.Tool.Subject, u.Tool.Output, u.Tool.Status)
		if u.Tool.Input != nil && !json.Valid(u.Tool.Input) {
			t.Errorf("the input is no JSON: %s", u.Tool.Input)
		}
		if len(u.Tool.Output) > maxOutput+1024 {
			t.Errorf("%d bytes of output are kept", len(u.Tool.Output))
		}
	}
	if u.Permission != nil && u.Permission.Allowed {
		t.Errorf("allowed: %+v", u.Permission)
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Errorf("%q is no text", text)
		}
	}
}

// answersRefuse reads what the agent was told and what it had asked.
func answersRefuse(t *testing.T, frames []byte, told [][]byte) {
	t.Helper()
	type option struct{ Kind, OptionID string }
	offered := map[string][]string{} // by the id of the request: how it can be refused this once
	lines := bufio.NewReader(bytes.NewReader(frames))
	for {
		line, err := lines.ReadBytes('\n')
		var m struct {
			ID     json.RawMessage
			Params struct{ Options []json.RawMessage }
		}
		_ = json.Unmarshal(line, &m) // what can be read of it
		for _, raw := range m.Params.Options {
			var o option
			if json.Unmarshal(raw, &o) == nil && o.Kind == "reject_once" {
				offered[string(m.ID)] = append(offered[string(m.ID)], o.OptionID)
			}
		}
		if err != nil {
			break
		}
	}
	for _, line := range told {
		var m struct {
			ID     json.RawMessage
			Method string
			Result *struct {
				Outcome struct{ Outcome, OptionID string }
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("the agent was told %q: %v", line, err)
		}
		if m.Method != "" || m.Result == nil || m.Result.Outcome.Outcome != "selected" {
			continue
		}
		if !slices.Contains(offered[string(m.ID)], m.Result.Outcome.OptionID) {
			t.Fatalf("%s is told for %s, which offers %q", line, m.ID, offered[string(m.ID)])
		}
	}
}

// FuzzHistory: whatever an agent replays on a load, a bounded history comes of it, and what is left of it are fingerprints.
func FuzzHistory(f *testing.F) {
	recordedFrames(f)
	for _, line := range oddFrames {
		f.Add([]byte(line+"\n"), false)
	}
	f.Fuzz(func(t *testing.T, frames []byte, plain bool) {
		p := &oddProfile
		if plain {
			p = &Profile{}
		}
		l := &loading{p: p, past: past.New(&p.Forms), fence: p.Fence, fenced: make(chan struct{})}
		c := &conn{p: p, id: fuzzID, loading: l}
		shown := 0
		for line := range bytes.Lines(frames) {
			var m struct{ Params json.RawMessage }
			if json.Unmarshal(line, &m) == nil {
				c.update(m.Params)
				shown++
			}
		}
		h := l.past.History(true)
		if h.UserTurns > shown || len(h.Newest) != min(h.UserTurns, past.MaxTurns) || h.UserTurns == 0 && h.LastReply != nil {
			t.Fatalf("%d turns, %d kept, of %d frames", h.UserTurns, len(h.Newest), shown)
		}
		if h.LastReply != nil && !utf8.ValidString(*h.LastReply) {
			t.Fatalf("the reply %q is no text", *h.LastReply)
		}
	})
}
