package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
)

// person is who is asked, and the environment with their own sign-in.
type person struct {
	in  *os.File
	out io.Writer
	env []string
}

// liveQuestion is what the second run says.
const liveQuestion = "Which codeword did I give you? Answer with that word alone."

// live runs the document twice, as two processes, with the agent that the person has, on their own account. It says so and asks first, and
// refuses where there is nobody to ask. What the agent keeps of it stays with the agent; xmd's own records are thrown away.
func live(ctx context.Context, p person, agent, xmd, doc string) error {
	if agent == "" {
		return errors.New("which agent? make live AGENT=codex")
	}
	if i := slices.IndexFunc(p.env, func(kv string) bool { return strings.HasPrefix(kv, "CI=") && kv != "CI=" }); i >= 0 {
		return errors.New("make live spends somebody's money, so it never runs in CI: CI is set")
	}
	if !isatty.IsTerminal(p.in.Fd()) {
		return errors.New("make live spends somebody's money, so it asks first, and there is no terminal to ask at: run it in one")
	}
	fmt.Fprintf(p.out, "This runs %s twice with %s as you have it installed, on your own sign-in: two prompts are sent to its\n"+
		"provider, which may cost money or count against a quota. The agent keeps the conversation, as it keeps yours.\n"+
		"It works in an empty folder, and everything that it asks for is refused.\nType yes to go on: ", doc, agent)
	answer, err := bufio.NewReader(p.in).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return errors.New("nothing was run: the answer was not yes")
	}
	return twice(ctx, p, agent, xmd, doc)
}

func twice(ctx context.Context, p person, agent, xmd, doc string) error {
	paths := []string{xmd, doc}
	for i := range paths {
		var err error
		if paths[i], err = filepath.Abs(paths[i]); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "xmd-live-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a folder for temporary files
	root := filepath.Join(dir, "project")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	args := []string{"run", "--deny-all", "--state-dir", filepath.Join(dir, "state"), "--agent", agent, paths[1]}
	for _, more := range [][]string{nil, {"--props-message", liveQuestion}} {
		cmd := exec.CommandContext(ctx, paths[0], append(slices.Clone(args), more...)...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = root, p.env, os.Stdout, os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = time.Minute
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s %s: %w", xmd, strings.Join(cmd.Args[1:], " "), err)
		}
	}
	return nil
}
