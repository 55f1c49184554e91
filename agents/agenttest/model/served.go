package model

import (
	"encoding/json"
	"slices"
)

// served names a tool of an MCP server as the agent offers it, with its input. In the Responses API a server may be a namespace of its
// own, apart from the name. A tool that an agent does not offer up front is called by the name it would have.
func (req Request) served(p piece) (namespace, name string, input any) {
	server, tool, in := p.args[0], p.args[1], json.RawMessage(p.args[2])
	if space := "mcp__" + server; slices.Contains(req.Tools, space+"."+tool) {
		return space, tool, in
	}
	for _, n := range []string{"mcp__" + server + "__" + tool, "mcp_" + server + "_" + tool, server + "-" + tool, server + "_" + tool} {
		if slices.Contains(req.Tools, n) {
			return "", n, in
		}
	}
	switch {
	case slices.Contains(req.Tools, "use_tool"): // Grok's one tool for all servers
		return "", "use_tool", map[string]any{"tool_name": server + "__" + tool, "tool_input": in}
	case req.API == "messages": // Claude offers them only to those who search
		return "", "mcp__" + server + "__" + tool, in
	}
	return "", tool, in
}
