package codex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
)

// opens runs Open while the test plays Codex.
func (p *peer) opens(ctx context.Context, id string, play func()) (runtime.Opened, error) {
	var o runtime.Opened
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		o, err = p.c.Open(ctx, id)
	}()
	p.expect("account/read")
	p.answer(`{"account":null,"requiresOpenaiAuth":false}`)
	play()
	<-done
	return o, err
}

const policy = `"cwd":"/r","approvalPolicy":"untrusted","approvalsReviewer":"user","sandbox":"read-only"`

func TestNew(t *testing.T) {
	timed(t, func(t *testing.T) {
		p := newPeer(t)
		defer p.close()
		o, err := p.opens(t.Context(), "", func() {
			if m := p.expect("thread/start"); string(m.Params) != "{"+policy+"}" {
				t.Errorf("%s", m.Params)
			}
			p.answer(`{"thread":{"id":"T","path":null},"model":"m","reasoningEffort":"high"}`)
		})
		if err != nil || o.ID != "T" || o.Asserted != "T" || o.History.Known {
			t.Errorf("%+v, %v", o, err)
		}
		if now := p.c.settings.opened; now != (choice{"m", "high", AskMode}) {
			t.Errorf("%+v", now)
		}
	})
}

// rolloutFile is a rollout of a thread with one turn.
func rolloutFile(t *testing.T, id string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rollout-x-"+id+".jsonl")
	text := fmt.Sprintf(`{"type":"session_meta","payload":{"id":%q}}
{"type":"event_msg","payload":{"type":"item_completed","turn_id":"1","item":{"type":"UserMessage","content":[{"type":"text","text":"hello"}]}}}
`, id)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func resumed(id, path string) string {
	return fmt.Sprintf(`{"thread":{"id":%q,"path":%q,"turns":[]},"model":"m","reasoningEffort":null}`, id, path)
}

// What Codex says of a loaded thread, and what its file says.
func TestLoad(t *testing.T) {
	path := rolloutFile(t, "T")
	for name, c := range map[string]struct {
		answer   string
		asserted string
		turns    int
		kind     runtime.Kind
	}{
		"as it was":        {resumed("T", path), "T", 1, ""},
		"another id":       {resumed("OTHER", path), "OTHER", 1, ""},
		"another id there": {resumed("T", rolloutFile(t, "OTHER")), "OTHER", 1, ""},
		"no file":          {resumed("T", filepath.Join(t.TempDir(), "gone.jsonl")), "", 0, runtime.KindCouldNot},
		"no path":          {`{"thread":{"id":"T","path":null}}`, "", 0, runtime.KindCouldNot},
		"no id":            {`{"thread":{}}`, "", 0, runtime.KindCouldNot},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := newPeer(t)
				defer p.close()
				o, err := p.opens(t.Context(), "T", func() {
					m := p.expect("thread/resume")
					if string(m.Params) != `{"threadId":"T",`+policy+`,"excludeTurns":true}` {
						t.Errorf("%s", m.Params)
					}
					p.answer(c.answer)
				})
				if c.kind != "" {
					var e *runtime.Error
					if !errors.As(err, &e) || e.Kind != c.kind || !e.Retryable {
						t.Errorf("%v", err)
					}
					return
				}
				if err != nil || o.ID != "T" || o.Asserted != c.asserted || !o.History.Known || o.History.UserTurns != c.turns {
					t.Errorf("%+v, %v", o, err)
				}
			})
		})
	}
}

