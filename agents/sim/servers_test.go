package sim

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"xmd/agents/door"
	"xmd/runtime"
)

// serverFaults are tested here, without a bubble: a network has its own time.
var serverFaults = map[string]bool{"no-mcp-http": true, "mcp-drops-stdio": true, "mcp-late": true}

var echoTool = runtime.Tool{Name: "echo", Description: "Says it.", Schema: json.RawMessage(
	`{"type":"object","properties":{"say":{"type":"string"}},"required":["say"]}`)}

// offered is a door of the test with the tool echo.
type offered struct {
	runtime.Pass
	began chan struct{} // a call whose words are "wait" has begun
	ended chan error    // and why it ended
}

func offer(t *testing.T) *offered {
	t.Helper()
	o := &offered{began: make(chan struct{}, 1), ended: make(chan error, 1)}
	d := door.New(door.Options{Executable: os.Args[0]})
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	pass, err := d.Admit(runtime.Admission{Tools: []runtime.Tool{echoTool}, Instructions: "Be brief.", Call: o.call})
	if err != nil {
		t.Fatal(err)
	}
	o.Pass = pass
	return o
}

func (o *offered) call(ctx context.Context, use runtime.ToolUse) runtime.ToolAnswer {
	switch {
	case strings.Contains(string(use.Args), "wait"):
		o.began <- struct{}{}
		<-ctx.Done()
		o.ended <- context.Cause(ctx)
	case strings.Contains(string(use.Args), "fail"):
		return runtime.ToolAnswer{Text: "it failed", Failed: true}
	}
	return runtime.ToolAnswer{Text: "heard " + string(use.Args)}
}

// byAddress and byCommand are entries of mcpServers.
func (o *offered) byAddress() object {
	s := o.Server()
	return object{"type": "http", "name": s.Name, "url": s.URL, "headers": pairs(s.Headers)}
}

func (o *offered) byCommand() object {
	s := o.Shim()
	env := append(pairs(s.Env), object{"name": "SIM_TEST_SHIM", "value": "1"}, object{"name": "GORACE", "value": "atexit_sleep_ms=0"})
	return object{"name": s.Name, "command": s.Command, "args": s.Args, "env": env}
}

func pairs(list []runtime.Pair) []any {
	var all []any
	for _, p := range list {
		all = append(all, object{"name": p.Name, "value": p.Value})
	}
	return all
}

func with(servers ...object) object { return cwd(object{"mcpServers": servers}) }

// granted answers permission requests with allow_once.
func granted(f frame) any {
	return object{"outcome": object{"outcome": "selected", "optionId": "sim:allow-once"}}
}

func refused(f frame) any {
	return object{"outcome": object{"outcome": "selected", "optionId": "sim:reject-once"}}
}

func TestServersAreCalled(t *testing.T) {
	for name, how := range map[string]func(*offered) object{"by address": (*offered).byAddress, "by command": (*offered).byCommand} {
		t.Run(name, func(t *testing.T) {
			o := offer(t)
			c := start(t, t.TempDir())
			c.answer = granted
			c.initialize()
			id := c.must("session/new", with(how(o)))["sessionId"].(string)
			select {
			case <-o.Listed():
			default:
				t.Error("the tools were not listed before session/new was answered")
			}
			c.says(id, "SERVERS", "xmd: echo; instructions: Be brief.")
			c.says(id, `CALL echo {"say":"hello"}`, `heard {"say":"hello"}`)
			c.says(id, `CALL echo {"say":"fail"}`, `it failed`)
			if text, _ := c.prompt(id, "CALL echo"); !strings.Contains(text, `"say" is missing`) {
				t.Errorf("without arguments: %s", text)
			}
			c.says(id, "CALL other", "no such tool available: other")
			if code := c.close(); code != 0 {
				t.Errorf("the agent ended with %d", code)
			}
		})
	}
}

func TestServersOfALoad(t *testing.T) {
	o := offer(t)
	home := t.TempDir()
	c := start(t, home)
	c.initialize()
	id := c.must("session/new", with(o.byAddress()))["sessionId"].(string)
	c.says(id, "SAY first", "first")
	c.must("session/load", cwd(object{"sessionId": id}))
	c.says(id, "SERVERS", "no MCP server") // exactly those of this load
	c.must("session/resume", cwd(object{"sessionId": id, "mcpServers": []object{o.byAddress()}}))
	c.says(id, "SERVERS", "xmd: echo; instructions: Be brief.")
	c.must("session/close", object{"sessionId": id})
	if code := c.close(); code != 0 {
		t.Errorf("the agent ended with %d", code)
	}
}

