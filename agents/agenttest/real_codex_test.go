package agenttest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"xmd/agents/agenttest/model"
	"xmd/runtime"
)

// Codex over its own app-server, and from one transport to the other.

func TestRealCodexServer(t *testing.T) {
	Wanted(t)
	for _, v := range codexVersions {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: v, Over: overServer, Shown: "conformance"})
			conforms(t, CodexServer(v))
		})
	}
}

// onServer runs a test on the oldest and the newest version and records it.
func onServer(t *testing.T, shown string, test func(t *testing.T, target Target)) {
	t.Helper()
	Wanted(t)
	for _, v := range []string{codexVersions[0], codexVersions[len(codexVersions)-1]} {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: v, Over: overServer, Shown: shown})
			ready(t, CodexServer(v))
			test(t, CodexServer(v))
		})
	}
}

// A conversation that was made over one transport goes on over the other, also with another version, and back.
func TestRealCodexTransports(t *testing.T) {
	Wanted(t)
	for _, c := range []struct {
		name, over string
		targets    []Target
	}{
		{"from ACP", overCodex + " → app-server → codex-acp", []Target{Codex("0.153.2"), CodexServer("0.153.2"), Codex("0.171.0"), CodexServer("0.171.0")}},
		{"to ACP", "app-server → " + overCodex + " → app-server", []Target{CodexServer("0.153.2"), Codex("0.171.0"), CodexServer("0.171.0"), Codex("0.153.2")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: "0.153.2, 0.171.0", Over: c.over, Shown: "a conversation goes on over the other transport"})
			for _, target := range c.targets {
				ready(t, target)
			}
			Upgrade(t, c.targets...)
		})
	}
}

func TestRealCodexServerKilled(t *testing.T) {
	onServer(t, "nothing stays when its owner is killed in a turn", Killed)
}

func TestRealCodexServerFlights(t *testing.T) {
	onServer(t, "what a load shows of a prompt that was in flight when everything was killed", Flights)
}

func TestRealCodexServerWords(t *testing.T) {
	onServer(t, "hostile prompts are found again in the history", func(t *testing.T, target Target) {
		Words(t, target, Corpus(t, corpusFile))
	})
}

func TestRealCodexServerAcceptance(t *testing.T) {
	onServer(t, "the provider's file has the words when they count as accepted", acceptance)
}

// limited makes Codex sum its conversation up when it has this many tokens.
func limited(t *testing.T, target Target, tokens string) Target {
	t.Helper()
	at := target.At
	target.At = func(t testing.TB, p Place) Reach {
		reach := at(t, p)
		file := filepath.Join(p.Home, ".codex", "config.toml")
		write(t, file, append([]byte("model_auto_compact_token_limit = "+tokens+"\n"), read(t, file)...))
		return reach
	}
	return target
}

// Codex sums a conversation up before it takes the words in: what it tells of that accepts nothing.
func TestRealCodexServerCompacted(t *testing.T) {
	onServer(t, "words count as accepted after a compaction, not before", func(t *testing.T, target Target) {
		p := newPlace(t, limited(t, target, "100"))
		l := p.start(t)
		id := l.open("").ID
		l.good(tell)
		const words = "Please say something about the sea, and then about the land."
		held, compacted := true, 0
		ctx, stop := limit(t)
		defer stop()
		res, err := l.Prompt(ctx, runtime.Turn{Words: words, Ask: allow, Sink: func(u runtime.Update) {
			if u.Kind == runtime.UpdateCompaction {
				compacted++
			}
			if u.Accepts && p.inFile(id, words) == 0 {
				held = false
			}
		}})
		if err != nil || res.Stop != "end_turn" || compacted != 1 || !held {
			t.Errorf("%+v, %v, compacted %d times, in the file when accepted: %v", res, err, compacted, held)
		}
		if u := res.Usage; u == nil || *u.InputTokens < 0 || *u.TotalTokens <= 0 {
			t.Errorf("usage %+v", u)
		}
		l.end()
		if h := p.start(t).open(id).History; !h.Known || !h.Compacted || h.UserTurns == 0 {
			t.Errorf("history %+v", h)
		}
	})
}

