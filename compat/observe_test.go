package compat_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"xmd/compat"
)

var ctx = context.Background()

// prints answers with line after d, unless its context ends.
func prints(line string, d time.Duration) compat.Run {
	return func(ctx context.Context, _, _ []string, _ string) (string, error) {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(d):
			return line, nil
		}
	}
}

func hashes(digest string, d time.Duration) func(context.Context, string) (string, error) {
	return func(ctx context.Context, _ string) (string, error) {
		return prints(digest, d)(ctx, nil, nil, "")
	}
}

var program = compat.Program{Agent: "codex", VersionArgv: []string{"codex", "--version"}, Executable: "/bin/codex"}

// upAfter closes the channel when the agent is up.
func upAfter(d time.Duration) <-chan struct{} {
	up := make(chan struct{})
	time.AfterFunc(d, func() { close(up) })
	return up
}

// observed begins, lets the agent start, and says what Result returned and when.
func observed(t *testing.T, opts compat.Options, p compat.Program, up time.Duration, asked time.Duration) (compat.Build, time.Duration) {
	t.Helper()
	o := compat.NewObserver(opts)
	defer func() { o.Close(); <-o.Done() }()
	began := time.Now()
	agentUp := upAfter(up)
	ob := o.Begin(ctx, p)
	if time.Since(began) != 0 {
		t.Error("Begin waited")
	}
	time.Sleep(asked)
	got := ob.Result(ctx, agentUp)
	return got, time.Since(began)
}

func TestResultWaits(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	tests := []struct {
		name            string
		version, digest time.Duration // until they are there
		up, asked       time.Duration
		want            compat.Build
		at              time.Duration
	}{
		{"all before the agent is up", 50 * ms, 400 * ms, s, s, compat.Build{Version: "0.162.1", Digest: "d"}, s},
		{"asked early, version soon", 500 * ms, 5 * s, 100 * ms, 100 * ms, compat.Build{Version: "0.162.1"}, 500 * ms},
		{"the digest is never waited for", 0, 300 * ms, 100 * ms, 100 * ms, compat.Build{Version: "0.162.1"}, 100 * ms},
		{"2 s beside the start", time.Hour, 0, 100 * ms, 100 * ms, compat.Build{Digest: "d"}, 2 * s},
		{"the 2 s began with the start", time.Hour, 0, 3 * s, 3 * s, compat.Build{Digest: "d"}, 3 * s},
		{"longer while the agent is not up", 9 * s, 0, 10 * s, 0, compat.Build{Version: "0.162.1", Digest: "d"}, 9 * s},
		{"no longer than the agent", 30 * s, 0, 10 * s, 0, compat.Build{Digest: "d"}, 10 * s},
		{"ready at the last moment", 2*s - ms, 0, 0, 0, compat.Build{Version: "0.162.1", Digest: "d"}, 2*s - ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := compat.Options{Run: prints("codex-cli 0.162.1\n", tt.version), Hash: hashes("d", tt.digest)}
				got, at := observed(t, opts, program, tt.up, tt.asked)
				if got != tt.want || at != tt.at {
					t.Errorf("%+v after %v, want %+v after %v", got, at, tt.want, tt.at)
				}
			})
		})
	}
}

// Programs that fail, or answer nothing or nonsense, leave the version unknown at once; nothing waits for the limit.
func TestFailuresAreNoWait(t *testing.T) {
	fails := func(context.Context, []string, []string, string) (string, error) {
		return "1.2.3", errors.New("status 1")
	}
	badHash := func(context.Context, string) (string, error) { return "", errors.New("no such file") }
	for name, opts := range map[string]compat.Options{
		"status 1": {Run: fails, Hash: badHash},
		"silence":  {Run: prints("", 0), Hash: badHash},
		"nonsense": {Run: prints("who knows", 0), Hash: badHash},
		"no Run":   {Hash: badHash},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got, at := observed(t, opts, program, 0, 0); got != (compat.Build{}) || at != 0 {
					t.Errorf("%+v after %v", got, at)
				}
			})
		})
	}
}

// A program that ignores its end, and a file system that hangs, block nothing.
func TestHangingBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hang := func(context.Context, []string, []string, string) (string, error) { <-release; return "9.9.9", nil }
		o := compat.NewObserver(compat.Options{
			Run:  hang,
			Hash: func(context.Context, string) (string, error) { <-release; return "d", nil },
		})
		began := time.Now()
		for range 2 {
			if got := o.Begin(ctx, program).Result(ctx, nil); got != (compat.Build{}) {
				t.Errorf("%+v", got)
			}
		}
		o.Close()
		o.Close()
		if d := time.Since(began); d != 2*compat.Limit {
			t.Errorf("took %v", d)
		}
		select {
		case <-o.Done():
			t.Error("done while it hangs")
		default:
		}
		close(release)
		<-o.Done()
		if got := o.Begin(ctx, program).Result(ctx, nil); got != (compat.Build{}) {
			t.Errorf("after Close: %+v", got)
		}
	})
}

func TestResultEndsWhatItGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		o := compat.NewObserver(compat.Options{Run: func(ctx context.Context, _, _ []string, _ string) (string, error) {
			<-ctx.Done()
			close(ended)
			return "", ctx.Err()
		}})
		ob := o.Begin(ctx, program)
		asked, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		ob.Result(asked, upAfter(time.Hour))
		if d := time.Since(began); d != time.Second {
			t.Errorf("a cancelled Result took %v", d)
		}
		<-ended
		o.Close()
		<-o.Done()
		time.Sleep(time.Hour) // the agent's own timer
	})
}

