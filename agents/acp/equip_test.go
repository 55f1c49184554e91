package acp

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"xmd/runtime"
)

// equipped is what the tests open a conversation with: the door by address, another server by command.
func equipped(listed <-chan struct{}) runtime.Equipment {
	return runtime.Equipment{Listed: listed, Servers: []runtime.MCPServer{
		{Name: "xmd", URL: "http://127.0.0.1:1/mcp", Headers: []runtime.Pair{{Name: "Authorization", Value: "Bearer k"}}, Own: true},
		{Name: "files", Command: "/bin/files", Env: []runtime.Pair{{Name: "A", Value: "b"}}},
	}}
}

const servers = `"mcpServers":[{"type":"http","name":"xmd","url":"http://127.0.0.1:1/mcp","headers":[{"name":"Authorization","value":"Bearer k"}]},` +
	`{"name":"files","command":"/bin/files","args":[],"env":[{"name":"A","value":"b"}]}]`

// What goes with a new conversation and with a loaded one.
func TestEquipment(t *testing.T) {
	const text = `Be "brief" & <kind>.`
	for name, c := range map[string]struct {
		profile   Profile
		new, load string
	}{
		"nowhere": {Profile{}, "", ""},
		"Grok":    {Profile{Instructions: Instructions{runtime.ChannelStart, "_meta.rules", "{text}"}}, `,"_meta":{"rules":TEXT}`, ""},
		"Claude": {
			Profile{Meta: []byte(`{"a":1}`), Instructions: Instructions{runtime.ChannelEvery, "_meta.systemPrompt", `{"append":{text}}`}},
			`,"_meta":{"a":1,"systemPrompt":{"append":TEXT}}`, `,"_meta":{"a":1,"systemPrompt":{"append":TEXT}}`,
		},
		"the protocol's own": {
			Profile{Meta: []byte(`{"a":1}`), Instructions: Instructions{runtime.ChannelStart, "systemPrompt", AppendPrompt}},
			`,"systemPrompt":{"mode":"append","content":[{"type":"text","text":TEXT}]},"_meta":{"a":1}`, `,"_meta":{"a":1}`,
		},
		"the door's own": {Profile{Instructions: Instructions{Channel: runtime.ChannelDoor}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for id, want := range map[string]string{"": c.new, "s": c.load} {
				p := newPeer(t, c.profile)
				p.c.shakes.http = true
				e := equipped(nil)
				if c.profile.Instructions.Member != "" {
					e.Instructions = text
				}
				if err := p.c.Equip(e); err != nil {
					t.Fatal(err)
				}
				method, named := "session/new", ""
				if id != "" {
					method, named = "session/load", `"sessionId":"s",`
				}
				ctx, stop := context.WithCancel(t.Context())
				go func() {
					defer stop()
					p.checks(method, `"params":{`+named+`"cwd":"/r",`+servers+strings.Replace(want, "TEXT", quoted(text), 1)+`}`)
				}()
				_, _ = p.c.Open(ctx, id) // what it is answered is no part of this
				p.end()
			}
		})
	}
}

func quoted(string) string { return "\"Be \\\"brief\\\" \\u0026 \\u003ckind\\u003e.\"" }

// checks reads a message, which must have these parameters.
func (p *peer) checks(method, params string) {
	if line := p.expect(method); !strings.Contains(line, params) {
		p.t.Errorf("got  %s\nwant %s", line, params)
	}
}

// What an agent does not take is refused before it is opened, not left out.
func TestEquipmentRefused(t *testing.T) {
	byAddress, byCommand := equipped(nil).Servers[:1], equipped(nil).Servers[1:]
	for name, c := range map[string]struct {
		http bool
		p    Profile
		e    runtime.Equipment
		want string
	}{
		"by address":   {false, Profile{}, runtime.Equipment{Servers: byAddress}, "by address, and xmd has one"},
		"by command":   {true, Profile{NoCommands: true}, runtime.Equipment{Servers: byCommand}, "by command, and files has one"},
		"instructions": {true, Profile{}, runtime.Equipment{Instructions: "x"}, "no place of its own for instructions"},
		"tools":        {true, Profile{}, runtime.Equipment{Tools: []runtime.Tool{{Name: "a"}}}, "takes tools from MCP servers only"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPeer(t, c.p)
			defer p.end()
			p.c.shakes.http = c.http
			wantKind(t, p.c.Equip(c.e), runtime.KindUnsupported, c.want)
			if address, command := p.c.Takes(); address != c.http || command == c.p.NoCommands {
				t.Errorf("takes %v, %v", address, command)
			}
		})
	}
}

func TestHandshakeServers(t *testing.T) {
	for result, want := range map[string]bool{
		`{"agentCapabilities":{"mcpCapabilities":{"http":true}}}`:  true,
		`{"agentCapabilities":{"mcpCapabilities":{"http":false}}}`: false,
		`{"agentCapabilities":{}}`:                                 false,
	} {
		if h, _ := parseHandshake([]byte(result)); h.http != want {
			t.Errorf("%s: %v", result, h.http)
		}
	}
}

