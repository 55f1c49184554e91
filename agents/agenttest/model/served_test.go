package model

import "testing"

func TestServed(t *testing.T) {
	script := script(`TOOL xmd submit {"value":"a b"}`)
	if len(script) != 1 || len(script[0].pieces) != 1 {
		t.Fatalf("%+v", script)
	}
	for name, c := range map[string]struct {
		api         string
		tools       []string
		space, want string
		input       string
	}{
		"Codex":              {"responses", []string{"exec_command", "mcp__xmd", "mcp__xmd.submit"}, "mcp__xmd", "submit", `{"value":"a b"}`},
		"Codex's own tools":  {"responses", []string{"exec_command", "submit"}, "", "submit", `{"value":"a b"}`},
		"Claude, not listed": {"messages", []string{"Bash"}, "", "mcp__xmd__submit", `{"value":"a b"}`},
		"Gemini":             {"gemini", []string{"mcp_other_submit", "mcp_xmd_submit"}, "", "mcp_xmd_submit", `{"value":"a b"}`},
		"Copilot":            {"chat", []string{"other-submit", "xmd-submit"}, "", "xmd-submit", `{"value":"a b"}`},
		"OpenCode":           {"chat", []string{"xmd_submit"}, "", "xmd_submit", `{"value":"a b"}`},
		"Grok":               {"chat", []string{"use_tool"}, "", "use_tool", `{"tool_input":{"value":"a b"},"tool_name":"xmd__submit"}`},
	} {
		space, got, input := Request{API: c.api, Tools: c.tools}.served(script[0].pieces[0])
		if space != c.space || got != c.want || jsonText(input) != c.input {
			t.Errorf("%s: %q %q %s", name, space, got, jsonText(input))
		}
	}
}