// A command that a cancelled turn leaves running is ended, one that an earlier turn began on purpose is not.
func TestRealCodexServerCancelledCommand(t *testing.T) {
	onServer(t, "the command of a cancelled turn is ended", func(t *testing.T, target Target) {
		p := newPlace(t, target)
		l := p.start(t)
		l.open("")
		ctx, cancel := limit(t)
		defer cancel()
		file := p.file("begun")
		done := make(chan struct{})
		var h *heard
		var err error
		go func() {
			defer close(done)
			h, err = l.promptWithin(ctx, "ASK touch "+file+" && tail -f /dev/null", allow)
		}()
		within(t, "the command", func() bool { return exists(file) })
		cancel()
		<-done
		if err != nil || h.Stop != "cancelled" || h.Late {
			t.Fatalf("%v, ended as %q, late: %v", err, h.Stop, h.Late)
		}
		within(t, "the end of the command", func() bool {
			for _, one := range Marked(p.mark) {
				if strings.Contains(one, "tail -f") {
					return false
				}
			}
			return true
		})
		if h := l.good("SAY still here"); h.answer() != "still here" {
			t.Errorf("afterwards: %q", h.answer())
		}
	})
}

// What the model may only read is asked for as such, and everything else as a command.
func TestRealCodexServerReads(t *testing.T) {
	onServer(t, "a command that only reads is asked for as a read", func(t *testing.T, target Target) {
		p := newPlace(t, target)
		write(t, p.file("a.txt"), []byte("inside\n"))
		l := p.start(t)
		l.open("")
		for words, kind := range map[string]string{"RUN cat a.txt": "read", "RUN grep -n inside a.txt": "search", "RUN cat a.txt > b.txt": "execute"} {
			h := l.prompt(words, func(_ context.Context, r runtime.PermissionRequest) bool {
				return r.Kind == "read" || r.Kind == "search"
			})
			if len(h.asked) != 1 || h.asked[0].Request.Kind != kind || h.asked[0].Allowed != (kind != "execute") {
				t.Errorf("%s: asked %+v", words, h.asked)
			}
		}
		if exists(p.file("b.txt")) {
			t.Error("what was refused happened")
		}
	})
}

// Mode, model and effort are what the next turn works with, and what is taken back is as it was. Nothing of it is written into the
// person's configuration.
func TestRealCodexServerSettings(t *testing.T) {
	onServer(t, "mode and effort can be chosen and taken back", func(t *testing.T, target Target) {
		server, err := model.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		target.Model = func(testing.TB) string { return server.URL() }
		p := newPlace(t, target)
		l := p.start(t)
		l.open("")
		config := read(t, filepath.Join(p.Home, ".codex", "config.toml"))
		configure := l.Connection.(runtime.Configurer).Configure
		for i, c := range []struct {
			runtime.Settings
			asks   int
			effort string // in what reaches the model
		}{
			{runtime.Settings{}, 1, ""},
			{runtime.Settings{Mode: "agent-full-access", Effort: "high"}, 0, `"effort":"high"`},
			{runtime.Settings{Mode: "workspace-write"}, 0, ""},
			{runtime.Settings{}, 1, ""},
		} {
			if err := configure(t.Context(), c.Settings); err != nil {
				t.Fatal(err)
			}
			file := p.file(fmt.Sprint("made", i))
			h := l.good("RUN touch " + file)
			// What was allowed runs in the sandbox first. Codex does it again outside when it notices why it failed, which it may not on a
			// machine that is busy.
			made := exists(file) || c.asks > 0 && strings.Contains(h.answer(), "Read-only file system")
			if len(h.asked) != c.asks || !made {
				t.Errorf("%+v: asked %d times, made: %v, answer %q", c.Settings, len(h.asked), exists(file), h.answer())
			}
			all := server.Requests()
			raw := string(all[len(all)-1].Raw)
			if c.effort != "" && !strings.Contains(raw, c.effort) || c.effort == "" && strings.Contains(raw, `"effort"`) {
				t.Errorf("%+v: effort %q is not what reached the model", c.Settings, c.effort)
			}
		}
		for _, bad := range []runtime.Settings{{Mode: "nonsense"}, {Model: "nonsense"}} {
			if err := configure(t.Context(), bad); runtime.KindOf(err) != runtime.KindFailed || !strings.Contains(err.Error(), "it offers") {
				t.Errorf("%+v: %v", bad, err)
			}
		}
		if now := read(t, filepath.Join(p.Home, ".codex", "config.toml")); string(now) != string(config) {
			t.Errorf("the person's configuration is now\n%s", now)
		}
	})
}

