package codex

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/agents/wire"
	"xmd/runtime"
)

var update = flag.Bool("update", false, "write the goldens anew")

// frame is one frame of testdata/frames, as a real app-server and a client exchanged it.
type frame struct {
	Dir   string // "in" from Codex, "out" to it
	Frame json.RawMessage
}

// replayer plays Codex's side of a recording. A request is found again by its method, an answer by its id, and then everything follows
// that came before the client's next frame. What a client asks beyond the recording is refused, what it leaves out is passed over.
type replayer struct {
	t      *testing.T
	frames []frame
	at     int
	ids    map[string]json.RawMessage // recorded id of a request -> the one used now
}

func recording(t *testing.T, version, name string) *replayer {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "frames", version+"-"+name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	r := &replayer{t: t, ids: map[string]json.RawMessage{}}
	for line := range bytes.Lines(data) {
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatal(err)
		}
		r.frames = append(r.frames, f)
	}
	return r
}

// play answers the client until it has nothing more to say.
func (r *replayer) play(p *peer, done chan struct{}) {
	defer close(done)
	lines := bufio.NewScanner(p.in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			r.t.Errorf("the driver sent %s", lines.Bytes())
			return
		}
		at := r.find(m)
		switch {
		case at < 0 && m.Method != "" && m.ID != nil:
			p.say(fmt.Sprintf(`{"id":%s,"error":{"code":-32600,"message":"not in the recording"}}`, m.ID))
			continue
		case at < 0:
			continue
		case m.Method != "" && m.ID != nil:
			r.ids[string(wire.Field(r.frames[at].Frame, "id"))] = m.ID
		}
		r.follow(p, at)
	}
}

// find is the client's next frame in the recording that is of m's kind, or -1.
func (r *replayer) find(m message) int {
	for i := r.at; i < len(r.frames); i++ {
		var want message
		if r.frames[i].Dir != "out" || json.Unmarshal(r.frames[i].Frame, &want) != nil {
			continue
		}
		if want.Method == m.Method && (m.Method != "" || bytes.Equal(want.ID, m.ID)) {
			return i
		}
	}
	return -1
}

