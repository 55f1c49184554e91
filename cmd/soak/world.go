//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"xmd/runtime/store"
)

// world is what all lives of a soak share. Its methods may be called at once.
type world struct {
	o   options
	dir string
	out io.Writer
	st  *store.Store

	mu       sync.Mutex
	counts   map[string]int
	findings []finding
	begun    int
}

// finding is a promise that was broken.
type finding struct {
	Life, Run, What string
}

// String is the finding with what is needed to look at it.
func (f finding) String() string {
	s := "FOUND in life " + f.Life
	if f.Run != "" {
		s += ", run " + f.Run
	}
	return s + ": " + f.What
}

func (w *world) find(f finding) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.findings = append(w.findings, f)
	_, _ = fmt.Fprintf(w.out, "%s %s\n", time.Now().UTC().Format("15:04:05"), f)
}

func (w *world) count(what string) { w.add(what, 1) }

func (w *world) add(what string, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[what] += n
}

// sound says that it makes sense to go on.
func (w *world) sound() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.findings) < maxFindings
}

func (w *world) number() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
	return w.begun
}

// summary is the counts, a line each, those of a kind together.
func summary(counts map[string]int, findings int) string {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%-40s %6d\n", name, counts[name])
	}
	fmt.Fprintf(&b, "%-40s %6d\n", "findings", findings)
	return b.String()
}

func (w *world) stateDir() string { return filepath.Join(w.dir, "home", "state", "xmd") }

// open opens the store that every xmd of the soak writes: what is on record is read there.
func (w *world) open(ctx context.Context) (err error) {
	w.st, err = store.Open(ctx, store.Options{Dir: w.stateDir()})
	return err
}

// journal is what is on record of a run at this moment.
func (w *world) journal(ctx context.Context, run string) ([]store.Record, error) {
	var all []store.Record
	for r, err := range w.st.Records(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// newest is the last run of a document; zero for none.
func (w *world) newest(ctx context.Context, dir, document string) (store.Run, error) {
	var runs []store.Run
	err := w.st.View(ctx, func(tx *store.Tx) (err error) {
		runs, err = tx.Runs(0)
		return err
	})
	for _, r := range runs { // the last one first
		if r.Dir == dir && r.Document == document {
			return r, err
		}
	}
	return store.Run{}, err
}

// last looks at what is left when every life has ended.
func (w *world) last(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if err := w.st.Check(ctx); err != nil {
		w.find(finding{Life: "all", What: "the store is not whole: " + err.Error()})
	}
	if err := w.st.Close(); err != nil {
		w.find(finding{Life: "all", What: "the store cannot be closed: " + err.Error()})
	}
	w.whole(ctx)
	for _, what := range append(strangers(w.stateDir()), unexpected(filepath.Join(w.dir, "home"), "state")...) {
		w.find(finding{Life: "all", What: what})
	}
	for _, what := range append(unexpected(filepath.Join(w.dir, "run")), heldLocks(w.stateDir())...) {
		w.find(finding{Life: "all", What: what})
	}
}

// whole opens the store as the next xmd would and checks it once more.
func (w *world) whole(ctx context.Context) {
	s, err := store.Open(ctx, store.Options{Dir: w.stateDir()})
	if err == nil {
		err = s.Check(ctx)
		_ = s.Close()
	}
	if err != nil {
		w.find(finding{Life: "all", What: "the store is not whole when it is opened again: " + err.Error()})
	}
}

// strangers are files of a state folder that do not belong there.
func strangers(dir string) (found []string) {
	known := []string{store.FileName, store.FileName + "-wal", store.FileName + "-shm", "repl-history", "locks"}
	for _, e := range entries(dir) {
		switch {
		case e.Name() == "faults":
			for _, fault := range entries(filepath.Join(dir, "faults")) {
				text, _ := os.ReadFile(filepath.Join(dir, "faults", fault.Name()))
				found = append(found, "xmd met a fault of its own:\n"+string(text))
			}
		case !slices.Contains(known, e.Name()):
			found = append(found, "a file is left in the state folder: "+e.Name())
		}
	}
	for _, e := range entries(filepath.Join(dir, "locks")) {
		if !strings.HasSuffix(e.Name(), ".lock") {
			found = append(found, "a file is left among the locks: "+e.Name())
		}
	}
	return found
}

// unexpected are the entries of a folder beside those that may be there.
func unexpected(dir string, known ...string) (found []string) {
	for _, e := range entries(dir) {
		if !slices.Contains(known, e.Name()) {
			found = append(found, "left: "+filepath.Join(dir, e.Name()))
		}
	}
	return found
}

func entries(dir string) []os.DirEntry {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil // what is not there holds nothing
	}
	return list
}

// heldLocks are the locks of a state folder that somebody holds.
func heldLocks(dir string) (held []string) {
	for _, e := range entries(filepath.Join(dir, "locks")) {
		path := filepath.Join(dir, "locks", e.Name())
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			held = append(held, err.Error())
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil { //nolint:gosec // a descriptor is small
			held = append(held, "a lock is held when nothing runs: "+path)
		}
		_ = f.Close()
	}
	return held
}
