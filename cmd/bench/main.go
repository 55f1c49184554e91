//go:build unix

// Command bench measures xmd side by side with the least that a Go program can be, and with acpx where it is installed.
//
//	go run ./cmd/bench [-short] [-page FILE] [-only REGEXP] …
//
// It builds the agent, the floor and the launcher, runs every case in turn, writes the page, and fails if something was lost. With -short
// it does less, writes no page, and fails on a ratio as well, and never on a time.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// bench is what all cases share.
type bench struct {
	short       bool
	repetitions int
	only        *regexp.Regexp
	xmd         string
	agent       string
	floor       string
	launch      string
	foreign     bool // the agent is not ours: it knows the common words only and keeps no log
	acpx        *acpx
	dir         string // all that is made lies here
	page        string // empty: none is written
	began       string // the machine's load before anything was run
}

func main() {
	b, cleanup, err := configured()
	if err == nil {
		err = b.all()
	}
	if cleanup != nil {
		cleanup()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+strings.ReplaceAll(err.Error(), "\n", "\nbench: "))
		os.Exit(1)
	}
}

// configured reads the flags and builds what is missing.
func configured() (*bench, func(), error) {
	b := &bench{began: loadAverage()}
	var only, node, cli, scratch string
	flag.BoolVar(&b.short, "short", false, "less of everything, and fail on the ratios of the short form")
	flag.IntVar(&b.repetitions, "n", 0, "repetitions of each case (5; 3 with -short)")
	flag.StringVar(&only, "only", "", "cases and loads whose name or title this regular expression finds")
	flag.StringVar(&b.xmd, "xmd", "bin/xmd", "the xmd to measure, as make build makes it")
	flag.StringVar(&b.agent, "agent", "", "another agent than cmd/bench/agent")
	flag.StringVar(&b.floor, "floor", "", "another floor than cmd/bench/floor")
	flag.StringVar(&cli, "acpx", "", "acpx, if it is installed")
	flag.StringVar(&node, "node", "", "Node 22 or newer, for acpx")
	flag.StringVar(&b.page, "page", "", "the page to write")
	flag.StringVar(&scratch, "dir", "", "where the folder for all that is made is made; on a disk, as a person's state folder is")
	flag.Parse()
	if b.repetitions == 0 {
		b.repetitions = pick(b.short, 3, 5)
	}
	b.foreign = b.agent != ""
	if cli != "" && node != "" {
		b.acpx = &acpx{bench: b, node: node, cli: cli}
	}
	var err error
	if b.only, err = regexp.Compile(only); err != nil {
		return nil, nil, err
	}
	if scratch != "" {
		err = os.MkdirAll(scratch, 0o700)
	}
	if err != nil {
		return nil, nil, err
	}
	if b.dir, err = os.MkdirTemp(scratch, "xmd-bench-"); err != nil {
		return nil, nil, err
	}
	cleanup := func() { _ = os.RemoveAll(b.dir) }
	return b, cleanup, b.programs()
}

// programs builds what is ours and finds what is not.
func (b *bench) programs() error {
	for name, path := range map[string]*string{"agent": &b.agent, "floor": &b.floor, "launch": &b.launch} {
		if *path != "" {
			continue
		}
		*path = filepath.Join(b.dir, name)
		build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w", "-o", *path, "xmd/cmd/bench/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w\n%s", name, err, out)
		}
	}
	for _, path := range []*string{&b.xmd, &b.agent, &b.floor} {
		full, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(full); err != nil {
			return fmt.Errorf("%s is not there; make build makes bin/xmd", *path)
		}
		*path = full
	}
	return nil
}
