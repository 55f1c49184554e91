package wire

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

var updateKeys = []string{"sessionId", "update"}
var chunkKeys = []string{"sessionUpdate", "content"}

// chunkText decodes an update as the ACP driver does.
func chunkText(dst []byte, m *Message) []byte {
	var p, u [2][]byte
	Pick(m.Params, updateKeys, p[:])
	Pick(p[1], chunkKeys, u[:])
	if m.Method == "session/update" && Is(u[0], "agent_message_chunk") {
		dst, _ = AppendString(dst, Field(u[1], "text"))
	}
	return dst
}

type shape struct {
	name  string
	frame []byte
}

func shapes() []shape {
	escaped := strings.Replace(string(update(0)), `"text":""`, `"text":"`+strings.Repeat(`func main() {\n\tfmt.Println(\"é\")\n}\n`, 100)+`"`, 1)
	return []shape{{"20B", update(20)}, {"4KiB", update(4 << 10)}, {"4KiB-escaped", []byte(escaped)}, {"1MiB", update(1 << 20)}}
}

// BenchmarkUpdates is this connection alone, without an agent or a pipe.
func BenchmarkUpdates(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			var text []byte
			h := &counter{func(m *Message) { text = chunkText(text[:0], m) }}
			b.SetBytes(int64(len(s.frame)))
			b.ReportAllocs()
			listen(&repeat{frame: s.frame, n: b.N}, Options{Handler: h})
			if len(text) == 0 {
				b.Fatal("no text")
			}
		})
	}
}

// BenchmarkFloor is what a bare client with encoding/json needs for the same.
func BenchmarkFloor(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(int64(len(s.frame)))
			b.ReportAllocs()
			r := bufio.NewReaderSize(&repeat{frame: s.frame, n: b.N}, 1<<20)
			for {
				l, err := r.ReadBytes('\n')
				if err == io.EOF {
					return
				}
				var d struct {
					ID     *int            `json:"id"`
					Method string          `json:"method"`
					Result json.RawMessage `json:"result"`
					Params struct {
						Update struct {
							SessionUpdate string `json:"sessionUpdate"`
							Content       struct {
								Text string `json:"text"`
							} `json:"content"`
						} `json:"update"`
					} `json:"params"`
				}
				if json.Unmarshal(l, &d) != nil || d.Params.Update.Content.Text == "" {
					b.Fatal("no text")
				}
			}
		})
	}
}

func BenchmarkCall(b *testing.B) {
	fromAgent, agentOut := io.Pipe()
	agentIn, toAgent := io.Pipe()
	c := New(fromAgent, toAgent, Options{NoVersion: true})
	defer c.Close()
	go func() {
		for r := bufio.NewReader(agentIn); ; {
			l, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			io.WriteString(agentOut, `{"result":{},"id":`+string(Field(l, "id"))+"}\n")
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(b.Context(), "m", nil); err != nil {
			b.Fatal(err)
		}
	}
}
