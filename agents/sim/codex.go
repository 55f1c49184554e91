package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// codexFlag makes `xmd sim` the program of Codex, as far as a conversation over its app-server and in its own interface goes:
//
//	xmd sim --codex --version
//	xmd sim --codex app-server
//	xmd sim --codex resume [-c SETTING]… ID
//
// Conversations are rollout files below $CODEX_HOME, else ~/.codex, each with the writer lock that Codex has.
const codexFlag = "--codex"

// codex is one process of it, with the thread it has open.
type codex struct {
	home string
	cwd  string
	conn *conn
	out  io.Writer // of the interface

	id, path string
	layer    string // of a thread that has no file yet
	heard    []string
	unlock   func()
}

// record is one line of a rollout.
type record struct {
	Timestamp string `json:"timestamp"`
	Type      string `json:"type"`
	Payload   any    `json:"payload"`
}

func codexMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	c := &codex{home: getenv("CODEX_HOME"), out: stdout, unlock: func() {}}
	if c.home == "" {
		c.home = filepath.Join(getenv("HOME"), ".codex")
	}
	var err error
	if c.cwd, err = os.Getwd(); err != nil {
		fmt.Fprintln(stderr, "codex:", err)
		return 1
	}
	defer func() { c.unlock() }()
	switch {
	case slices.Equal(args, []string{"--version"}):
		fmt.Fprintln(stdout, "codex-cli", Version)
	case slices.Equal(args, []string{"app-server"}):
		c.conn = newConn(stdout, faults{}, func() {})
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			readFrames(stdin, c.request, func() {})
		}()
		select {
		case <-ended:
		case <-ctx.Done():
			return 143
		}
	case len(args) >= 2 && args[0] == "resume":
		if err := c.resume(args[len(args)-1]); err != nil {
			fmt.Fprintln(stderr, "codex:", err)
			return 1
		}
		return c.talk(stdin)
	default:
		fmt.Fprintf(stderr, "codex: unexpected arguments %q\n", args)
		return 2
	}
	return 0
}

// codexParams are those members of requests that are looked at.
type codexParams struct {
	ThreadID     string `json:"threadId"`
	Instructions string `json:"developerInstructions"`
	Items        []struct {
		Role    string `json:"role"`
		Content []part `json:"content"`
	} `json:"items"`
	Input []part `json:"input"`
}

type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// request answers one request of the app-server's client.
func (c *codex) request(f frame) {
	var p codexParams
	if len(f.ID) == 0 || len(f.Params) > 0 && json.Unmarshal(f.Params, &p) != nil {
		return
	}
	var result any
	var err error
	switch f.Method {
	case "initialize":
		result = object{"userAgent": "xmd/" + Version + " (scripted)"}
	case "account/read":
		result = object{"requiresOpenaiAuth": false, "account": nil}
	case "thread/start":
		result, err = c.start(p.Instructions)
	case "thread/resume":
		err = c.open(p.ThreadID)
		result = c.thread()
	case "thread/inject_items":
		var texts []record
		for _, it := range p.Items {
			texts = append(texts, message(it.Role, it.Content...))
		}
		result, err = object{}, c.write(texts...)
	case "turn/start":
		c.turn(f.ID, p.Input)
		return
	default:
		err = &rpcError{Code: -32601, Message: "method not found: " + f.Method}
	}
	var refused *rpcError
	if err != nil && !errors.As(err, &refused) {
		refused = &rpcError{Code: -32600, Message: err.Error()}
	}
	c.conn.reply(f.ID, result, refused)
}

func (c *codex) thread() any {
	return object{"thread": object{"id": c.id, "path": c.path}, "model": "scripted"}
}

// start makes a thread that has no file until something is in it.
func (c *codex) start(layer string) (any, error) {
	c.id, c.layer = newID(), layer
	t := time.Now().UTC()
	c.path = filepath.Join(c.home, "sessions", t.Format("2006/01/02"), "rollout-"+t.Format("2006-01-02T15-04-05")+"-"+c.id+".jsonl")
	return c.thread(), c.lock()
}

// lock takes the thread's writer lock.
func (c *codex) lock() error {
	dir := filepath.Join(c.home, "thread-writer-locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, c.id+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := flock(f); err != nil {
		_ = f.Close()
		return &rpcError{Code: -32600, Message: "thread " + c.id + " already has an active writer"}
	}
	c.unlock = func() { _ = f.Close() }
	return nil
}

