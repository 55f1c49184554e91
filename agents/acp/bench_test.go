package acp

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"xmd/agents/link"
	"xmd/runtime"
)

// prepared is an agent that answers the first request with lines made beforehand.
type prepared struct {
	asked chan struct{}
	text  io.Reader
}

func (p *prepared) Write(b []byte) (int, error) { p.asked <- struct{}{}; return len(b), nil }
func (p *prepared) Close() error                { return nil }
func (p *prepared) Read(b []byte) (int, error) {
	if p.asked != nil {
		<-p.asked
		p.asked = nil
	}
	return p.text.Read(b)
}

type nothingRuns struct{ done chan struct{} }

func (n nothingRuns) Hold(context.Context, *os.File) error { return nil }
func (n nothingRuns) Stop(context.Context) error           { return nil }
func (n nothingRuns) Done() <-chan struct{}                { return n.done }
func (n nothingRuns) Ending() string                       { return "" }
func (n nothingRuns) LastWords(int) []string               { return nil }

const chunkLine = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0198b3c2-7a7c-7d54-8f53-51d8b0c3c111","update":{"sessionUpdate":"agent_message_chunk","messageId":"msg_0123456789abcdef","content":{"type":"text","text":"twenty letters here "}}}}` + "\n"

// The hot path: one message chunk costs its text and next to nothing else.
func BenchmarkChunks(b *testing.B) {
	done := make(chan struct{})
	close(done)
	b.ReportAllocs()
	b.SetBytes(int64(len(chunkLine)))
	p := Profile{NoticeWithoutID: true}
	c := &conn{Link: link.Link{Proc: nothingRuns{done}}, p: &p, id: "0198b3c2-7a7c-7d54-8f53-51d8b0c3c111"}
	io := &prepared{asked: make(chan struct{}), text: io.MultiReader(
		&repeated{line: chunkLine, n: b.N},
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`+"\n"),
	)}
	connect(c, reader{io}, io, nil)
	n := 0
	res, err := c.Prompt(b.Context(), runtime.Turn{Words: "go", Sink: func(u runtime.Update) { n += len(u.Text) }})
	if err != nil || res.Stop != "end_turn" || n != b.N*20 {
		b.Fatalf("%d letters of %d, %+v, %v", n, b.N*20, res, err)
	}
}

type reader struct{ *prepared }

// repeated is a line n times.
type repeated struct {
	line string
	n    int
	at   int
}

func (r *repeated) Read(b []byte) (int, error) {
	total := 0
	for r.n > 0 && total < len(b) {
		m := copy(b[total:], r.line[r.at:])
		total += m
		if r.at += m; r.at == len(r.line) {
			r.at = 0
			r.n--
		}
	}
	if total == 0 {
		return 0, io.EOF
	}
	return total, nil
}