// Only one text means that a conversation is gone; everything else may pass or is said as what it is.
func TestLoadErrors(t *testing.T) {
	for text, want := range map[string]struct {
		kind  runtime.Kind
		retry bool
	}{
		"no rollout found for thread id T":                                                      {runtime.KindMissing, false},
		"the file already has an active writer":                                                 {runtime.KindCouldNot, true},
		"there is no rollout found for thread id T":                                             {runtime.KindCouldNot, true},
		"session T is archived. Run `codex unarchive T` to unarchive it first.":                 {runtime.KindCouldNot, true},
		"thread source changed during resume; retry with the current thread ID or path":         {runtime.KindCouldNot, true},
		"Invalid request: unknown variant `thread/resume`, expected one of `a`":                 {runtime.KindUnsupported, false},
		"failed to read thread: thread-store internal error: rollout at /h/rollout-x is empty.": {runtime.KindCouldNot, true},
	} {
		timed(t, func(t *testing.T) {
			p := newPeer(t)
			defer p.close()
			_, err := p.opens(t.Context(), "T", func() { p.expect("thread/resume"); p.refuse(text) })
			var e *runtime.Error
			if !errors.As(err, &e) || e.Kind != want.kind || e.Retryable != want.retry || e.Agent != "codex" {
				t.Errorf("%s: %v (%s)", text, err, runtime.KindOf(err))
			}
		})
	}
	timed(t, func(t *testing.T) {
		p := newPeer(t)
		_, err := p.opens(t.Context(), "T", func() { p.expect("thread/resume"); p.close() })
		if runtime.KindOf(err) != runtime.KindCouldNot || !strings.Contains(err.Error(), "signal: killed; it wrote:\n  its last word") {
			t.Errorf("died: %v", err)
		}
	})
	timed(t, func(t *testing.T) {
		p := newPeer(t)
		defer p.close()
		_, err := p.opens(t.Context(), "", func() { p.expect("thread/start"); p.refuse("no") })
		if runtime.KindOf(err) != runtime.KindUnavailable {
			t.Errorf("new: %v", err)
		}
	})
}

const taken = "thread T already has an active writer"

// A thread that is open elsewhere is waited for, said once, and for so long.
func TestBusy(t *testing.T) {
	path := rolloutFile(t, "T")
	timed(t, func(t *testing.T) {
		p := newPeer(t)
		defer p.close()
		began := time.Now()
		o, err := p.opens(t.Context(), "T", func() {
			for range 3 {
				p.expect("thread/resume")
				p.refuse(taken)
			}
			p.expect("thread/resume")
			p.answer(resumed("T", path))
		})
		if err != nil || o.History.UserTurns != 1 || time.Since(began) != 3*busyPause {
			t.Errorf("%+v, %v after %s", o, err, time.Since(began))
		}
		if len(p.said) != 1 || p.said[0] != "Codex has this conversation open in another process; waiting up to 1m30s until it is free." {
			t.Errorf("said %q", p.said)
		}
	})
	busy := func(t *testing.T, ctx context.Context, tries int) {
		t.Helper()
		p := newPeer(t)
		defer p.close()
		_, err := p.opens(ctx, "T", func() {
			for range tries {
				p.expect("thread/resume")
				p.refuse(taken)
			}
		})
		var e *runtime.Error
		if !errors.As(err, &e) || e.Kind != runtime.KindBusy || !e.Retryable {
			t.Errorf("%v", err)
		}
	}
	timed(t, func(t *testing.T) { busy(t, t.Context(), int(busyWait/busyPause)) })
	timed(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
		defer stop()
		busy(t, ctx, 2)
	})
}

// A load may take as long as anything comes.
func TestSilence(t *testing.T) {
	path := rolloutFile(t, "T")
	timed(t, func(t *testing.T) {
		p := newPeer(t)
		defer p.close()
		_, err := p.opens(t.Context(), "T", func() {
			p.expect("thread/resume")
			for range 10 {
				time.Sleep(silentLimit - time.Second)
				p.say(`{"method":"thread/status/changed","params":{}}`)
			}
			p.answer(resumed("T", path))
		})
		if err != nil {
			t.Error(err)
		}
	})
	timed(t, func(t *testing.T) {
		p := newPeer(t)
		defer p.close()
		_, err := p.opens(t.Context(), "T", func() { p.expect("thread/resume") })
		if runtime.KindOf(err) != runtime.KindCouldNot || !strings.Contains(err.Error(), "nothing came for 1m0s") {
			t.Errorf("%v", err)
		}
	})
}