// The call is announced with what identifies it, asked for where the script says so, and its text is used in the reply.
func TestScriptCallsTools(t *testing.T) {
	o := offer(t)
	c := scripted(t, t.TempDir(), `<WhenPrompt template="Say {?words}">
  Asking.
  <CallTool name="echo" args={{"say": words}} ask as="found"/>
  It said: {found}.
</WhenPrompt>
<WhenPrompt template="free">
  <CallTool name="echo" server="xmd" args='{"say": "x"}' title="mine" kind="fetch"/>
  Done.
</WhenPrompt>
`)
	asked := make(chan frame, 2)
	answer := granted
	c.answer = func(f frame) any { asked <- f; return answer(f) }
	c.initialize()
	id := c.must("session/new", with(o.byAddress()))["sessionId"].(string)
	if text, stop := c.prompt(id, "Say hello"); !strings.HasSuffix(text, `It said: heard {"say":"hello"}.`) || stop != "end_turn" {
		t.Errorf("%s (%s)", text, stop)
	}
	request := <-asked
	for _, part := range []string{`"_meta":{"sim":{"server":"xmd","tool":"echo"}}`, `"title":"echo (xmd)"`, `"rawInput":{"say":"hello"}`, `"kind":"other"`} {
		if !strings.Contains(string(request.Params), part) {
			t.Errorf("the request lacks %s: %s", part, request.Params)
		}
	}
	c.says(id, "free", "Done.")
	if len(asked) > 0 {
		t.Error("a call without ask asked")
	}
	shown := strings.Join(c.seen(), "\n")
	if !strings.Contains(shown, `"title":"mine"`) || !strings.Contains(shown, `"kind":"fetch"`) {
		t.Errorf("title and kind are not the script's: %s", shown)
	}
	answer = refused
	if text, _ := c.prompt(id, "Say no"); !strings.HasSuffix(text, "It said: permission to call this tool was refused.") {
		t.Error(text)
	}
}

func TestCancelledToolCall(t *testing.T) {
	for name, how := range map[string]func(*offered) object{"by address": (*offered).byAddress, "by command": (*offered).byCommand} {
		t.Run(name, func(t *testing.T) {
			o := offer(t)
			c := start(t, t.TempDir())
			c.answer = granted
			c.initialize()
			id := c.must("session/new", with(how(o)))["sessionId"].(string)
			prompt := c.send("session/prompt", words(id, `CALL echo {"say":"wait"}`))
			<-o.began
			c.write(object{"jsonrpc": "2.0", "method": "session/cancel", "params": object{"sessionId": id}})
			if f := c.reply(prompt); !strings.Contains(string(f.Result), `"stopReason":"cancelled"`) {
				t.Errorf("%s %v", f.Result, f.Error)
			}
			if cause := <-o.ended; cause == nil || errors.Is(cause, context.Canceled) {
				t.Errorf("the call was ended by %v", cause)
			}
		})
	}
}

func TestServerFaults(t *testing.T) {
	o := offer(t)
	t.Run("no-mcp-http", func(t *testing.T) {
		c := start(t, t.TempDir(), "no-mcp-http")
		caps := c.initialize()["agentCapabilities"].(map[string]any)["mcpCapabilities"].(map[string]any)
		if caps["http"] != false {
			t.Errorf("announced: %v", caps)
		}
		c.fails("session/new", with(o.byAddress()), -32602)
		id := c.must("session/new", with(o.byCommand()))["sessionId"].(string)
		c.says(id, "SERVERS", "xmd: echo; instructions: Be brief.")
		c.close()
	})
	t.Run("mcp-drops-stdio", func(t *testing.T) {
		c := start(t, t.TempDir(), "mcp-drops-stdio")
		c.initialize()
		id := c.must("session/new", with(o.byCommand()))["sessionId"].(string)
		c.says(id, "SERVERS", "no MCP server")
		if s := c.stderr.String(); s != "" {
			t.Errorf("a word: %s", s)
		}
	})
	t.Run("mcp-late", func(t *testing.T) {
		late := offer(t)
		c := start(t, t.TempDir(), "mcp-late=200")
		c.initialize()
		id := c.must("session/new", with(late.byAddress()))["sessionId"].(string)
		c.says(id, "SERVERS", "no MCP server")
		select {
		case <-late.Listed():
		case <-time.After(20 * time.Second):
			t.Fatal("never connected")
		}
	})
	t.Run("unreachable", func(t *testing.T) {
		gone := offer(t)
		gone.Revoke()
		c := start(t, t.TempDir())
		c.initialize()
		id := c.must("session/new", with(gone.byAddress(), object{"name": "none", "command": "/no/such/program"}))["sessionId"].(string)
		c.says(id, "SERVERS", "no MCP server")
		if s := c.stderr.String(); !strings.Contains(s, "the MCP server xmd cannot be used") || !strings.Contains(s, "the MCP server none cannot be used") {
			t.Errorf("stderr: %s", s)
		}
		c.fails("session/new", with(object{"type": "sse", "name": "old", "url": "http://127.0.0.1:1/"}), -32602)
	})
}
