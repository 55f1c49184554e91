package door_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"xmd/agents/agenttest"
	"xmd/agents/door"
	"xmd/runtime"
)

// realDoor is a door with one pass for real programs.
func realDoor(t *testing.T, call func(context.Context, runtime.ToolUse) runtime.ToolAnswer) runtime.Pass {
	t.Helper()
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("set XMD_REAL=1 and XMD_REAL_BIN")
	}
	if os.Getenv("XMD_REAL_BIN") == "" {
		t.Skip("set XMD_REAL_BIN to a built xmd")
	}
	d := door.New(door.Options{Executable: os.Getenv("XMD_REAL_BIN")})
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	p, err := d.Admit(runtime.Admission{Tools: suiteTools, Instructions: "Use the tools.", Call: call})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// installed gives the command of a pinned program.
func installed(t *testing.T, name string) string {
	t.Helper()
	program, err := agenttest.FindProgram(name)
	if err != nil {
		t.Fatal(err)
	}
	bin, err := program.Installed()
	if err != nil {
		t.Skip(err)
	}
	return bin
}

var connected = regexp.MustCompile(`(?m)^xmd: .* ✔ Connected$|✓ xmd: .* - Connected$`)

// The MCP clients of real agents shake hands with the door and with the shim: `mcp list` connects and says so. No model takes part.
func TestRealClients(t *testing.T) {
	for _, name := range []string{"claude-2.1.210", "claude-2.1.332", "gemini-0.58.0", "gemini-0.61.0"} {
		for _, over := range []string{"HTTP", "door-shim"} {
			t.Run(name+"/"+over, func(t *testing.T) {
				pass := realDoor(t, suiteCall)
				product, version, _ := strings.Cut(name, "-")
				agenttest.Record(t, agenttest.Evidence{Agent: strings.ToUpper(product[:1]) + product[1:], Versions: version, Over: over,
					Shown: "its MCP client connects to the door"})
				bin, home := installed(t, name), t.TempDir()
				server := pass.Server()
				if over != "HTTP" {
					server = pass.Shim()
				}
				setServer(t, product, home, server)
				out := listServers(t, bin, home)
				if !connected.MatchString(out) {
					t.Errorf("not connected:\n%s", out)
				}
			})
		}
	}
}

// setServer writes the settings file of a person who has this server.
func setServer(t *testing.T, product, home string, s runtime.MCPServer) {
	t.Helper()
	named := func(list []runtime.Pair) map[string]string {
		m := map[string]string{}
		for _, p := range list {
			m[p.Name] = p.Value
		}
		return m
	}
	entry := map[string]any{"command": s.Command, "args": s.Args, "env": named(s.Env)}
	if s.URL != "" {
		address := map[string]string{"claude": "url", "gemini": "httpUrl"}[product]
		entry = map[string]any{address: s.URL, "headers": named(s.Headers)}
	}
	if product == "claude" {
		entry["type"] = map[bool]string{true: "http", false: "stdio"}[s.URL != ""]
	}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{s.Name: entry}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, map[string]string{"claude": ".claude.json", "gemini": ".gemini/settings.json"}[product])
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func listServers(t *testing.T, bin, home string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, bin, "mcp", "list")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "GEMINI_CLI_TRUST_WORKSPACE=true")
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// slowClient is a client as the agents in Node have one, with shorter patience: fetch's own is five minutes for the header and for each part.
const slowClient = `
const { Agent, fetch } = require(process.argv[1]);
const patience = { headersTimeout: 20000, bodyTimeout: 20000 };
fetch(process.env.ADDRESS, { method: "POST", dispatcher: new Agent(patience), body: process.env.BODY,
  headers: { authorization: process.env.KEY, "content-type": "application/json", accept: "application/json, text/event-stream" },
}).then((r) => r.json()).then((answer) => console.log(answer.result.content[0].text), (e) => { console.error(e); process.exit(1); });
`

// A call that takes longer than a client in Node waits in silence.
func TestRealSlowCall(t *testing.T) {
	pass := realDoor(t, func(ctx context.Context, _ runtime.ToolUse) runtime.ToolAnswer {
		select {
		case <-time.After(50 * time.Second):
			return runtime.ToolAnswer{Text: "done"}
		case <-ctx.Done():
			return runtime.ToolAnswer{Text: "the client gave up", Failed: true}
		}
	})
	agenttest.Record(t, agenttest.Evidence{Agent: "MCP", Versions: "Node 22", Over: "HTTP", Shown: "a call that is slower than fetch's patience is answered"})
	undici := filepath.Join(filepath.Dir(installed(t, "mcp-conformance")), "../../../undici")
	s := pass.Server()
	cmd := exec.CommandContext(t.Context(), installed(t, "node22"), "-e", slowClient, undici)
	cmd.Env = append(os.Environ(), "ADDRESS="+s.URL, "KEY="+s.Headers[0].Value,
		`BODY={"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_simple_text"}}`)
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
