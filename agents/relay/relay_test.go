package relay

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"xmd/agents/proc"
	"xmd/runtime"
)

// TestMain makes the test binary be a server on stdio where a test starts it as one.
func TestMain(m *testing.M) {
	proc.GuardianMain()
	switch os.Getenv("RELAY_TEST") {
	case "server":
		_ = newServer().Run(context.Background(), &mcp.StdioTransport{})
		os.Exit(0)
	case "broken":
		_, _ = os.Stderr.WriteString("no licence\n")
		os.Exit(3)
	case "silent":
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

type said struct {
	Say string `json:"say"`
}

// newServer is a server with an echo, a tool that fails, one that answers with an image, and one that hangs.
func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	text := func(t string) []mcp.Content { return []mcp.Content{&mcp.TextContent{Text: t}} }
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it again"}, func(_ context.Context, _ *mcp.CallToolRequest, in said) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: text(in.Say + os.Getenv("SUFFIX"))}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fails"}, func(context.Context, *mcp.CallToolRequest, said) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{IsError: true, Content: text("it broke")}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "draws"}, func(context.Context, *mcp.CallToolRequest, any) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: append(text("look:"), &mcp.ImageContent{MIMEType: "image/png", Data: []byte("xyz")})}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "hangs"}, func(ctx context.Context, _ *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
		select { // a server by URL learns nothing of a caller that has gone
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		return nil, nil, ctx.Err()
	})
	return s
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// try calls the server's tools.
func try(t *testing.T, r runtime.Reached, suffix string) {
	t.Helper()
	tools := map[string]runtime.Tool{}
	for _, tool := range r.Tools() {
		tools[tool.Name] = tool
	}
	if len(tools) != 4 || tools["echo"].Description != "says it again" || !strings.Contains(string(tools["echo"].Schema), `"say"`) {
		t.Errorf("tools %+v", tools)
	}
	for _, c := range []struct{ tool, args, want string }{
		{"echo", `{"say": "hello"}`, "hello" + suffix}, {"fails", `{"say": ""}`, "!it broke"}, {"draws", ``, "look:\n[an image, image/png, 3 bytes, which is not passed on]"},
		{"echo", `{"say": 3}`, "!"}, {"none", `{}`, "!the MCP server far did not answer: "},
	} {
		a := r.Call(context.Background(), runtime.ToolUse{Name: c.tool, Args: json.RawMessage(c.args)})
		got := a.Text
		if a.Failed {
			got = "!" + got
		}
		if got != c.want && (!strings.HasSuffix(c.want, " ") && c.want != "!" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.tool, got, c.want)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if a := r.Call(ctx, runtime.ToolUse{Name: "hangs"}); !a.Failed {
		t.Errorf("%+v", a)
	}
}

func TestByCommand(t *testing.T) {
	r, err := Relay{}.Reach(t.Context(), runtime.MCPServer{Name: "far", Command: self(t), Env: []runtime.Pair{{Name: "RELAY_TEST", Value: "server"}, {Name: "SUFFIX", Value: "!"}}},
		runtime.StartOptions{Root: t.TempDir(), Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	try(t, r, "!")
	for range 2 {
		if err := r.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if a := r.Call(context.Background(), runtime.ToolUse{Name: "echo", Args: json.RawMessage(`{"say": "x"}`)}); !a.Failed {
		t.Errorf("after its end: %+v", a)
	}
}

// TestByURL: the headers of the document reach the server, and no other host that it leads to.
func TestByURL(t *testing.T) {
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return newServer() }, nil)
	var strange []string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		strange = append(strange, r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case r.Header.Get("Authorization") != "Bearer secret":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	s := runtime.MCPServer{Name: "far", URL: server.URL, Headers: []runtime.Pair{{Name: "Authorization", Value: "Bearer secret"}}}
	r, err := Relay{}.Reach(t.Context(), s, runtime.StartOptions{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	try(t, r, "")
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
	s.URL += "/away"
	if _, err := (Relay{}).Reach(t.Context(), s, runtime.StartOptions{Root: t.TempDir()}); runtime.KindOf(err) != runtime.KindFailed || len(strange) == 0 || strange[0] != "" {
		t.Errorf("%v, the other host got %q", err, strange)
	}
	s.Headers = nil
	if _, err := (Relay{}).Reach(t.Context(), s, runtime.StartOptions{Root: t.TempDir()}); err == nil {
		t.Error("reached without its header")
	}
}

func TestCannotBeReached(t *testing.T) {
	for name, want := range map[string]string{"broken": "it said: no licence", "missing": "cannot be reached"} {
		s := runtime.MCPServer{Name: "far", Command: self(t), Env: []runtime.Pair{{Name: "RELAY_TEST", Value: name}}}
		if name == "missing" {
			s.Command = "/nowhere/at-all"
		}
		r, err := Relay{}.Reach(t.Context(), s, runtime.StartOptions{Root: t.TempDir(), Env: os.Environ()})
		if r != nil || runtime.KindOf(err) != runtime.KindFailed || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, context.Canceled)
	defer cancel()
	s := runtime.MCPServer{Name: "far", Command: self(t), Env: []runtime.Pair{{Name: "RELAY_TEST", Value: "silent"}}}
	if _, err := (Relay{}).Reach(ctx, s, runtime.StartOptions{Root: t.TempDir(), Env: os.Environ()}); runtime.KindOf(err) != runtime.KindCancelled {
		t.Errorf("%v", err)
	}
}

// TestArgsSchema: what the door cannot check, the server checks itself.
func TestArgsSchema(t *testing.T) {
	for given, want := range map[string]string{`{"type":"object","properties":{"a":{}}}`: "", `{"properties":{}}`: "open", `true`: "open", `{"type":"object","$ref":"https://x.example/s"}`: "open", `null`: "open"} {
		if want = map[string]string{"": given, "open": `{"type":"object"}`}[want]; string(argsSchema(json.RawMessage(given))) != want {
			t.Errorf("%s is %s", given, argsSchema(json.RawMessage(given)))
		}
	}
}
