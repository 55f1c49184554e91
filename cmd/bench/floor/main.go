// Command floor is the least that a Go program can be which prompts an ACP agent: it starts it, shakes hands, sends one prompt some times
// over and writes what is said. No journal, no checks, no guardian, no second agent. What xmd takes is compared with what this takes.
//
//	floor PROMPT N AGENT [ARGUMENT…]
//
// stdout is the text of the replies, the last line of stderr the last result.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "floor:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: floor PROMPT N AGENT [ARGUMENT…]")
	}
	times, err := strconv.Atoi(args[1])
	if err != nil {
		return fmt.Errorf("the second argument is a number, not %q", args[1])
	}
	agent := exec.Command(args[2], args[3:]...)
	agent.Stderr = os.Stderr
	in, err := agent.StdinPipe()
	if err != nil {
		return err
	}
	out, err := agent.StdoutPipe()
	if err != nil {
		return err
	}
	if err := agent.Start(); err != nil {
		return err
	}
	c := &client{in: in, lines: bufio.NewReaderSize(out, 64<<10), text: bufio.NewWriterSize(os.Stdout, 64<<10)}
	if err := c.talk(args[0], times); err != nil {
		return errors.Join(err, in.Close(), out.Close(), agent.Wait())
	}
	return errors.Join(in.Close(), agent.Wait())
}

// client is a connection on which one thing is asked at a time.
type client struct {
	in    io.Writer
	lines *bufio.Reader
	long  []byte // of a line that is longer than the reader's buffer
	text  *bufio.Writer
	id    int
}

func (c *client) talk(prompt string, times int) error {
	if _, err := c.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{}}); err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	made, err := c.call("session/new", map[string]any{"cwd": dir, "mcpServers": []any{}})
	if err != nil {
		return err
	}
	var session struct {
		ID string `json:"sessionId"`
	}
	if err := json.Unmarshal(made, &session); err != nil {
		return err
	}
	words := []any{map[string]any{"type": "text", "text": prompt}}
	var result json.RawMessage
	for range times {
		if result, err = c.call("session/prompt", map[string]any{"sessionId": session.ID, "prompt": words}); err != nil {
			return err
		}
	}
	if err := c.text.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(os.Stderr, string(result))
	return err
}

// frame is what is looked at of a line.
type frame struct {
	ID     *int            `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	Params struct {
		Update struct {
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"update"`
	} `json:"params"`
}

// call asks and reads until the answer; what is said meanwhile goes to stdout.
func (c *client) call(method string, params any) (json.RawMessage, error) {
	c.id++
	ask, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.in.Write(append(ask, '\n')); err != nil {
		return nil, err
	}
	for {
		line, err := c.line()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		switch {
		case f.ID == nil:
			if _, err := c.text.WriteString(f.Params.Update.Content.Text); err != nil {
				return nil, err
			}
		case *f.ID == c.id && f.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, f.Error)
		case *f.ID == c.id:
			return f.Result, nil
		}
	}
}

// line reads a line of any length; it is good until the next one.
func (c *client) line() ([]byte, error) {
	line, err := c.lines.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	c.long = c.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) {
		c.long = append(c.long, line...)
		line, err = c.lines.ReadSlice('\n')
	}
	c.long = append(c.long, line...)
	return c.long, err
}
