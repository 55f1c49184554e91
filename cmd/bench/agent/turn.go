package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// turn is one prompt that is being answered.
type turn struct {
	*agent
	id        json.RawMessage
	session   string
	cancelled <-chan struct{}
}

// run does what the words say and answers.
func (t *turn) run(words []string) {
	words = append(words, "", "", "")
	n, size := number(words[1]), number(words[2])
	stop := "end_turn"
	switch words[0] {
	case "CHUNKS":
		t.chunks(n, size)
	case "NUMBERED":
		t.numbered(n, size)
	case "TOOLS":
		t.tools(n)
	case "PERM":
		t.permission()
	case "SLEEP":
		select {
		case <-time.After(time.Duration(n) * time.Millisecond):
			t.say("slept")
		case <-t.cancelled:
			stop = "cancelled"
		}
	case "HANG":
		return
	case "CRASH":
		t.say("about to crash")
		os.Exit(7)
	case "ERR":
		t.fail(t.id, -32603, "scripted failure")
		return
	case "JUNK":
		t.send("this is not json")
		t.say("after junk")
	default:
		t.mu.Lock()
		t.turns[t.session]++
		count := t.turns[t.session]
		t.mu.Unlock()
		t.say(fmt.Sprint("pong: ", count))
	}
	t.note("answer")
	t.result(t.id, `{"stopReason":"`+stop+`"}`)
}

func number(word string) int {
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// update is the frame of an update of this session.
func (t *turn) update(update string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":` + quoted(t.session) + `,"update":` + update + `}}`
}

func (t *turn) say(text string) {
	t.send(t.update(chunk(text)))
}

func chunk(text string) string {
	return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + quoted(text) + `}}`
}

// chunks writes n chunks of one size, each made anew, as an agent does that has something to say.
func (t *turn) chunks(n, size int) {
	text := strings.Repeat("x", max(size-1, 0)) + "\n"
	t.mu.Lock()
	defer t.mu.Unlock()
	for range n {
		frame, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "session/update", "params": map[string]any{
			"sessionId": t.session,
			"update":    map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": text}},
		}})
		if err != nil || !t.write(append(frame, '\n')) {
			return
		}
	}
}

// digits is how many a numbered chunk begins with.
const digits = 10

// numbered writes n chunks of one size. The frame is made once and only its number changes, so that the agent's own work is next to
// nothing, and all that takes time is the client's.
func (t *turn) numbered(n, size int) {
	mark := strings.Repeat("0", digits)
	frame := []byte(t.update(chunk(mark+strings.Repeat("x", max(size-1-digits, 0))+"\n")) + "\n")
	at := bytes.LastIndex(frame, []byte(`"text":"`+mark)) + len(`"text":"`)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range n {
		copy(frame[at:at+digits], fmt.Appendf(nil, "%0*d", digits, i))
		if !t.write(frame) {
			return
		}
	}
}

// write says whether anybody still listens.
func (t *turn) write(frame []byte) bool {
	_, err := t.out.Write(frame)
	return err == nil
}

// tools writes n tool calls and that they are done.
func (t *turn) tools(n int) {
	t.mu.Lock()
	for i := range n {
		id := `"toolCallId":"t` + strconv.Itoa(i) + `"`
		t.put(t.update(`{"sessionUpdate":"tool_call",`+id+`,"title":"Read file","kind":"read","status":"pending"}`) + "\n")
		t.put(t.update(`{"sessionUpdate":"tool_call_update",`+id+`,"status":"completed"}`) + "\n")
	}
	t.mu.Unlock()
	t.say("done")
}

// permission asks for one and says what the answer was.
func (t *turn) permission() {
	answer := make(chan message, 1)
	t.mu.Lock()
	t.asked++
	id := strconv.Itoa(9000 + t.asked)
	t.answered[id] = answer
	t.mu.Unlock()
	t.send(`{"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":` + quoted(t.session) +
		`,"toolCall":{"toolCallId":"p1","title":"Write file","kind":"edit","status":"pending"},"options":[` +
		`{"optionId":"y","name":"Allow","kind":"allow_once"},{"optionId":"n","name":"Reject","kind":"reject_once"}]}}`)
	t.say("permission " + string((<-answer).Result))
}
