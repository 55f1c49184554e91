package agenttest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
)

// eachGemini runs a test for every version of Gemini and records it.
func eachGemini(t *testing.T, shown string, test func(t *testing.T, p *place)) {
	t.Helper()
	Wanted(t)
	for _, v := range geminiVersions {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Gemini", Versions: v, Over: overItself, Shown: shown})
			ready(t, Gemini(v))
			test(t, newPlace(t, Gemini(v)))
		})
	}
}

// plainly starts Gemini as a person does, without xmd, and lets it answer one question. Its clean-up of conversations runs at the start.
func plainly(t *testing.T, p *place) {
	t.Helper()
	AgeGemini(t, p.Place, 2*time.Minute)
	env, err := GeminiEnv(p.Place, p.target.Version)
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := binDirs(p.target.Version, "gemini")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), turnLimit)
	defer stop()
	cmd := exec.CommandContext(ctx, filepath.Join(dirs[0], "gemini"), "-p", "hello")
	cmd.Env, cmd.Dir = append(env, markKey+"="+p.mark), p.Root
	cmd.WaitDelay = 5 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("You said: hello")) {
		t.Fatalf("gemini -p: %v: %s", err, out)
	}
}

// What Gemini's own clean-up does to a conversation that was loaded is kept from happening: in later processes of xmd's, and when the
// person starts Gemini, whose settings are as they are by default.
func TestRealGeminiKeeps(t *testing.T) {
	eachGemini(t, "a conversation outlives three loads, a plain start of Gemini with its clean-up on, and a further load", func(t *testing.T, p *place) {
		id := p.told(t)
		for turns := 1; turns <= 3; turns++ {
			p.continues(t, id, turns)
		}
		plainly(t, p)
		p.continues(t, id, 4)
		settings := read(t, filepath.Join(p.Home, ".gemini", "settings.json"))
		if bytes.Contains(settings, []byte("etention")) {
			t.Errorf("the person's settings were changed: %s", settings)
		}
		// The check of the check: with what a load leaves put back, the same start does delete the conversation.
		kept := read(t, geminiFile(p.Place, id))
		head, rest, _ := bytes.Cut(kept, []byte("\n"))
		context, _, _ := bytes.Cut(rest, []byte("\n"))
		write(t, filepath.Join(filepath.Dir(geminiFile(p.Place, id)), "session-2026-01-02T03-04-"+id[:8]+".jsonl"),
			append(append(append(head, '\n'), context...), '\n'))
		plainly(t, p)
		p.start(t).openError(id, runtime.KindMissing)
	})
}

// A process that is killed after its load leaves what would delete the conversation; the next start of xmd's takes it away first.
func TestRealGeminiKilledAfterLoad(t *testing.T) {
	eachGemini(t, "a conversation outlives a process that was killed after it had loaded it", func(t *testing.T, p *place) {
		id := p.told(t)
		file := geminiFile(p.Place, id)
		head, rest, _ := bytes.Cut(read(t, file), []byte("\n"))
		context, _, _ := bytes.Cut(rest, []byte("\n"))
		twin := filepath.Join(filepath.Dir(file), "session-2026-01-02T03-04-"+id[:8]+".jsonl")
		write(t, twin, append(append(append(head, '\n'), context...), '\n'))
		p.continues(t, id, 1)
		if exists(twin) {
			t.Error("what a load left is still there")
		}
	})
}

// Gemini starts itself a second time unless it is told not to, and then one of the two is what has to be ended.
func TestRealGeminiIsOneProcess(t *testing.T) {
	eachGemini(t, "it is one process", func(t *testing.T, p *place) {
		p.start(t).open("")
		var own []string
		for _, process := range Marked(p.mark) {
			if strings.Contains(process, "--acp") && !strings.Contains(process, "__guardian") {
				own = append(own, process)
			}
		}
		if len(own) != 1 && hasProc() {
			t.Errorf("processes %q, want one", own)
		}
	})
}

// Public report 3 on the real program: a load in the minute in which the conversation was made waits for the next.
func TestRealGeminiMinute(t *testing.T) {
	eachGemini(t, "a conversation is loaded right after it was made: not before the next minute", func(t *testing.T, p *place) {
		p.target.At = realAgent("gemini", p.target.Version, GeminiEnv) // nothing is made older
		id := p.told(t)
		l := p.start(t)
		ctx, stop := context.WithTimeout(t.Context(), 3*turnLimit)
		defer stop()
		o, err := l.Open(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		l.finds(o, p.target.Script.Tell, p.target.Script.Told)
		if h := l.good(p.target.Script.Ask); h.answer() != p.target.Script.Knows {
			t.Errorf("answer %q", h.answer())
		}
	})
}

// What is left of a damaged file is loaded, or nothing is; never something else.
func TestRealGeminiDamaged(t *testing.T) {
	eachGemini(t, "a damaged history: what can be read is loaded, an empty or overwritten one is missing", func(t *testing.T, p *place) {
		claim(t, p.target, colDamaged)
		for name, damage := range map[string]func(data []byte) []byte{
			"its last line is cut": func(data []byte) []byte { return data[:len(data)-20] },
			"its first line is lost": func(data []byte) []byte {
				_, rest, _ := bytes.Cut(data, []byte("\n"))
				return rest
			},
			"rubbish in the middle": func(data []byte) []byte {
				head, rest, _ := bytes.Cut(data, []byte("\n"))
				return []byte(string(head) + "\nrubbish\n" + string(rest))
			},
		} {
			t.Run(name, func(t *testing.T) {
				p := newPlace(t, p.target)
				id := p.told(t)
				write(t, geminiFile(p.Place, id), damage(read(t, geminiFile(p.Place, id))))
				l := p.start(t)
				l.open(id)
				if h := l.good(p.target.Script.Ask); h.answer() != p.target.Script.Knows {
					t.Errorf("answer %q", h.answer())
				}
			})
		}
		t.Run("empty", func(t *testing.T) {
			p := newPlace(t, p.target)
			id := p.told(t)
			write(t, geminiFile(p.Place, id), nil)
			p.start(t).openError(id, runtime.KindMissing)
		})
	})
}

// OpenCode keeps everything in one database. It does not start on a broken one.
func TestRealOpenCodeDamaged(t *testing.T) {
	Wanted(t)
	for _, v := range []string{"1.18.20", "1.18.33"} {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "OpenCode", Versions: v, Over: overItself, Shown: "a damaged store is no missing conversation: it does not start"})
			claim(t, OpenCode(v), colDamaged)
			ready(t, OpenCode(v))
			p := newPlace(t, OpenCode(v))
			p.told(t)
			for _, beside := range []string{"-wal", "-shm"} {
				_ = os.Remove(openCodeStore(p.Place) + beside) // may be gone already
			}
			data := read(t, openCodeStore(p.Place))
			write(t, openCodeStore(p.Place), data[:len(data)/2])
			reach := p.target.At(t, p.Place)
			ctx, stop := limit(t)
			defer stop()
			c, err := reach.Agent.Start(ctx, runtime.StartOptions{Root: p.Root, Env: append(reach.Env, markKey+"="+p.mark)})
			if err == nil {
				_ = c.Close(ctx) // only so that nothing is left
				t.Fatal("it started")
			}
			if runtime.KindOf(err) != runtime.KindUnavailable || !strings.Contains(err.Error(), "malformed") {
				t.Errorf("%v (%s)", err, runtime.KindOf(err))
			}
			p.none(t)
		})
	}
}