// The digest goes on behind Result, so that the cache has it next time and a route written later can name it.
func TestDigestGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := compat.NewObserver(compat.Options{Run: prints("1.0", 0), Hash: hashes("d", 5*time.Second)})
		asked, cancel := context.WithCancel(ctx)
		ob := o.Begin(asked, program)
		if got := ob.Result(asked, nil); got != (compat.Build{Version: "1.0"}) {
			t.Errorf("%+v", got)
		}
		cancel()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if got := ob.Latest(); got != (compat.Build{Version: "1.0", Digest: "d"}) {
			t.Errorf("%+v", got)
		}
		o.Close()
		<-o.Done()
	})
}

func TestHandshake(t *testing.T) {
	shaken := program
	shaken.HandshakeVersion = true
	never := func(context.Context, []string, []string, string) (string, error) {
		t.Error("--version was run")
		return "", nil
	}
	for name, tt := range map[string]struct {
		tell func(ob *compat.Observation)
		want string
	}{
		"agentInfo":       {func(ob *compat.Observation) { ob.Handshake("1.0.92") }, "1.0.92"},
		"userAgent":       {func(ob *compat.Observation) { ob.UserAgent("xmd/0.162.1 (Linux)") }, "0.162.1"},
		"first one":       {func(ob *compat.Observation) { ob.Handshake("1.1"); ob.Handshake("2.2") }, "1.1"},
		"strange":         {func(ob *compat.Observation) { ob.Handshake("unknown") }, ""},
		"nothing at all":  {func(*compat.Observation) {}, ""},
		"strange and new": {func(ob *compat.Observation) { ob.Handshake("dev"); ob.Handshake("2.2") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := compat.NewObserver(compat.Options{Run: never})
				ob := o.Begin(ctx, shaken)
				began := time.Now()
				up := upAfter(4 * time.Second)
				time.AfterFunc(3*time.Second, func() { tt.tell(ob) })
				got := ob.Result(ctx, up)
				if got.Version != tt.want {
					t.Errorf("%+v", got)
				}
				if d := time.Since(began); d > 4*time.Second {
					t.Errorf("waited %v: past the agent's start there is nothing to wait for", d)
				}
				o.Close()
				<-o.Done()
				time.Sleep(5 * time.Second)
			})
		})
	}
}

func TestRunGetsTheProgram(t *testing.T) {
	var got []string
	o := compat.NewObserver(compat.Options{Run: func(_ context.Context, argv, env []string, dir string) (string, error) {
		got = append(append(append(got, argv...), env...), dir)
		return "1.0", nil
	}})
	p := compat.Program{Agent: "x", VersionArgv: []string{"a", "b"}, Env: []string{"K=V"}, Dir: "/d"}
	if b := o.Begin(ctx, p).Result(ctx, nil); b.Version != "1.0" {
		t.Errorf("%+v", b)
	}
	o.Close()
	<-o.Done()
	if strings.Join(got, " ") != "a b K=V /d" {
		t.Errorf("%q", got)
	}
}

func TestOncePerSession(t *testing.T) {
	o := compat.NewObserver(compat.Options{})
	defer o.Close()
	var first atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for _, session := range []string{"a", "b"} {
				if o.Once(session) {
					first.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if n := first.Load(); n != 2 {
		t.Errorf("%d firsts for two sessions", n)
	}
}

func TestWarnOncePerSession(t *testing.T) {
	o := compat.NewObserver(compat.Options{})
	defer o.Close()
	ob := o.Begin(ctx, compat.Program{Agent: "claude"})
	old, seen := &compat.Build{Version: "2.1.210"}, compat.Build{Version: "2.1.332"}
	for _, tt := range []struct {
		session string
		due     bool
	}{{"a", true}, {"a", false}, {"b", true}, {"b", false}} {
		line, due := ob.Warn(tt.session, old, seen, false)
		if due != tt.due || due && !strings.HasPrefix(line, "Claude has changed from 2.1.210 to 2.1.332 ") {
			t.Errorf("%s: %q %v", tt.session, line, due)
		}
	}
	if _, due := ob.Warn("c", &seen, seen, false); due {
		t.Error("the same build warned")
	}
	if _, due := ob.Warn("c", old, seen, false); due {
		t.Error("a session that had nothing to say first was warned about later")
	}
	named := o.Begin(ctx, compat.Program{Agent: "claude", Shown: "My Claude"})
	if line, _ := named.Warn("d", nil, compat.Build{}, true); line != "The version of My Claude could not be determined. Continuing." {
		t.Error(line)
	}
}

// Programs are hashed one at a time: an agent that is starting needs the other processor.
func TestOneHashAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		o := compat.NewObserver(compat.Options{Hash: func(context.Context, string) (string, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			return "d", nil
		}})
		for range 3 {
			o.Begin(ctx, program)
		}
		time.Sleep(4 * time.Second)
		o.Close()
		<-o.Done()
		if most.Load() != 1 {
			t.Errorf("%d at once", most.Load())
		}
	})
}

func TestCloseEndsTheDigest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := compat.NewObserver(compat.Options{Run: prints("1.0", time.Hour), Hash: hashes("d", time.Hour)})
		o.Begin(ctx, program)
		o.Begin(ctx, program) // waits for its turn to hash
		synctest.Wait()
		began := time.Now()
		o.Close()
		<-o.Done()
		if d := time.Since(began); d != 0 {
			t.Errorf("ended after %v", d)
		}
	})
}
