package door_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"xmd/agents/door"
	"xmd/runtime"
)

// An attachment is admitted with the tools of its workflow; its agent calls one of them.
func Example() {
	d := door.New(door.Options{Executable: "xmd"})
	defer d.Close(context.Background())
	pass, err := d.Admit(runtime.Admission{
		Tools: []runtime.Tool{{Name: "greet", Description: "Greets.", Schema: json.RawMessage(
			`{"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]}`)}},
		Call: func(_ context.Context, use runtime.ToolUse) runtime.ToolAnswer {
			return runtime.ToolAnswer{Text: "called with " + string(use.Args)}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pass.Revoke()

	server := pass.Server() // what the agent is told
	request, _ := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"who":"Ada"}}}`))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(server.Headers[0].Name, server.Headers[0].Value)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(string(answer))
	// Output: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"called with {\"who\":\"Ada\"}"}]}}
}
