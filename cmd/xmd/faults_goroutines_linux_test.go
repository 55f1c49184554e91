package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// inside runs xmd in this process, until ctx ends it as a signal would.
func (h *home) inside(ctx context.Context, args ...string) outcome {
	h.t.Helper()
	var files [2]*os.File
	for i, name := range []string{"stdout", "stderr"} {
		f, err := os.Create(filepath.Join(h.dir, name))
		if err != nil {
			h.t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		files[i] = f
	}
	env := append([]string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(h.dir, "state"), quickExit, h.mark}, h.env...)
	o := outcome{code: run(&program{
		args: append([]string{args[0], "-C", h.dir}, args[1:]...), env: env, stdin: strings.NewReader(""), stdout: files[0], stderr: files[1], parent: ctx,
	})}
	for i, into := range []*string{&o.stdout, &o.stderr} {
		if _, err := files[i].Seek(0, io.SeekStart); err != nil {
			h.t.Fatal(err)
		}
		text, err := io.ReadAll(files[i])
		if err != nil {
			h.t.Fatal(err)
		}
		*into = string(text)
	}
	return o
}

// settled waits until no more goroutines run than before, and says which do when they do not end.
func settled(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(5 * time.Millisecond) { // nothing tells of a goroutine's end
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// No fault leaves a goroutine behind in xmd: not after a run that ended by it, and not after one that was cancelled in the middle of it. The
// short form takes the faults that stand for the others.
func TestFaultsLeaveNoGoroutine(t *testing.T) {
	all := os.Getenv("XMD_FAULTS") == "all"
	warm := faultHome(t, "")
	warm.write("doc.xmd", faultDocument(1, faultRow{}, "first"))
	if o := warm.inside(t.Context(), "run", filepath.Join(warm.dir, "doc.xmd")); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	for _, spec := range rowsOf(t) {
		row := faultRows[spec]
		if !all && !row.wide {
			continue
		}
		t.Run(spec, func(t *testing.T) {
			h := faultHome(t, spec)
			t.Setenv("TMPDIR", filepath.Join(h.dir, "tmp"))
			before := runtime.NumGoroutine()
			for _, round := range []string{"first", "again"} {
				h.write("doc.xmd", faultDocument(3, row, round))
				if o := h.inside(t.Context(), "run", filepath.Join(h.dir, "doc.xmd")); o.code != 0 {
					t.Errorf("%s: %+v", round, o)
				}
				settled(t, before)
			}
			h.check()
		})
	}
}

// A run that is cancelled while every agent hangs in its own way leaves none either.
func TestFaultsCancelledLeaveNoGoroutine(t *testing.T) {
	for _, spec := range []string{"", "silence=mid", "cancel-ignored", "unanswered=new", "unanswered=initialize", "grandchild=setsid+stubborn"} {
		t.Run("fault "+spec, func(t *testing.T) {
			h := faultHome(t, spec)
			t.Setenv("TMPDIR", filepath.Join(h.dir, "tmp"))
			h.write("doc.xmd", faultDocument(3, faultRow{ask: "SLEEP 60000"}, "first"))
			before := runtime.NumGoroutine()
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("by the test"))
			defer cancel()
			if o := h.inside(ctx, "run", filepath.Join(h.dir, "doc.xmd")); o.code == 0 {
				t.Errorf("%+v", o)
			}
			cancel()
			settled(t, before)
			h.check()
			h.nothingLeft()
		})
	}
}
