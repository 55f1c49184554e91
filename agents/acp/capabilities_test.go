package acp

import (
	"encoding/json"
	"reflect"
	"testing"

	"xmd/agents/link"
)

func TestCapabilities(t *testing.T) {
	for name, c := range map[string]struct {
		p    Profile
		told string
		want link.Capabilities
	}{
		"nothing but the version": {told: `{"protocolVersion":1}`, want: link.Capabilities{Servers: []string{"stdio"}}},
		"as Claude's adapter": {
			told: `{"protocolVersion":1,"agentCapabilities":{"_meta":{"x":1},"promptCapabilities":{"image":true},"mcpCapabilities":{"http":true,"sse":true},
				"loadSession":true,"sessionCapabilities":{"fork":{},"close":{},"list":{},"resume":{},"systemPrompt":{"mode":{}}}},
				"agentInfo":{"name":"@a/claude-agent-acp","version":"0.101.0"},"authMethods":[]}`,
			want: link.Capabilities{
				Name: "@a/claude-agent-acp", Version: "0.101.0", Load: true, List: true,
				More: []string{"close", "fork", "resume", "systemPrompt"}, Servers: []string{"http", "sse", "stdio"},
			},
		},
		"as Copilot": {
			p: Profile{DropsStdio: true},
			told: `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true,"sse":false,"acp":{}},
				"sessionCapabilities":{"close":{},"list":null,"delete":false,"_meta":{}}},"agentInfo":{"name":"Copilot","version":"1.0.102"},
				"authMethods":[{"id":"copilot-login","name":"Log in"},{"name":"no id"}]}`,
			want: link.Capabilities{
				Name: "Copilot", Version: "1.0.102", Load: true, More: []string{"close"}, Servers: []string{"http"}, SignIn: []string{"copilot-login"},
			},
		},
		"as Grok": {
			told: `{"protocolVersion":1,"_meta":{"agentVersion":"1.0.41"},"agentCapabilities":{"sessionCapabilities":{"list":{}}},
				"modes":{"currentModeId":"a","availableModes":[{"id":"a"},{"id":"b"}]}}`,
			want: link.Capabilities{Version: "1.0.41", List: true, Servers: []string{"stdio"}, Modes: []string{"a", "b"}},
		},
		"in another form": {
			told: `{"protocolVersion":1,"agentInfo":"me","authMethods":{"id":"x"},"agentCapabilities":{"loadSession":"yes","mcpCapabilities":true,"sessionCapabilities":["list"]}}`,
			want: link.Capabilities{Servers: []string{"stdio"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			shakes, protocol := parseHandshake(json.RawMessage(c.told))
			if protocol != "1" {
				t.Fatal(protocol)
			}
			got := (&conn{p: &c.p, shakes: shakes}).Capabilities(t.Context())
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v\nwant %+v", got, c.want)
			}
		})
	}
}
