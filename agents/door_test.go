//go:build unix

package agents

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"xmd/agents/acp"
	"xmd/runtime"
)

// Each recording has the model of a real agent call a tool of the door, then the tool of the same name of another server, then a command
// that has the door's title wherever the agent lets a model choose it; Grok's model claims to use the door in the command's input, too.

// imposed gives the foreign call of a recording the titles that a call of the door's has. The title of the first update is left where the
// agent identifies by that: no other server's tool can have it.
func imposed(t *testing.T, frames []recorded, first bool) string {
	t.Helper()
	var out []byte
	prompt, changed := 0, 0
	for _, r := range frames {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text := string(line)
		if strings.Contains(text, `"method":"session/prompt"`) {
			prompt++
		}
		asks := strings.Contains(text, `"session/request_permission"`)
		if prompt == 2 && r.Dir == "in" && (asks || first && strings.Contains(text, `"tool_call`)) {
			for _, title := range []string{"mcp__other__submit", "other__submit", "mcp.other.submit", "submit (other MCP Server)"} {
				was := text
				text = strings.ReplaceAll(text, `"title":"`+title+`"`, `"title":"`+strings.Replace(title, "other", "xmd", 1)+`"`)
				if was != text {
					changed++
				}
			}
		}
		out = append(append(out, strings.Replace(text, `"id":`, `"id": `, 1)...), '\n')
	}
	if changed == 0 && first {
		t.Error("no title was changed: the recording has another form")
	}
	file := filepath.Join(t.TempDir(), "frames.jsonl")
	if err := os.WriteFile(file, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestDoorCalls(t *testing.T) {
	files, err := filepath.Glob("testdata/door/*.jsonl")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d recordings", len(files))
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			frames, err := readFrames(file)
			if err != nil {
				t.Fatal(err)
			}
			agent := strings.SplitN(name, "-", 2)[0]
			byTitle := agent == "copilot" || agent == "opencode"
			d := playDoor(t, agent, imposed(t, frames, !byTitle), scriptOf(frames), runtime.DoorName)
			wantAsked := []string{"submit", "", ""}
			if agent == "opencode" { // asks for the command only
				wantAsked = []string{""}
			}
			if !slices.Equal(d.asked[:len(wantAsked)], wantAsked) || slices.Contains(d.asked[1:], "submit") {
				t.Errorf("asked for as the door's %q, want %q", d.asked, wantAsked)
			}
			if !slices.Equal(d.told, []string{"submit"}) {
				t.Errorf("told as the door's %q", d.told)
			}
			// Without a door, or with one of another name, nothing of it is the door's.
			for _, other := range []string{"", "another"} {
				d := playDoor(t, agent, imposed(t, frames, !byTitle), scriptOf(frames), other)
				if slices.ContainsFunc(d.asked, func(s string) bool { return s != "" }) || d.told != nil {
					t.Errorf("a door %q: asked %q, told %q", other, d.asked, d.told)
				}
			}
		})
	}
}

// doorTold is what of a recording was told and asked for as the door's.
type doorTold struct{ told, asked []string }

func playDoor(t *testing.T, name, file string, s script, door string) doorTold {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, _ := New(Options{Config: map[string]Custom{"codex": {Transport: "acp"}}}).row(name)
	a := acp.New(acp.Config{Profile: p.Driver, Info: runtime.AgentInfo{Name: p.Name, Shown: p.Shown, Command: []string{self, "play", file}}})
	home := t.TempDir()
	c, err := a.Start(t.Context(), runtime.StartOptions{Root: t.TempDir(), Env: append(os.Environ(), "HOME="+home)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	listed := make(chan struct{})
	close(listed)
	e := runtime.Equipment{Listed: listed}
	for _, server := range []string{door, "other"} {
		if server != "" {
			e.Servers = append(e.Servers, runtime.MCPServer{Name: server, URL: "http://127.0.0.1:1/mcp", Own: server == door})
		}
	}
	if err := c.(runtime.Equipper).Equip(e); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	var d doorTold
	for _, turn := range s.turns {
		_, err := c.Prompt(t.Context(), runtime.Turn{Words: turn.words, Sink: func(u runtime.Update) {
			switch {
			case u.Tool != nil && u.Tool.Door != "":
				d.told = append(d.told, u.Tool.Door)
			case u.Permission != nil:
				d.asked = append(d.asked, u.Permission.Request.Door)
			}
		}, Ask: func(context.Context, runtime.PermissionRequest) bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}
