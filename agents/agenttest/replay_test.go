package agenttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// recorded is one frame of testdata/frames, as a real adapter and a client exchanged it.
type recorded struct {
	Dir   string // "in" from the agent, "out" to it
	Frame json.RawMessage
}

// frame is the head of a JSON-RPC frame.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Cwd string `json:"cwd"`
	} `json:"params"`
}

func headOf(data []byte) frame {
	var f frame
	_ = json.Unmarshal(data, &f) // what it does not hold stays empty
	return f
}

// replayer plays the agent's side of a recording. It looks only at what comes in: a request is found again by its method, an
// answer by its id, and then everything follows that came before the client's next frame. What a client leaves out is passed
// over with its answer; what it asks beyond the recording is refused.
type replayer struct {
	frames []recorded
	at     int
	ids    map[string]json.RawMessage // recorded request id -> the one used now
	cwd    string
	out    io.Writer
}

// project is the folder that recordings name in place of the one they were made in.
const project = "/home/person/project"

// replay is the main of the test binary as an agent: it plays the recording in file.
func replay(file string, in io.Reader, out io.Writer) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	r := &replayer{ids: map[string]json.RawMessage{}, cwd: project, out: out}
	for line := range bytes.Lines(data) {
		var one recorded
		if err := json.Unmarshal(line, &one); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		r.frames = append(r.frames, one)
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := r.take(headOf(lines.Bytes())); err != nil {
			return err
		}
	}
	return lines.Err()
}

// take answers one frame of the client.
func (r *replayer) take(f frame) error {
	if f.Params.Cwd != "" {
		r.cwd = f.Params.Cwd
	}
	at := r.find(f)
	switch {
	case at >= 0 && f.Method != "" && f.ID != nil:
		r.ids[string(headOf(r.frames[at].Frame).ID)] = f.ID
	case at < 0 && f.Method != "" && f.ID != nil:
		_, err := fmt.Fprintf(r.out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not in the recording"}}`+"\n", f.ID)
		return err
	case at < 0:
		return nil
	}
	return r.play(at)
}

// find is the client's next frame in the recording that is of f's kind, or -1.
func (r *replayer) find(f frame) int {
	for i := r.at; i < len(r.frames); i++ {
		if r.frames[i].Dir != "out" {
			continue
		}
		if want := headOf(r.frames[i].Frame); want.Method == f.Method && (f.Method != "" || bytes.Equal(want.ID, f.ID)) {
			return i
		}
	}
	return -1
}

// play sends what follows the client's frame at that place.
func (r *replayer) play(at int) error {
	r.at = at + 1
	for ; r.at < len(r.frames) && r.frames[r.at].Dir == "in"; r.at++ {
		raw := r.frames[r.at].Frame
		if head := headOf(raw); head.Method == "" {
			id, asked := r.ids[string(head.ID)]
			if !asked {
				continue
			}
			raw = withID(raw, id)
		}
		line := strings.ReplaceAll(string(raw), project, r.cwd)
		if _, err := io.WriteString(r.out, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

func withID(raw, id json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return raw
	}
	members["id"] = id
	out, err := json.Marshal(members)
	if err != nil {
		return raw
	}
	return out
}
