package sim

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

// sdkClient is the client half of the ACP library for Go: it knows the protocol's types, which we write by hand.
type sdkClient struct {
	acp.Client // the file and terminal methods are never called

	mu      sync.Mutex
	updates []acp.SessionUpdate
}

func (c *sdkClient) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.updates = append(c.updates, n.Update)
	return nil
}

func (c *sdkClient) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	for _, o := range r.Options {
		if o.Kind == acp.PermissionOptionKindAllowOnce {
			return acp.RequestPermissionResponse{Outcome: acp.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return acp.RequestPermissionResponse{}, errors.New("no allow_once")
}

// connect starts an agent over the home with the library as its client, initialized.
func connect(t *testing.T, home string) (*acp.ClientSideConnection, *sdkClient) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Main(context.Background(), []string{"--home", home}, inR, outW, io.Discard, noEnv)
		outW.Close()
	}()
	t.Cleanup(func() { inW.Close(); <-done })
	client := &sdkClient{}
	c := acp.NewClientSideConnection(client, inW, outR)
	c.SetLogger(slog.New(slog.DiscardHandler))
	r, err := c.Initialize(t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil || r.ProtocolVersion != 1 || !r.AgentCapabilities.LoadSession || r.AgentInfo.Version != Version {
		t.Fatalf("initialize gave %+v, %v", r, err)
	}
	return c, client
}

// A client built on the protocol's own types understands every frame of a session.
func TestLibraryClient(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	home := t.TempDir()
	c, client := connect(t, home)
	made, err := c.NewSession(ctx, acp.NewSessionRequest{Cwd: workdir, McpServers: []acp.McpServer{}})
	if err != nil || made.Modes == nil || len(made.ConfigOptions) != 3 {
		t.Fatalf("session/new gave %+v, %v", made, err)
	}
	id := made.SessionId
	prompt := func(c *acp.ClientSideConnection, text string) acp.PromptResponse {
		r, err := c.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock(text)}})
		if err != nil || r.Usage == nil {
			t.Fatalf("%q gave %+v, %v", text, r, err)
		}
		return r
	}
	for _, text := range []string{"My codeword is ZEBRA.", "TOOLS 1", "THINK hm", "PLAN 2", "USAGE 3 4", "PERM edit"} {
		if r := prompt(c, text); r.StopReason != acp.StopReasonEndTurn {
			t.Errorf("%q ended with %s", text, r.StopReason)
		}
	}
	if _, err := c.SetSessionMode(ctx, acp.SetSessionModeRequest{SessionId: id, ModeId: modeAuto}); err != nil {
		t.Error(err)
	}
	client.check(t, "live", map[string]int{"message": 6, "thought": 1, "call": 2, "callUpdate": 2, "plan": 1, "usage": 1, "commands": 1, "mode": 1})

	again, replayed := connect(t, home)
	if _, err := again.LoadSession(ctx, acp.LoadSessionRequest{SessionId: id, Cwd: workdir, McpServers: []acp.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	list, err := again.ListSessions(ctx, acp.ListSessionsRequest{})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != id {
		t.Errorf("session/list gave %+v, %v", list, err)
	}
	prompt(again, question)
	replayed.check(t, "replayed", map[string]int{"user": 6, "message": 7, "thought": 1, "call": 2, "callUpdate": 2, "plan": 1, "commands": 1})
	if last := replayed.updates[len(replayed.updates)-1]; last.AgentMessageChunk.Content.Text.Text != "The codeword is ZEBRA." {
		t.Errorf("the last update is %+v", last)
	}
}

// check counts the updates by the kind that the library took them for.
func (c *sdkClient) check(t *testing.T, when string, want map[string]int) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	got := map[string]int{}
	for _, u := range c.updates {
		for kind, is := range map[string]bool{
			"user": u.UserMessageChunk != nil, "message": u.AgentMessageChunk != nil, "thought": u.AgentThoughtChunk != nil,
			"call": u.ToolCall != nil, "callUpdate": u.ToolCallUpdate != nil, "plan": u.Plan != nil, "usage": u.UsageUpdate != nil,
			"commands": u.AvailableCommandsUpdate != nil, "mode": u.CurrentModeUpdate != nil,
		} {
			if is {
				got[kind]++
			}
		}
	}
	for kind, n := range want {
		if got[kind] != n {
			t.Errorf("%s: %d updates of kind %s, want %d", when, got[kind], kind, n)
		}
	}
}
