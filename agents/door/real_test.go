package door_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"xmd/agents/agenttest"
	"xmd/agents/door"
	"xmd/runtime"
)

// scenarios are the server scenarios of the pinned suite: "" is passed, all else says why it does not apply. A scenario that the suite lists
// and this does not fails the test.
var scenarios = map[string]string{
	"server-initialize":             "",
	"ping":                          "",
	"tools-list":                    "",
	"tools-call-simple-text":        "",
	"tools-call-error":              "",
	"json-schema-2020-12":           "",
	"server-sse-multiple-streams":   stateless,
	"server-sse-polling":            stateless,
	"dns-rebinding-protection":      "",
	"tools-call-image":              textOnly,
	"tools-call-audio":              textOnly,
	"tools-call-embedded-resource":  textOnly,
	"tools-call-mixed-content":      textOnly,
	"tools-call-with-logging":       noStream,
	"tools-call-with-progress":      noStream,
	"tools-call-sampling":           noStream,
	"tools-call-elicitation":        noStream,
	"elicitation-sep1034-defaults":  noStream,
	"elicitation-sep1330-enums":     noStream,
	"logging-set-level":             toolsOnly,
	"completion-complete":           toolsOnly,
	"resources-list":                toolsOnly,
	"resources-read-text":           toolsOnly,
	"resources-read-binary":         toolsOnly,
	"resources-templates-read":      toolsOnly,
	"resources-subscribe":           toolsOnly,
	"resources-unsubscribe":         toolsOnly,
	"prompts-list":                  toolsOnly,
	"prompts-get-simple":            toolsOnly,
	"prompts-get-with-args":         toolsOnly,
	"prompts-get-embedded-resource": toolsOnly,
	"prompts-get-with-image":        toolsOnly,
}

const (
	textOnly  = "the result of a tool is text"
	noStream  = "answers are JSON: the server sends no notifications and asks nothing"
	stateless = "the server is stateless: no session ids, no streams to come back to"
	toolsOnly = "the server has tools only"
)

// httpItself are the scenarios that look at HTTP, which is the test's own where the shim is asked.
var httpItself = []string{"dns-rebinding-protection"}

// The tools that the suite asks for.
var suiteTools = []runtime.Tool{
	{Name: "test_simple_text", Description: "Says a simple text."},
	{Name: "test_error_handling", Description: "Fails."},
	{Name: "json_schema_2020_12_tool", Description: "Has a schema with references.", Schema: json.RawMessage(`{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
		"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}, "additionalProperties": false}`)},
}

func suiteCall(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
	if use.Name == "test_error_handling" {
		return runtime.ToolAnswer{Text: "This tool intentionally returns an error for testing", Failed: true}
	}
	return runtime.ToolAnswer{Text: "This is a simple text response for testing."}
}

// The suite of the protocol's own people, over HTTP and through the shim. It needs XMD_REAL=1, its program and Node 22 in the cache, and
// XMD_REAL_BIN (xmd) for the shim.
func TestRealConformance(t *testing.T) {
	if os.Getenv("XMD_REAL") != "1" {
		t.Skip("set XMD_REAL=1 and XMD_REAL_BIN")
	}
	agenttest.Record(t, agenttest.Evidence{Agent: "MCP", Versions: "conformance 0.1.16", Over: "HTTP, door-shim",
		Shown: "the door passes the server scenarios of a tools-only server"})
	suite := newSuite(t)
	listed := suite.list()
	for name := range scenarios {
		if !slices.Contains(listed, name) {
			t.Errorf("the suite has no scenario %s", name)
		}
	}
	d := door.New(door.Options{Executable: os.Getenv("XMD_REAL_BIN")})
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	p, err := d.Admit(runtime.Admission{Tools: suiteTools, Call: suiteCall})
	if err != nil {
		t.Fatal(err)
	}
	byAddress, byShim := keyed(t, p.Server()), bridged(t, p.Shim())
	for _, name := range listed {
		reason, known := scenarios[name]
		switch {
		case !known:
			t.Errorf("the suite has a scenario that nobody judged: %s", name)
			continue
		case reason != "":
			continue
		}
		t.Run("http/"+name, func(t *testing.T) { suite.run(t, name, byAddress) })
		if !slices.Contains(httpItself, name) {
			t.Run("shim/"+name, func(t *testing.T) { suite.run(t, name, byShim) })
		}
	}
}

// suite is the installed program.
type suite struct {
	t           *testing.T
	node, index string
	dir         string // where it leaves its results
}

