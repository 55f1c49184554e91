// Command real installs the pinned real agents that `make real` runs against.
//
// Each folder beside this file is an npm project with a lock file. They are
// installed one after another into a cache outside the clone, each in a folder
// named by the digest of its lock file, so raising a pin makes a new folder and
// an unchanged one costs nothing. Arguments name the programs to install; none
// means all of them.
//
// Progress goes to stderr. programs.json in the cache says what was installed
// where; a program that could not be installed is in it with the reason, and
// the exit status is still 0: what depends on it reports "not run".
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"xmd/agents/agenttest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "real:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, names []string) error {
	for _, name := range names {
		if _, err := agenttest.FindProgram(name); err != nil {
			return err
		}
	}
	cache, err := agenttest.CacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	var reports []agenttest.Report
	for _, p := range agenttest.Programs() {
		reports = append(reports, install(ctx, p, names))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return agenttest.WriteReports(cache, reports)
}

// install gets one program, or only looks for it when names leaves it out.
func install(ctx context.Context, p agenttest.Program, names []string) agenttest.Report {
	report := agenttest.Report{Name: p.Name, Version: p.Version}
	var err error
	if len(names) == 0 || slices.Contains(names, p.Name) {
		report.Bin, err = p.Install(ctx, os.Stderr)
	} else {
		report.Bin, err = p.Installed()
	}
	if err != nil {
		report.Problem = err.Error()
		fmt.Fprintf(os.Stderr, "%s: not run: %v\n", p.Name, err)
	}
	return report
}
