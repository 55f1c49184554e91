package door

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"xmd/runtime"
)

// versions are the protocol versions that the agents were measured with. A client that asks for a newer one is offered the newest of these.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// newHandler is the MCP server of one pass. The SDK's own registry is not used: it sorts the tools by name.
func newHandler(p *pass, instructions string) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: runtime.DoorName, Version: "1"}, &mcp.ServerOptions{
		Instructions: instructions, SupportedProtocolVersions: versions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch r := req.(type) {
			case *mcp.ListToolsRequest:
				return p.listTools(r)
			case *mcp.CallToolRequest:
				return p.callTool(ctx, r)
			}
			return next(ctx, method, req)
		}
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody})
}

// listTools is tools/list: all on one page.
func (p *pass) listTools(r *mcp.ListToolsRequest) (mcp.Result, error) {
	if r.Params != nil && r.Params.Cursor != "" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is only one page"}
	}
	p.wasListed()
	// An empty scope, which the SDK sends to a client that did not discover the server, is a list that Grok 1.0.41 cannot read.
	return &mcp.ListToolsResult{Tools: p.tools.list, Cacheable: mcp.Cacheable{CacheScope: "private"}}, nil
}

// callKey is where a request's context has its call.
type callKey struct{}

// callTool is tools/call. What goes wrong in a known tool is an error of the tool: agents read those, and not the protocol's.
func (p *pass) callTool(ctx context.Context, r *mcp.CallToolRequest) (mcp.Result, error) {
	name := r.Params.Name
	if p.tools.schemas[name] == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown tool %q", name)}
	}
	args, err := p.tools.check(name, r.Params.Arguments)
	if err != nil {
		return result(runtime.ToolAnswer{Text: err.Error(), Failed: true}), nil
	}
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok || p.answer == nil {
		return result(runtime.ToolAnswer{Text: "the workflow does not answer " + name, Failed: true}), nil
	}
	return result(p.run(c, runtime.ToolUse{Name: name, Args: args, Meta: meta(r.Params.Meta)})), nil
}

// meta is _meta of a call in JSON; nil for none.
func meta(m mcp.Meta) json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil { // what was decoded from JSON encodes
		return nil
	}
	return text
}

// run answers a call, whatever the body does.
func (p *pass) run(c *call, use runtime.ToolUse) (answer runtime.ToolAnswer) {
	if !p.enter() {
		return ended(use.Name, errRevoked)
	}
	defer p.leave()
	defer c.signs(p.door.sign)()
	defer func() {
		if recover() != nil {
			answer = runtime.ToolAnswer{Text: "the tool " + use.Name + " broke down in the workflow; calling it again is of no use", Failed: true}
		}
	}()
	if err := context.Cause(c.ctx); err != nil {
		return ended(use.Name, err)
	}
	answer = p.answer(c.ctx, use)
	if err := context.Cause(c.ctx); err != nil {
		return ended(use.Name, err)
	}
	return answer
}

// ended is the answer to a call whose ctx ended.
func ended(name string, cause error) runtime.ToolAnswer {
	return runtime.ToolAnswer{Text: fmt.Sprintf("the call of %s was ended: %v", name, cause), Failed: true}
}

// result is text and nothing else: two agents show structured content instead of the text.
func result(a runtime.ToolAnswer) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: a.Text}}, IsError: a.Failed}
}
