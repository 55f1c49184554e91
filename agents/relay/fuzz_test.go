package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"xmd/lang/expr"
	"xmd/lang/schema"
	"xmd/runtime"
)

// scripted is a server whose answers are given; what is no request it does not answer.
func scripted(in io.Reader, out io.WriteCloser, tools, call []byte) {
	defer out.Close()
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		result := []byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
		switch m.Method {
		case "tools/list":
			result = tools
		case "tools/call":
			result = call
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result); err != nil {
			return
		}
	}
}

// FuzzServer: whatever an MCP server lists and answers, its tools have schemas that the door can check, an answer is text, and neither takes
// longer than it may.
func FuzzServer(f *testing.F) {
	const text = `{"content":[{"type":"text","text":"a"}]}`
	for _, s := range []string{
		`{"tools":[{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}]}`, `{"tools":[]}`, `{"tools":null}`, `{}`, `[]`, `null`, `{`, "",
		`{"tools":[{"name":"","inputSchema":{"type":"string"}}]}`, `{"tools":[{"name":"a","inputSchema":{"type":"object","properties":7}}]}`, `{"tools":[],"nextCursor":"again"}`,
		`{"tools":[{"name":"a","inputSchema":{"type":"object","$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}}]}`, `{"tools":[{"name":"a","inputSchema":{"type":"object","pattern":"(","properties":{"a":{"pattern":"("}}}}]}`,
	} {
		f.Add([]byte(s), []byte(text))
	}
	for _, s := range []string{
		`{"content":[{"type":"image","data":"eA==","mimeType":"image/png"},{"type":"audio","data":"","mimeType":"\u001b"}]}`, `{"content":[{"type":"resource_link","uri":"u","name":"n"},{"type":"resource","resource":{"uri":"u","text":"t"}}]}`,
		`{"content":[{"type":"resource","resource":null}]}`, `{"content":[null]}`, `{"content":7}`, `{"isError":true}`, `null`, `{`, "{\"content\":[{\"type\":\"text\",\"text\":\"\xff\"}]}",
	} {
		f.Add([]byte(`{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`), []byte(s))
	}
	f.Fuzz(func(t *testing.T, tools, call []byte) {
		for _, part := range [][]byte{tools, call} {
			if !json.Valid(part) {
				return // lines are the wire's matter, not a result's
			}
		}
		// A server that always has another page is ended by the limit of Reach.
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		toServer, fromClient := io.Pipe()
		toClient, fromServer := io.Pipe()
		go scripted(toServer, fromServer, compact(tools), compact(call))
		session, err := mcp.NewClient(&mcp.Implementation{Name: "xmd", Version: "1"}, nil).Connect(ctx, &mcp.IOTransport{Reader: toClient, Writer: fromClient}, nil)
		if err != nil {
			t.Skip(err)
		}
		r := &reached{name: "s", session: session}
		defer func() { _ = r.Close(ctx) }()
		if err := r.list(ctx); err != nil && ctx.Err() == nil {
			return // it is said, and the server is not used
		}
		for _, tool := range r.Tools() {
			v, err := expr.ParseJSON(string(tool.Schema))
			if err != nil {
				t.Fatalf("the schema of %q is %s", tool.Name, tool.Schema)
			}
			if compiled, faults := schema.Compile(v); compiled == nil || len(faults) > 0 {
				t.Fatalf("the schema of %q cannot be checked: %v", tool.Name, faults)
			}
		}
		if a := r.Call(ctx, runtime.ToolUse{Name: "a"}); !utf8.ValidString(a.Text) {
			t.Fatalf("the answer is %q", a.Text)
		}
	})
}

// compact makes a value one line.
func compact(v []byte) []byte {
	out, err := json.Marshal(json.RawMessage(v))
	if err != nil {
		return []byte("null")
	}
	return out
}
