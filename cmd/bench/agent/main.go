// Command agent is the neutral agent of the benchmarks: an ACP agent on stdio that does what a prompt's words say and nothing more. It
// knows nothing of xmd, and any ACP client can be measured with it.
//
//	anything            "pong: N", N being the number of the prompt in its session
//	CHUNKS n bytes      n message chunks of that many bytes, each ending in a line end
//	NUMBERED n bytes    the same of 11 bytes at least, each beginning with its number in ten digits, so that a loss and a change of
//	                    order show; made beforehand, so that the agent costs next to nothing
//	TOOLS n             n tool calls, each with its update
//	PERM                asks for a permission and says what the answer was
//	SLEEP ms            waits; a cancel ends the turn as cancelled
//	HANG                never answers, a cancel included
//	CRASH               dies in the turn, with 7
//	ERR                 answers with an error
//	JUNK                a line that is no JSON, then an answer
//
// With -sessions DIR a session is a file, so that session/load knows it in the next process; without, every id is known. With -log FILE
// each process adds lines "PID EVENT NANOSECONDS" there: start, prompt, answer, end.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	sessions := flag.String("sessions", "", "folder with a file for each session")
	log := flag.String("log", "", "file that is told when this process starts, is prompted, answers and ends")
	flag.Parse()
	a := newAgent(*sessions, *log)
	a.note("start")
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		var m message
		if len(line) > 1 && json.Unmarshal(line, &m) == nil {
			a.receive(m)
		}
		if err != nil {
			a.note("end")
			return
		}
	}
}

// message is a request, a notification or an answer.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string `json:"sessionId"`
		Prompt    []struct {
			Text string `json:"text"`
		} `json:"prompt"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
}

// agent is the state of the process.
type agent struct {
	dir, log string

	mu       sync.Mutex // of what is below
	out      *bufio.Writer
	made     int                     // sessions made
	asked    int                     // permissions asked
	turns    map[string]int          // prompts of each session that were answered with pong
	cancels  map[string]func()       // ends the running turn of a session
	answered map[string]chan message // the permissions that wait
}

func newAgent(dir, log string) *agent {
	return &agent{dir: dir, log: log, out: bufio.NewWriterSize(os.Stdout, 64<<10), turns: map[string]int{}, cancels: map[string]func(){}, answered: map[string]chan message{}}
}

// note adds a line to the log. One write, so that lines of several processes do not mix.
func (a *agent) note(event string) {
	if a.log == "" {
		return
	}
	f, err := os.OpenFile(a.log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%d %s %d\n", os.Getpid(), event, time.Now().UnixNano())
}

func (a *agent) receive(m message) {
	session := m.Params.SessionID
	switch m.Method {
	case "initialize":
		a.result(m.ID, `{"protocolVersion":1,"agentInfo":{"name":"bench-agent","version":"1.0.0"},"agentCapabilities":{"loadSession":true,`+
			`"promptCapabilities":{},"mcpCapabilities":{"http":true},"sessionCapabilities":{"resume":{},"close":{}}},"authMethods":[]}`)
	case "session/new":
		a.result(m.ID, `{"sessionId":`+quoted(a.newSession())+`}`)
	case "session/load", "session/resume":
		if a.dir != "" {
			if _, err := os.Stat(filepath.Join(a.dir, filepath.Base(session))); err != nil {
				a.fail(m.ID, -32002, "Resource not found: "+session)
				return
			}
		}
		a.result(m.ID, `{}`)
	case "authenticate", "session/close", "session/set_mode", "session/set_model", "session/set_config_option":
		a.result(m.ID, `{}`)
	case "session/prompt":
		a.prompt(m)
	case "session/cancel":
		a.mu.Lock()
		defer a.mu.Unlock()
		if cancel := a.cancels[session]; cancel != nil {
			cancel()
		}
	case "":
		a.mu.Lock()
		defer a.mu.Unlock()
		if waiting := a.answered[string(m.ID)]; waiting != nil {
			delete(a.answered, string(m.ID))
			waiting <- m
		}
	default:
		if len(m.ID) > 0 {
			a.fail(m.ID, -32601, "method not found: "+m.Method)
		}
	}
}

func (a *agent) newSession() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.made++
	id := fmt.Sprintf("bench-%d-%d-%d", os.Getpid(), time.Now().UnixNano(), a.made)
	if a.dir != "" {
		err := os.MkdirAll(a.dir, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(a.dir, id), nil, 0o600)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return id
}

// prompt begins a turn, which runs beside those of other sessions.
func (a *agent) prompt(m message) {
	a.note("prompt")
	var words strings.Builder
	for _, part := range m.Params.Prompt {
		words.WriteString(part.Text)
	}
	ended := make(chan struct{})
	var once sync.Once
	a.mu.Lock()
	a.cancels[m.Params.SessionID] = func() { once.Do(func() { close(ended) }) }
	a.mu.Unlock()
	t := turn{agent: a, id: m.ID, session: m.Params.SessionID, cancelled: ended}
	go t.run(strings.Fields(words.String()))
}

// send writes one line, and all that waits before it.
func (a *agent) send(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(line + "\n")
	if err := a.out.Flush(); err != nil {
		os.Exit(1) // nobody listens any more
	}
}

// put writes without sending. The writer keeps an error for the next send.
func (a *agent) put(text string) { _, _ = a.out.WriteString(text) }

func (a *agent) result(id json.RawMessage, result string) {
	a.send(`{"jsonrpc":"2.0","id":` + string(id) + `,"result":` + result + `}`)
}

func (a *agent) fail(id json.RawMessage, code int, text string) {
	a.send(`{"jsonrpc":"2.0","id":` + string(id) + `,"error":{"code":` + strconv.Itoa(code) + `,"message":` + quoted(text) + `}}`)
}

// quoted is a text as JSON.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		return `""`
	}
	return string(b)
}
