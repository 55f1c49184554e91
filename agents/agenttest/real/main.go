// Command real prepares and finishes `make real`, and is `make live`.
//
//	real [PROGRAM…]            installs the pinned real agents; names without a version mean all versions: codex
//	real evidence DIR FILE     writes the page of what the tests of one run showed, which left it in DIR
//	real live AGENT XMD FILE   has XMD run the document FILE twice on the person's own sign-in, after asking
//
// Each folder beside this file is an npm project with a lock file. They are
// installed one after another into a cache outside the clone, each in a folder
// named by the digest of its lock file, so raising a pin makes a new folder and
// an unchanged one costs nothing. No argument means all of them.
//
// Progress goes to stderr. programs.json in the cache says what was installed
// where; a program that could not be installed is in it with the reason, and
// the exit status is still 0: what depends on it reports "not run".
//
// To raise a pin, change package.json, run `npm install --package-lock-only` in
// its folder and change the version in agenttest's programs.go and rows.go. The
// locks name no addresses. Packages for other platforms that npm did not find are
// written in by hand without a digest: npm ci wants every optional dependency in
// the lock.
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

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) == 3 && args[0] == "evidence":
		return writeEvidence(args[1], args[2])
	case len(args) == 4 && args[0] == "live":
		return live(ctx, person{in: os.Stdin, out: os.Stderr, env: os.Environ()}, args[1], args[2], args[3])
	}
	return installAll(ctx, args)
}

func writeEvidence(dir, file string) error {
	found, err := agenttest.ReadEvidence(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "the evidence is in %s\n", file)
	return os.WriteFile(file, []byte(found.Page()), 0o644)
}

func installAll(ctx context.Context, names []string) error {
	wanted, err := agenttest.Named(names)
	if err != nil {
		return err
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
		reports = append(reports, install(ctx, p, wanted))
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return agenttest.WriteReports(cache, reports)
}

// install gets one program, or only looks for it when it is not wanted.
func install(ctx context.Context, p agenttest.Program, wanted []agenttest.Program) agenttest.Report {
	report := agenttest.Report{Name: p.Name, Version: p.Version}
	var err error
	if slices.Contains(wanted, p) {
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