// The first prompt waits until the agent knows its tools, no longer than it should, and says so if it may not know them. Later ones wait
// for nothing.
func TestReadiness(t *testing.T) {
	const never, already = 1, 2 // when the door is asked for its tools; 0: there is none
	grok, gemini := Profile{Ready: "_ready"}, Profile{AwaitsDoor: 5 * time.Second, DoorMissed: "it trusts nobody"}
	for name, c := range map[string]struct {
		profile Profile
		door    int
		ready   time.Duration // when the agent says so; 0: it does not
		waits   time.Duration
		said    string
	}{
		"nothing to wait for":      {grok, 0, 0, 0, ""},
		"no signal known":          {Profile{}, never, 0, 0, ""},
		"it says so":               {grok, never, 3 * time.Second, 3 * time.Second, ""},
		"it never says so":         {grok, never, 0, readyLimit, "X was not ready to use the workflow's tools within 10s: it may not know them yet."},
		"asked already":            {gemini, already, 0, 0, ""},
		"never asked":              {gemini, never, 0, 5 * time.Second, "X was not ready to use the workflow's tools within 5s: it trusts nobody."},
		"never asked, as expected": {Profile{AwaitsDoor: 2 * time.Second}, never, 0, 2 * time.Second, ""},
		"no door":                  {gemini, 0, 0, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, c.profile)
				defer p.end()
				var said []string
				p.c.shakes.http, p.c.id, p.c.notice = true, "s", func(s string) { said = append(said, s) }
				listed := make(chan struct{})
				if c.door == already {
					close(listed)
				}
				if c.door != 0 {
					if err := p.c.Equip(equipped(listed)); err != nil {
						t.Fatal(err)
					}
				}
				go func() {
					if c.ready > 0 {
						time.Sleep(c.ready)
						p.say(`{"method":"_ready","params":{"sessionId":"s"}}`)
						p.say(`{"method":"_ready","params":{"sessionId":"s"}}`)
					}
					for range 2 {
						p.expect("session/prompt")
						p.answer(`{"stopReason":"end_turn"}`)
					}
				}()
				for _, want := range []time.Duration{c.waits, 0} {
					begun := time.Now()
					if _, err := p.c.Prompt(t.Context(), runtime.Turn{}); err != nil {
						t.Error(err)
					}
					if took := time.Since(begun); took != want {
						t.Errorf("waited %s, want %s", took, want)
					}
				}
				if strings.Join(said, "\n") != c.said {
					t.Errorf("said %q, want %q", said, c.said)
				}
			})
		})
	}
}

// A prompt that is cancelled while it waits is not sent.
func TestReadinessCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, Profile{Ready: "_ready"})
		defer p.end()
		p.c.shakes.http = true
		if err := p.c.Equip(equipped(nil)); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		_, err := p.c.Prompt(ctx, runtime.Turn{})
		wantKind(t, err, runtime.KindCancelled, "")
	})
}

// An agent that leaves the door out, since a server of the person's own has its name, has no calls of the door's from then on.
func TestDoorLeftOut(t *testing.T) {
	const failed = `{"sessionUpdate":"tool_call","toolCallId":"mcp_startup.xmd.1","title":"mcp__xmd__startup","status":"failed","content":[{"type":"content","content":{"type":"text","text":"the name is taken"}}]}`
	const call = `{"sessionUpdate":"tool_call","toolCallId":"c","title":"xmd-submit","kind":"other"}`
	for name, c := range map[string]struct {
		before, within string
		want           string
		said           int
	}{
		"not":           {"", "", "submit", 0},
		"of another":    {strings.Replace(failed, "xmd.1", "xmdx.1", 1), "", "submit", 0},
		"before a turn": {failed, "", "", 1},
		"within one":    {"", failed, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPeer(t, Profile{DoorFailed: "mcp_startup.{server}.", DoorCall: DoorCall{Member: []string{"title"}, Form: "{server}-{tool}"}})
				defer p.end()
				var said, told []string
				p.c.shakes.http, p.c.id, p.c.notice = true, "s", func(s string) { said = append(said, s) }
				if err := p.c.Equip(equipped(nil)); err != nil {
					t.Fatal(err)
				}
				if c.before != "" {
					p.update(c.before)
					p.update(c.before)
					synctest.Wait()
				}
				go func() {
					p.expect("session/prompt")
					if c.within != "" {
						p.update(c.within)
					}
					p.update(call)
					p.answer(`{"stopReason":"end_turn"}`)
				}()
				_, err := p.c.Prompt(t.Context(), runtime.Turn{Sink: func(u runtime.Update) {
					if u.Tool != nil && u.Tool.ID == "c" {
						told = append(told, u.Tool.Door)
					}
				}})
				if err != nil || !slices.Equal(told, []string{c.want}) || len(said) != c.said {
					t.Errorf("%v, told %q, said %q", err, told, said)
				}
				if c.said > 0 && said[0] != "X did not start the workflow's tools: the name is taken" {
					t.Errorf("said %q", said)
				}
			})
		})
	}
}
