package agenttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// installLimit bounds one try at one program; the largest is about 400 MB.
const installLimit = 15 * time.Minute

// Install puts p into the cache with `npm ci`, once more if the first try
// fails, and returns its command. An install that is there already is used as
// it is. It is atomic: a half-made install is never seen by others, and of two
// installers at once either result is used. Progress goes to log.
func (p Program) Install(ctx context.Context, log io.Writer) (string, error) {
	if bin, err := p.Installed(); err == nil {
		fmt.Fprintf(log, "%s: already installed\n", p.Name)
		return bin, nil
	}
	var err error
	for try := 1; try <= 2; try++ {
		started := time.Now()
		fmt.Fprintf(log, "%s: installing\n", p.Name)
		if err = p.install(ctx); err == nil {
			fmt.Fprintf(log, "%s: installed in %s\n", p.Name, time.Since(started).Round(time.Second))
			return p.Installed()
		}
		fmt.Fprintf(log, "%s: try %d failed: %v\n", p.Name, try, err)
		if ctx.Err() != nil {
			break
		}
	}
	return "", err
}

func (p Program) install(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, installLimit)
	defer stop()
	cache, err := CacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(cache, ".tmp-"+p.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := p.fill(ctx, tmp); err != nil {
		return err
	}
	return p.publish(cache, tmp)
}

// fill makes the whole install in dir and marks it as complete.
func (p Program) fill(ctx context.Context, dir string) error {
	for _, file := range []string{"package.json", "package-lock.json"} {
		data, err := p.manifest(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			return err
		}
	}
	if err := p.npmCI(ctx, dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p.Bin))); err != nil {
		return fmt.Errorf("npm succeeded, but there is no command: %w", err)
	}
	key, err := p.Key()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, doneMarker), []byte(key+"\n"), 0o644)
}

// ScriptHome is the folder inside an install that stands for the home of the program's install script.
const ScriptHome = "home"

func (p Program) npmCI(ctx context.Context, dir string) error {
	args := []string{"ci", "--no-audit", "--no-fund", "--loglevel=error"}
	if p.OmitOptional {
		args = append(args, "--omit=optional")
	}
	cmd := exec.CommandContext(ctx, "npm", args...)
	cmd.Dir = dir
	if p.Home != "" {
		cmd.Env = append(os.Environ(), p.Home+"="+filepath.Join(dir, ScriptHome))
	}
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, gist(out.String()))
	}
	return nil
}

// publish moves a finished install to its place. A place that is taken by a
// finished install of somebody else is fine; an unfinished one is rubbish of
// a build that wrote there directly, and is replaced.
func (p Program) publish(cache, tmp string) error {
	dir, err := p.Dir(cache)
	if err != nil {
		return err
	}
	for range 2 {
		if err = os.Rename(tmp, dir); err == nil {
			return nil
		}
		if _, done := p.Installed(); done == nil {
			return nil
		}
		if rm := os.RemoveAll(dir); rm != nil {
			return errors.Join(err, rm)
		}
	}
	return err
}

// gist is what npm says in its first lines that say anything; its last ones
// only point at usage and log files.
func gist(text string) string {
	var said []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "npm error"))
		if line != "" && len(said) < 4 {
			said = append(said, line)
		}
	}
	return strings.Join(said, " | ")
}
