//go:build linux

// Command soak runs xmd under random kills and holds it to the promises of specs/journal.md.
//
//	seed ──▶ lives, several at once, on one store
//	          │ a folder, two scripted agents, one to three documents (loops, Parallel, exec, tools, Conversations, captures, a REPL)
//	          ▼
//	        xmd run ── killed: agent, grandchild, guardian, xmd, or a signal ──▶ xmd resume ── … ──▶ done
//	          │                                                                  │ decisions where xmd asks for one
//	          ▼                                                                  ▼
//	        journal before the kill is the beginning of the journal after it; prompts counted in the agents' own files, blocks in
//	        a file; replay says the same bytes; the codeword is known; no process, lock, file or folder is left; the store is whole
//
// It is a tool of the project, no part of xmd: `make soak` and `make soak-short` start it. A broken promise ends it with code 1, with the
// seed, the life, the run and the folder that is kept.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// options are what a soak is told.
type options struct {
	xmd    string
	dir    string // the parent of its folder
	span   time.Duration
	seed   uint64
	only   int // run this life alone; 0: all
	beside int // lives at once
}

// maxFindings ends a soak in which nothing goes right.
const maxFindings = 20

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	fs := flag.NewFlagSet("soak", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.xmd, "xmd", "bin/xmd", "the xmd to run")
	fs.StringVar(&o.dir, "dir", os.TempDir(), "where its folder is made")
	fs.DurationVar(&o.span, "for", 10*time.Minute, "how long new lives begin")
	fs.Uint64Var(&o.seed, "seed", 0, "repeats the choice of documents and kills; 0 chooses one")
	fs.IntVar(&o.only, "life", 0, "run this life alone")
	fs.IntVar(&o.beside, "parallel", 4, "lives at once")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()>>1 | 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	w, err := newWorld(ctx, o)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "soak:", err)
		return 2
	}
	_, _ = fmt.Fprintf(stdout, "soak: seed %d, %s, %d at once, in %s\n", o.seed, o.span, o.beside, w.dir)
	w.out = stdout
	w.lives(ctx)
	w.last(ctx)
	return w.sum(stdout)
}

// lives runs one life after another until the time is over, several at once.
func (w *world) lives(ctx context.Context) {
	if w.o.only > 0 {
		w.live(ctx, w.o.only)
		return
	}
	end := time.Now().Add(w.o.span)
	var all sync.WaitGroup
	for range w.o.beside {
		all.Go(func() {
			for ctx.Err() == nil && time.Now().Before(end) && w.sound() {
				w.live(ctx, w.number())
			}
		})
	}
	all.Wait()
}

// live is one life: its documents to their ends, then what has to hold of it.
func (w *world) live(ctx context.Context, number int) {
	l, err := w.newLife(number)
	if err != nil {
		w.find(finding{Life: fmt.Sprint(number), What: "it could not be set up: " + err.Error()})
		return
	}
	l.run(ctx)
	if ctx.Err() == nil && !l.failed {
		_ = os.RemoveAll(l.dir)
	}
	w.count("lives")
}

// sum prints what happened, removes the folder if nothing was found, and gives the exit code.
func (w *world) sum(out io.Writer) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = fmt.Fprint(out, summary(w.counts, len(w.findings)))
	if len(w.findings) == 0 {
		if err := os.RemoveAll(w.dir); err != nil {
			_, _ = fmt.Fprintln(out, "soak:", err)
			return 1
		}
		return 0
	}
	for _, f := range w.findings {
		_, _ = fmt.Fprintf(out, "\n%s\n", f)
	}
	_, _ = fmt.Fprintf(out, "\nkept: %s\nagain: go run ./cmd/soak -seed %d -xmd %s (one life alone: -life N)\n", w.dir, w.o.seed, w.o.xmd)
	return 1
}

// newWorld makes the folder of a soak and opens its store.
func newWorld(ctx context.Context, o options) (*world, error) {
	xmd, err := filepath.Abs(o.xmd)
	if err == nil {
		_, err = os.Stat(xmd)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; build it with make", err)
	}
	o.xmd = xmd
	dir, err := os.MkdirTemp(o.dir, "xmd-soak-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	w := &world{o: o, dir: dir, counts: map[string]int{}}
	for _, name := range []string{"home", "run", "lives"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return nil, err
		}
	}
	return w, w.open(ctx)
}