func TestSignIn(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(p *peer)
		want   runtime.Kind
	}{
		"nobody":       {func(p *peer) { p.answer(`{"account":null,"requiresOpenaiAuth":true}`) }, runtime.KindNotSignedIn},
		"not needed":   {func(p *peer) { p.answer(`{"account":null,"requiresOpenaiAuth":false}`) }, ""},
		"somebody":     {func(p *peer) { p.answer(`{"account":{"type":"chatgpt"},"requiresOpenaiAuth":true}`) }, ""},
		"not answered": {func(*peer) {}, ""},
		"not offered":  {func(p *peer) { p.refuse("Invalid request: unknown variant") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p := newPeer(t)
				defer p.close()
				done := make(chan error)
				go func() {
					_, err := p.c.Open(t.Context(), "")
					done <- err
				}()
				p.expect("account/read")
				asked := p.last
				p.expect("thread/start")
				p.answer(`{"thread":{"id":"T"}}`)
				p.last = asked
				c.answer(p)
				err := <-done
				if (err == nil) != (c.want == "") || err != nil && runtime.KindOf(err) != c.want {
					t.Errorf("%v", err)
				}
				if err != nil && !strings.Contains(err.Error(), "codex login") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestInitialize(t *testing.T) {
	shakes := func(t *testing.T, play func(p *peer)) (*peer, error) {
		t.Helper()
		p := newPeer(t)
		done := make(chan error)
		go func() { done <- p.c.initialize(t.Context(), "") }()
		m := p.expect("initialize")
		var params initializeParams
		if err := json.Unmarshal(m.Params, &params); err != nil || !params.Capabilities.ExperimentalAPI || params.ClientInfo.Name != "xmd" || params.ClientInfo.Version != "dev" {
			t.Errorf("%s", m.Params)
		}
		play(p)
		return p, <-done
	}
	for agent, version := range map[string]string{
		"xmd/0.171.0 (Debian 12.0.0; x86_64) dumb (xmd; 0.1.0)": "0.171.0", "xmd/1.0.0-alpha.3 (x)": "1.0.0-alpha.3", "odd": "", "a/b": "b",
	} {
		timed(t, func(t *testing.T) {
			p, err := shakes(t, func(p *peer) {
				p.answer(fmt.Sprintf(`{"userAgent":%q}`, agent))
				p.expect("initialized")
			})
			defer p.close()
			if err != nil || p.c.HandshakeVersion() != version {
				t.Errorf("%s: version %q, %v", agent, p.c.HandshakeVersion(), err)
			}
		})
	}
	for name, c := range map[string]struct {
		play func(p *peer)
		want string
	}{
		"no userAgent":    {func(p *peer) { p.answer(`{}`) }, "names no userAgent"},
		"an error":        {func(p *peer) { p.refuse("Not today") }, "it answered Not today"},
		"it is not one":   {func(p *peer) { p.say("Welcome!"); p.out.Close() }, "it ended with signal: killed, and wrote 1 lines on stdout that are not JSON"},
		"nothing, slowly": {func(*peer) {}, "it did not answer initialize within 30s"},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				p, err := shakes(t, c.play)
				defer p.close()
				if runtime.KindOf(err) != runtime.KindUnavailable || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "the app-server protocol of Codex") {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// A thread with instructions is kept, or it is said that it is not.
func TestNewDurable(t *testing.T) {
	path := rolloutFile(t, "T")
	for name, c := range map[string]struct {
		path string
		want runtime.Kind
	}{"kept": {path, ""}, "not kept": {filepath.Join(t.TempDir(), "none"), runtime.KindUnsupported}} {
		timed(t, func(t *testing.T) {
			p := newPeer(t)
			defer p.close()
			var id string
			done := make(chan error)
			go func() {
				var err error
				id, err = p.c.NewDurable(t.Context(), "be brief")
				done <- err
			}()
			p.expect("account/read")
			p.answer(`{}`)
			if m := p.expect("thread/start"); string(m.Params) != "{"+policy+`,"developerInstructions":"be brief"}` {
				t.Errorf("%s", m.Params)
			}
			p.answer(resumed("T", c.path))
			if m := p.expect("thread/inject_items"); !strings.Contains(string(m.Params), `{"threadId":"T","items":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"`) {
				t.Errorf("%s", m.Params)
			}
			p.answer(`{}`)
			err := <-done
			if c.want == "" && (err != nil || id != "T") || c.want != "" && runtime.KindOf(err) != c.want {
				t.Errorf("%s: %q, %v", name, id, err)
			}
		})
	}
}