// follow sends what came after the client's frame at that place.
func (r *replayer) follow(p *peer, at int) {
	for r.at = at + 1; r.at < len(r.frames) && r.frames[r.at].Dir == "in"; r.at++ {
		raw := r.frames[r.at].Frame
		if wire.Field(raw, "method") == nil {
			id, asked := r.ids[string(wire.Field(raw, "id"))]
			if !asked {
				continue
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(raw, &members); err != nil {
				r.t.Fatal(err)
			}
			members["id"] = id
			raw, _ = json.Marshal(members)
		}
		if _, err := io.WriteString(p.out, string(raw)+"\n"); err != nil {
			return // the test is over
		}
	}
}

// id is the thread of the recording.
func (r *replayer) id() string {
	for _, f := range r.frames {
		for _, path := range [][]string{{"result", "thread", "id"}, {"params", "threadId"}} {
			if id, ok := wire.String(wire.Path(f.Frame, path...)); ok {
				return id
			}
		}
	}
	return ""
}

// played starts the driver against a recording.
func played(t *testing.T, version, name string) (*peer, *replayer, func()) {
	p, r := newPeer(t), recording(t, version, name)
	done := make(chan struct{})
	go r.play(p, done)
	if err := p.c.initialize(t.Context(), "test"); err != nil {
		t.Fatal(err)
	}
	if p.c.version != version {
		t.Errorf("version %q, want %s", p.c.version, version)
	}
	return p, r, func() { p.close(); <-done }
}

// told is what the turns of a recording show, a line for each thing.
type log struct{ bytes.Buffer }

func (l *log) update(u runtime.Update) {
	kinds := map[runtime.UpdateKind]string{
		runtime.UpdateMessage: "message", runtime.UpdateThought: "thought", runtime.UpdateNotice: "notice", runtime.UpdateCompaction: "compaction",
	}
	accepts := map[bool]string{true: "+", false: " "}[u.Accepts]
	switch {
	case kinds[u.Kind] != "":
		fmt.Fprintf(l, "%s %s %q\n", accepts, kinds[u.Kind], u.Text)
	case u.Kind == runtime.UpdateTool:
		c := *u.Tool
		c.Output = strings.ReplaceAll(c.Output, "\n", "|")
		fmt.Fprintf(l, "%s tool %s %s %q %s input=%s output=%q diffs=%d\n", accepts, c.Name, c.Kind, c.Subject, c.Status, c.Input, c.Output, len(c.Diffs))
	case u.Kind == runtime.UpdateUsage:
		fmt.Fprintf(l, "%s usage %d in, %d cached, %d out\n", accepts, *u.Usage.InputTokens, *u.Usage.CachedTokens, *u.Usage.OutputTokens)
	case u.Kind == runtime.UpdatePermission:
		r := u.Permission.Request
		fmt.Fprintf(l, "%s asked %s %q subject=%q command=%q paths=%q diffs=%d allowed=%v\n",
			accepts, r.Kind, r.Title, r.Subject, r.Command, r.Paths, len(r.Diffs), u.Permission.Allowed)
	case u.Accepts:
		fmt.Fprintf(l, "+\n")
	}
}

func (l *log) turn(p *peer, ctx context.Context, ask func(context.Context, runtime.PermissionRequest) bool, stop func(runtime.Update)) {
	res, err := p.c.Prompt(ctx, runtime.Turn{Words: "w", Ask: ask, Sink: func(u runtime.Update) {
		l.update(u)
		if stop != nil {
			stop(u)
		}
	}})
	fmt.Fprintf(l, "= %q failure=%q retryable=%v refused=%d kind=%v\n\n", res.Stop, res.Failure, res.Retryable, res.Refused, kindOf(err))
}

func kindOf(err error) string {
	if err == nil {
		return "none"
	}
	return string(runtime.KindOf(err))
}

// The way from the frames of real builds to the runtime's interface. The goldens say what each of them shows.
func TestRecorded(t *testing.T) {
	for _, version := range []string{"0.153.2", "0.162.1", "0.171.0"} {
		for name, turns := range map[string]func(ctx context.Context, l *log, p *peer){
			"first": func(ctx context.Context, l *log, p *peer) { l.turn(p, ctx, nil, nil) },
			"tools": func(ctx context.Context, l *log, p *peer) {
				l.turn(p, ctx, always(true), nil)
				l.turn(p, ctx, always(false), nil)
				l.turn(p, ctx, nil, nil)
			},
			"mcp": func(ctx context.Context, l *log, p *peer) {
				l.turn(p, ctx, always(true), nil)
				l.turn(p, ctx, always(false), nil)
				l.turn(p, ctx, nil, nil)
			},
			"failures": func(ctx context.Context, l *log, p *peer) {
				for range 5 {
					l.turn(p, ctx, nil, nil)
				}
				stopped, cancel := context.WithCancel(ctx)
				l.turn(p, stopped, nil, func(u runtime.Update) {
					if u.Kind == runtime.UpdateMessage {
						cancel()
					}
				})
				l.turn(p, ctx, nil, nil)
			},
			"compact": func(ctx context.Context, l *log, p *peer) { l.turn(p, ctx, nil, nil); l.turn(p, ctx, nil, nil) },
		} {
			t.Run(version+"/"+name, func(t *testing.T) {
				timed(t, func(t *testing.T) {
					p, r, end := played(t, version, name)
					defer end()
					if _, err := p.c.create(t.Context(), p.c.threadParams("")); err != nil { // a load's answer has the same form
						if _, err = p.c.resume(t.Context(), r.id()); err != nil {
							t.Fatal(err)
						}
					}
					var l log
					turns(t.Context(), &l, p)
					golden(t, filepath.Join("testdata", "golden", version+"-"+name+".txt"), l.Bytes())
				})
			})
		}
	}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs:\n%s", file, got)
	}
}

// What real builds answer to a load.
func TestRecordedLoads(t *testing.T) {
	for _, version := range []string{"0.153.2", "0.162.1", "0.171.0"} {
		timed(t, func(t *testing.T) {
			p, _, end := played(t, version, "missing")
			_, err := p.c.Open(t.Context(), "01a22d05-0000-4582-8c37-a1c080809b60")
			end()
			if runtime.KindOf(err) != runtime.KindMissing {
				t.Errorf("%s: missing: %v", version, err)
			}
		})
		timed(t, func(t *testing.T) {
			p, r, end := played(t, version, "busy")
			got, err := p.c.resume(t.Context(), r.id())
			end()
			if err != nil || got.Thread.ID != r.id() || len(p.said) != 1 {
				t.Errorf("%s: busy: %+v, %v, said %q", version, got, err, p.said)
			}
		})
		timed(t, func(t *testing.T) {
			p, r, end := played(t, version, "load")
			got, err := p.c.resume(t.Context(), r.id())
			if err != nil || got.Thread.ID != r.id() || !strings.HasSuffix(got.Thread.Path, r.id()+".jsonl") || got.Model != "gpt-5-codex" {
				t.Errorf("%s: load: %+v, %v", version, got, err)
			}
			var l log
			l.turn(p, t.Context(), nil, nil)
			end()
			if !strings.Contains(l.String(), `"ZEBRA"`) && !strings.Contains(l.String(), "CODEWORD=ZEBRA") {
				t.Errorf("%s: %s", version, l.String())
			}
		})
	}
}
