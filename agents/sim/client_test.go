package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"xmd/agents/door"
)

// TestMain makes the test binary the agent itself when asked, for the tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("SIM_TEST_SHIM") == "1" {
		os.Exit(door.ShimMain(context.Background(), os.Getenv(door.EnvAddress), os.Getenv(door.EnvKey), os.Stdin, os.Stdout, os.Stderr))
	}
	if os.Getenv("SIM_TEST_RUN") == "1" {
		os.Exit(Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Getenv))
	}
	os.Exit(m.Run())
}

// client is the smallest ACP client: it keeps every line in order. All of a test runs in a synctest bubble, so that
// quiet can tell that the agent has nothing more to say.
type client struct {
	t      *testing.T
	stdin  *io.PipeWriter
	cancel context.CancelFunc
	stderr *lockedBuffer
	answer func(frame) any // answers the agent's requests; nil: method not found

	mu    sync.Mutex
	lines []string
	pause chan struct{} // not nil: reading stops before the next line, until it is closed
	cond  chan struct{} // closed and renewed with each line
	next  int
	code  chan int
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs the agent over the home with these faults. It must be called in a bubble.
func start(t *testing.T, home string, faults ...string) *client {
	args := []string{"--home", home}
	for _, f := range faults {
		args = append(args, "--fault", f)
	}
	return startArgs(t, args...)
}

func startArgs(t *testing.T, args ...string) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{t: t, stdin: inW, cancel: cancel, stderr: &lockedBuffer{}, cond: make(chan struct{}), code: make(chan int, 1)}
	go func() {
		code := Main(ctx, args, inR, outW, c.stderr, func(string) string { return "" })
		outW.Close()
		inR.Close() // as the end of a process would
		c.code <- code
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		r := bufio.NewReader(outR)
		for {
			line, err := r.ReadString('\n')
			c.mu.Lock()
			pause := c.pause
			c.mu.Unlock()
			if pause != nil {
				<-pause
			}
			if line != "" {
				c.arrived(strings.TrimSuffix(line, "\n"))
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { inW.Close(); cancel(); <-read })
	return c
}

func (c *client) arrived(line string) {
	c.mu.Lock()
	c.lines = append(c.lines, line)
	close(c.cond)
	c.cond = make(chan struct{})
	c.mu.Unlock()
	var f frame
	if json.Unmarshal([]byte(line), &f) == nil && f.Method != "" && len(f.ID) > 0 {
		go c.respond(f)
	}
}

func (c *client) respond(f frame) {
	var result any
	if c.answer != nil {
		result = c.answer(f)
	}
	if result == nil {
		c.write(object{"jsonrpc": "2.0", "id": f.ID, "error": object{"code": -32601, "message": "no such method"}})
		return
	}
	c.write(object{"jsonrpc": "2.0", "id": f.ID, "result": result})
}

func (c *client) write(v any) { c.stdin.Write(encode(v)) }

// send sends a request and gives its id.
func (c *client) send(method string, params any) int {
	c.mu.Lock()
	c.next++
	id := c.next
	c.mu.Unlock()
	c.write(object{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id
}

// seen gives the lines up to now.
func (c *client) seen() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.lines...)
}

// quiet waits until nothing moves any more, and gives the lines up to then.
func (c *client) quiet() []string {
	synctest.Wait()
	return c.seen()
}

// reply waits for the answer to a request. An agent that ends or stays silent is a failure of the bubble (deadlock).
func (c *client) reply(id int) frame {
	c.t.Helper()
	for from := 0; ; {
		c.mu.Lock()
		lines, more := c.lines[from:], c.cond
		from += len(lines)
		c.mu.Unlock()
		for _, line := range lines {
			var f frame
			if json.Unmarshal([]byte(line), &f) == nil && f.Method == "" && string(f.ID) == fmt.Sprint(id) {
				return f
			}
		}
		select {
		case <-more:
		case code := <-c.code:
			c.code <- code
			c.t.Fatalf("the agent ended with %d before it answered request %d\nstderr: %s", code, id, c.stderr)
		}
	}
}

func (c *client) call(method string, params any) frame {
	c.t.Helper()
	return c.reply(c.send(method, params))
}

// must calls and decodes the result.
func (c *client) must(method string, params any) object {
	c.t.Helper()
	f := c.call(method, params)
	if f.Error != nil {
		c.t.Fatalf("%s: %v", method, f.Error)
	}
	var o object
	if err := json.Unmarshal(f.Result, &o); err != nil {
		c.t.Fatal(err)
	}
	return o
}

// fails calls and wants this error code.
func (c *client) fails(method string, params any, code int) *rpcError {
	c.t.Helper()
	f := c.call(method, params)
	if f.Error == nil || f.Error.Code != code {
		c.t.Fatalf("%s gave %s %v, want error %d", method, f.Result, f.Error, code)
	}
	return f.Error
}

func (c *client) initialize() object {
	c.t.Helper()
	return c.must("initialize", object{"protocolVersion": 1, "clientCapabilities": object{}})
}

var workdir = os.TempDir()

func cwd(more object) object {
	params := object{"cwd": workdir, "mcpServers": []any{}}
	for k, v := range more {
		params[k] = v
	}
	return params
}

// session initializes and makes a session.
func (c *client) session() string {
	c.t.Helper()
	c.initialize()
	return c.must("session/new", cwd(nil))["sessionId"].(string)
}

// loaded initializes and loads a session, giving the result and the updates from the request to quiet.
func (c *client) loaded(id string) (object, []update) {
	c.t.Helper()
	c.initialize()
	from := len(c.quiet())
	result := c.must("session/load", cwd(object{"sessionId": id}))
	return result, updates(c.quiet()[from:])
}

func words(id, text string) object {
	return object{"sessionId": id, "prompt": []any{object{"type": "text", "text": text}}}
}

// prompt sends words and gives the text of the answer's message chunks and the stop reason.
func (c *client) prompt(id, text string) (string, string) {
	c.t.Helper()
	from := len(c.seen())
	result := c.must("session/prompt", words(id, text))
	return said(updates(c.seen()[from:])), result["stopReason"].(string)
}

// says prompts and wants exactly this answer and a normal end.
func (c *client) says(id, text, want string) {
	c.t.Helper()
	if got, stop := c.prompt(id, text); got != want || stop != "end_turn" {
		c.t.Fatalf("%q was answered with %q (%s), want %q", text, got, stop, want)
	}
}

// ended waits for the end of the agent.
func (c *client) ended() int {
	code := <-c.code
	c.code <- code
	return code
}

// close ends stdin and gives the exit code.
func (c *client) close() int {
	c.stdin.Close()
	return c.ended()
}

// update is one session/update as a test looks at it.
type update struct {
	Kind       string         `json:"sessionUpdate"`
	MessageID  string         `json:"messageId"`
	Content    any            `json:"content"`
	Status     string         `json:"status"`
	Title      string         `json:"title"`
	ToolCallID string         `json:"toolCallId"`
	RawInput   map[string]any `json:"rawInput"`
	Entries    []planEntry    `json:"entries"`
	Used       int            `json:"used"`
	Meta       map[string]any `json:"_meta"`
}

func (u update) text() string {
	block, _ := u.Content.(map[string]any)
	s, _ := block["text"].(string)
	return s
}

// updates gives the session/updates among lines.
func updates(lines []string) []update {
	var all []update
	for _, line := range lines {
		var f struct {
			Method string
			Params struct{ Update *update }
		}
		if json.Unmarshal([]byte(line), &f) == nil && f.Method == "session/update" && f.Params.Update != nil {
			all = append(all, *f.Params.Update)
		}
	}
	return all
}

func said(all []update) string {
	var b strings.Builder
	for _, u := range all {
		if u.Kind == "agent_message_chunk" {
			b.WriteString(u.text())
		}
	}
	return b.String()
}

// kinds is the updates' kinds and texts, a line each with ⏎ for line ends, for comparing.
func kinds(all []update) string {
	var b strings.Builder
	for _, u := range all {
		line := u.Kind + " " + strings.ReplaceAll(u.text(), "\n", "⏎") + u.Title + " " + u.Status
		fmt.Fprintln(&b, strings.TrimSpace(line))
	}
	return strings.TrimSpace(b.String())
}

// bubble runs f in a synctest bubble.
func bubble(f func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { t.Parallel(); synctest.Test(t, f) }
}

// history makes a home with one session that was told the codeword and two more turns.
func history(t *testing.T) (home, id string) {
	home = t.TempDir()
	c := start(t, home)
	id = c.session()
	c.prompt(id, "My codeword is ZEBRA. Remember it.")
	c.prompt(id, "SAY second")
	c.prompt(id, "SAY third")
	if code := c.close(); code != 0 {
		t.Fatalf("the agent ended with %d", code)
	}
	return home, id
}

const question = "Which codeword did I give you at the start?"