// write adds records to the thread's file, which begins with what the thread is.
func (c *codex) write(records ...record) error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	if _, err := os.Stat(c.path); errors.Is(err, fs.ErrNotExist) {
		head := []record{{Type: "session_meta", Payload: object{"id": c.id, "cwd": c.cwd, "cli_version": Version}}}
		if c.layer != "" {
			head = append(head, message("developer", part{"input_text", c.layer}))
		}
		records = append(head, records...)
	}
	f, err := os.OpenFile(c.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	var text []byte
	for _, r := range records {
		r.Timestamp = now()
		text = append(text, encode(r)...)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

func message(role string, content ...part) record {
	return record{Type: "response_item", Payload: object{"type": "message", "role": role, "content": content}}
}

// open finds a thread's file, locks the thread and reads what was said.
func (c *codex) open(id string) error {
	found, err := filepath.Glob(filepath.Join(c.home, "sessions", "*", "*", "*", "rollout-*-"+filepath.Base(id)+".jsonl"))
	if err != nil || len(found) != 1 {
		return &rpcError{Code: -32600, Message: "no rollout found for thread id " + id}
	}
	c.id, c.path = id, found[0]
	if err := c.lock(); err != nil {
		return err
	}
	f, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r struct {
			Payload struct {
				Role    string `json:"role"`
				Content []part `json:"content"`
			} `json:"payload"`
		}
		if json.Unmarshal(lines.Bytes(), &r) != nil || len(r.Payload.Content) == 0 {
			continue
		}
		text := r.Payload.Content[0].Text
		if r.Payload.Role == "user" {
			c.heard = append(c.heard, text)
		}
		if c.conn == nil {
			fmt.Fprintf(c.out, "[%s] %s\r\n", r.Payload.Role, text)
		}
	}
	return nil
}

// answer takes one turn and gives its answer, as soon as it is in the file.
func (c *codex) answer(turn, words string) (string, error) {
	said := plainAnswer(c.heard, words)
	c.heard = append(c.heard, words)
	return said, c.write(record{Type: "event_msg", Payload: object{"type": "task_started", "turn_id": turn}},
		message("user", part{"input_text", words}), message("assistant", part{"output_text", said}),
		record{Type: "event_msg", Payload: object{"type": "task_complete", "turn_id": turn}})
}

// turn is one turn over the app-server.
func (c *codex) turn(request json.RawMessage, input []part) {
	var words strings.Builder
	for _, p := range input {
		words.WriteString(p.Text)
	}
	id := newID()
	tell := func(method, member string, v any) {
		c.conn.notify(method, object{"threadId": c.id, "turnId": id, member: v}, true)
	}
	c.conn.reply(request, object{"turn": object{"id": id, "status": "inProgress"}}, nil)
	tell("turn/started", "turn", object{"id": id, "status": "inProgress"})
	said, err := c.answer(id, words.String())
	if err != nil {
		tell("turn/completed", "turn", object{"id": id, "status": "failed", "error": object{"message": err.Error()}})
		return
	}
	tell("item/started", "item", object{"type": "userMessage", "id": id + "-user"})
	tell("item/completed", "item", object{"type": "agentMessage", "id": id + "-agent", "text": said})
	tell("turn/completed", "turn", object{"id": id, "status": "completed"})
}

// resume shows a conversation to a person.
func (c *codex) resume(id string) error {
	fmt.Fprintf(c.out, "codex, thread %s\r\n", id)
	return c.open(id)
}

// talk takes turns of a person until /quit or the end of the input, and gives the exit code.
func (c *codex) talk(stdin io.Reader) int {
	in := bufio.NewReader(stdin)
	for {
		fmt.Fprint(c.out, "codex> ")
		line, err := in.ReadString('\n')
		line = strings.TrimSpace(line)
		if line == "/quit" || err != nil {
			return 0
		}
		if line == "" {
			continue
		}
		said, err := c.answer(newID(), line)
		if err != nil {
			fmt.Fprintln(c.out, "codex:", err)
			return 1
		}
		fmt.Fprintf(c.out, "%s\r\n", said)
	}
}