// A conversation that is made with instructions and no turn is kept, and what is told beside the words reaches the model, once.
func TestRealCodexServerInstructions(t *testing.T) {
	onServer(t, "instructions without a turn, and a word beside the prompt", func(t *testing.T, target Target) {
		server, err := model.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		target.Model = func(testing.TB) string { return server.URL() }
		p := newPlace(t, target)
		l := p.start(t)
		ctx, stop := limit(t)
		defer stop()
		id, err := l.Connection.(runtime.Beginner).NewDurable(ctx, "Always answer in rhymes.")
		if err != nil {
			t.Fatal(err)
		}
		l.end()
		if n := len(server.Requests()); n != 0 {
			t.Errorf("%d requests reached the model before any prompt", n)
		}
		l = p.start(t)
		o := l.open(id)
		if o.Asserted != id || !o.History.Known || o.History.UserTurns != 0 {
			t.Errorf("opened %+v", o)
		}
		informer := l.Connection.(runtime.Informer)
		informer.Inform("The working tree was changed by another agent.")
		l.good("SAY one")
		l.good("SAY two")
		l.end()
		all := server.Requests()
		texts := strings.Join(all[len(all)-1].Instructions, "\n")
		for text, want := range map[string]int{"Always answer in rhymes.": 1, "begun with the instructions above": 1, "<xmd>The working tree was changed by another agent.</xmd>": 1} {
			if got := strings.Count(texts, text); got != want {
				t.Errorf("%q reached the model %d times, want %d", text, got, want)
			}
		}
		o = p.start(t).open(id)
		if o.History.UserTurns != 2 || o.History.Newest[0].Words != runtime.FingerprintOf("SAY one") {
			t.Errorf("history %+v", o.History)
		}
	})
}

// An answer is held to a schema where it has the form for that.
func TestRealCodexServerSchema(t *testing.T) {
	onServer(t, "a schema in strict form reaches the model", func(t *testing.T, target Target) {
		server, err := model.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		target.Model = func(testing.TB) string { return server.URL() }
		p := newPlace(t, target)
		l := p.start(t)
		l.open("")
		for schema, want := range map[string]bool{
			`{"type":"object","properties":{"passed":{"type":"boolean"}},"required":["passed"],"additionalProperties":false}`: true,
			`{"type":"object","properties":{"passed":{"type":"boolean"}}}`:                                                    false,
		} {
			ctx, stop := limit(t)
			res, err := l.Prompt(ctx, runtime.Turn{Words: `SAY {"passed":true}`, Schema: []byte(schema), Ask: allow})
			stop()
			if err != nil || res.Stop != "end_turn" {
				t.Fatalf("%+v, %v", res, err)
			}
			all := server.Requests()
			if got := strings.Contains(string(all[len(all)-1].Raw), `"codex_output_schema"`); got != want {
				t.Errorf("%s reached the model: %v", schema, got)
			}
		}
	})
}

// Somebody who has not signed in is told so before anything is sent.
func TestRealCodexServerNotSignedIn(t *testing.T) {
	onServer(t, "a missing sign-in is said before a prompt is sent", func(t *testing.T, target Target) {
		at := target.At
		target.At = func(t testing.TB, p Place) Reach {
			reach := at(t, p)
			remove(t, filepath.Join(p.Home, ".codex", "config.toml"))
			return reach
		}
		newPlace(t, target).start(t).openError("", runtime.KindNotSignedIn)
	})
}

// The launcher that npm puts on PATH serves too, and is not left behind.
func TestRealCodexLauncher(t *testing.T) {
	Wanted(t)
	for _, v := range []string{"0.153.2", "0.171.0"} {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Codex", Versions: v, Over: overServer, Shown: "started by npm's launcher, nothing stays"})
			target := CodexLauncher(v)
			ready(t, target)
			p := newPlace(t, target)
			p.continues(t, p.told(t), 1)
			Killed(t, target)
		})
	}
}
