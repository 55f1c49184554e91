package main

import (
	"context"
	"fmt"
	"strings"

	"xmd/agents"
	"xmd/runtime"
)

// shownChanges is how many changed files of a working tree are named.
const shownChanges = 12

// tree says in what state the Git working tree of a folder is: the branch, and which files are changed; "" where there is none, or no Git.
func (p *program) tree(secrets ...string) func(ctx context.Context, dir string) string {
	return func(ctx context.Context, dir string) string {
		var out strings.Builder
		exit, err := agents.Programs{}.Run(ctx, runtime.Program{
			Argv: []string{"git", "status", "--porcelain=v1", "--branch", "--untracked-files=normal"},
			Env:  append(p.env.forChildren(secrets...), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C"), Dir: dir,
			Stdout: func(b []byte) {
				if out.Len() < 1<<20 {
					out.Write(b)
				}
			},
			Stderr: func([]byte) {},
		})
		if err != nil || exit.Code != 0 {
			return ""
		}
		return treeText(out.String())
	}
}

// treeText is what `git status --porcelain --branch` says, in a few lines.
func treeText(status string) string {
	lines := strings.Split(strings.TrimRight(status, "\n"), "\n")
	branch, ok := strings.CutPrefix(lines[0], "## ")
	if !ok {
		return ""
	}
	branch, _, _ = strings.Cut(branch, "...")
	changed := lines[1:]
	if len(changed) == 0 {
		return fmt.Sprintf("on %s, nothing is changed", branch)
	}
	var b strings.Builder
	count := fmt.Sprintf("%d files are", len(changed))
	if len(changed) == 1 {
		count = "1 file is"
	}
	fmt.Fprintf(&b, "on %s, %s changed:", branch, count)
	for _, line := range changed[:min(len(changed), shownChanges)] {
		b.WriteString("\n" + line)
	}
	if more := len(changed) - shownChanges; more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}
