package agenttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Installed is the version of a program that stands for the one on PATH, whatever it is.
const Installed = "installed"

// binDir is the folder of the command of a program: of a pinned one its own, of one on PATH the one it is found in. An adapter that is not
// on PATH is the pinned one.
func binDir(name, version string) (string, error) {
	if version == Installed {
		file, err := exec.LookPath(name)
		if err == nil {
			return filepath.Dir(file), nil
		}
		if !slices.Contains([]string{"codex-acp", "claude-agent-acp", "node22"}, name) {
			return "", fmt.Errorf("%s is not on PATH", name)
		}
	}
	full := name
	if version != "" && version != Installed {
		full += "-" + version
	}
	p, err := FindProgram(full)
	if err != nil {
		return "", err
	}
	bin, err := p.Installed()
	return filepath.Dir(bin), err
}

// binDirs are the folders of the commands of an agent in that version and of what it needs besides.
func binDirs(version, agent string, besides ...string) ([]string, error) {
	dir, err := binDir(agent, version)
	dirs, problems := []string{dir}, []error{err}
	for _, name := range besides {
		v := ""
		if version == Installed {
			v = Installed
		}
		dir, err := binDir(name, v)
		if err != nil && version == Installed && name == "node22" {
			continue // there may be one on PATH that will do
		}
		dirs, problems = append(dirs, dir), append(problems, err)
	}
	return dirs, errors.Join(problems...)
}

var versionShape = regexp.MustCompile(`\d+\.\d+[\w.+-]*\w`)

// VersionOf asks a program for its version, in an environment without anything of the person's. It is what looks like one in the first line
// that the program prints, or that line.
func VersionOf(ctx context.Context, command string, env []string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, command, "--version")
	cmd.Env, cmd.WaitDelay = env, 5*time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", command, err)
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if v := versionShape.FindString(line); v != "" {
		return v, nil
	}
	return line, nil
}

// lookIn finds a command in the PATH of an environment.
func lookIn(env []string, command string) (string, error) {
	for _, kv := range env {
		path, ok := strings.CutPrefix(kv, "PATH=")
		for _, dir := range filepath.SplitList(path) {
			file := filepath.Join(dir, command)
			if info, err := os.Stat(file); ok && err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("%s is not on PATH", command)
}
