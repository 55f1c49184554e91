// Command real installs the pinned real agents that `make real` runs against.
//
// Each folder beside this file is an npm project with a lock file. They are
// installed one after another into a cache outside the clone, each in a folder
// named by the digest of its lock file, so raising a pin makes a new folder and
// an unchanged one costs nothing. Arguments name the programs to install; none
// means all of them, and that the evidence of an earlier run is forgotten.
//
//	real [PROGRAM…]       installs
//	real evidence FILE    writes the table of what the tests showed since
//
// Progress goes to stderr. programs.json in the cache says what was installed
// where; a program that could not be installed is in it with the reason, and
// the exit status is still 0: what depends on it reports "not run".
//
// To raise a pin, change package.json, run `npm install --package-lock-only` in
// its folder and change the version in agenttest's programs.go. The locks name no
// addresses. Packages for other platforms that npm did not find are written in by
// hand without a digest: npm ci wants every optional dependency in the lock.
package main

import (
	"context"
	"errors"
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

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "evidence":
		return writeEvidence(args[1])
	case len(args) == 0:
		if err := agenttest.ClearEvidence(); err != nil {
			return err
		}
	}
	return installAll(ctx, args)
}

func writeEvidence(file string) error {
	rows, err := agenttest.ReadEvidence()
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return errors.New("there is no evidence: run the tests with XMD_REAL=1 first")
	}
	return os.WriteFile(file, []byte(agenttest.EvidenceTable(rows)), 0o644)
}

func installAll(ctx context.Context, names []string) error {
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