func newSuite(t *testing.T) *suite {
	t.Helper()
	s := &suite{t: t, dir: t.TempDir()}
	for name, into := range map[string]*string{"node22": &s.node, "mcp-conformance": &s.index} {
		program, err := agenttest.FindProgram(name)
		if err == nil {
			*into, err = program.Installed()
		}
		if err != nil {
			t.Skip(err)
		}
	}
	if os.Getenv("XMD_REAL_BIN") == "" {
		t.Skip("set XMD_REAL_BIN to a built xmd")
	}
	return s
}

func (s *suite) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.node, append([]string{s.index}, args...)...)
	cmd.Dir = s.dir
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// list gives the names of the server scenarios.
func (s *suite) list() []string {
	s.t.Helper()
	out, err := s.command(s.t.Context(), "list", "--server").CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v\n%s", err, out)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if word, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			name, _, _ := strings.Cut(word, " ")
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		s.t.Fatalf("no scenarios in\n%s", out)
	}
	return names
}

// run runs one scenario.
func (s *suite) run(t *testing.T, name, url string) {
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	out, err := s.command(ctx, "server", "--url", url, "--scenario", name).CombinedOutput()
	// A scenario that only warns has checked nothing.
	passed := regexp.MustCompile(`Passed: ([1-9][0-9]*)/([1-9][0-9]*), 0 failed, 0 warnings`).FindSubmatch(out)
	if err != nil || passed == nil || !bytes.Equal(passed[1], passed[2]) {
		t.Errorf("%v\n%s", err, out)
	}
}

// keyed is an address in front of the door for a client that can send no key. It adds the key, and the door's name for the loopback address,
// and passes everything else on as it is.
func keyed(t *testing.T, server runtime.MCPServer) string {
	host := strings.TrimSuffix(strings.TrimPrefix(server.URL, "http://"), "/mcp")
	var front *httptest.Server
	front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, server.URL, r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		out.Header, out.Host = r.Header.Clone(), r.Host
		if own := front.Listener.Addr().String(); r.Host == own {
			out.Host = host
			if r.Header.Get("Origin") == "http://"+own {
				out.Header.Del("Origin") // the suite's good request names one; the door takes none at all
			}
		}
		for _, h := range server.Headers {
			out.Header.Set(h.Name, h.Value)
		}
		response, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		for name, values := range response.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(response.StatusCode)
		_, _ = io.Copy(w, response.Body)
	}))
	t.Cleanup(front.Close)
	return front.URL + "/mcp"
}

// bridge makes a stdio server one by address, for a suite that knows no other.
type bridge struct {
	t     *testing.T
	stdin io.Writer

	mu      sync.Mutex
	waiting map[string]chan []byte // by the id
}

// bridged starts the shim as an agent would and gives the address of a bridge to it.
func bridged(t *testing.T, server runtime.MCPServer) string {
	cmd := exec.Command(server.Command, server.Args...)
	for _, pair := range server.Env {
		cmd.Env = append(cmd.Env, pair.Name+"="+pair.Value)
	}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	b := &bridge{t: t, stdin: stdin, waiting: map[string]chan []byte{}}
	read := make(chan struct{})
	go func() { defer close(read); b.read(stdout) }()
	front := httptest.NewServer(b)
	t.Cleanup(func() {
		front.Close()
		stdin.Close()
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("the shim: %v", err)
		}
	})
	return front.URL + "/mcp"
}

func (b *bridge) read(stdout io.Reader) {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		b.answered(line)
	}
}

func (b *bridge) answered(line []byte) {
	var m struct{ ID json.RawMessage }
	if err := json.Unmarshal(line, &m); err != nil {
		b.t.Errorf("the shim wrote %q", line)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if w := b.waiting[string(m.ID)]; w != nil {
		w <- line
		delete(b.waiting, string(m.ID))
	}
}

// ServeHTTP carries one message; the suite uses an id only once at a time.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var line bytes.Buffer
	var m struct{ ID json.RawMessage }
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Compact(&line, body) != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	answer := make(chan []byte, 1)
	b.mu.Lock()
	if m.ID != nil {
		b.waiting[string(m.ID)] = answer
	}
	_, err = b.stdin.Write(append(line.Bytes(), '\n'))
	b.mu.Unlock()
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadGateway)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		select {
		case text := <-answer:
			_, _ = w.Write(text)
		case <-r.Context().Done():
		}
	}
}
