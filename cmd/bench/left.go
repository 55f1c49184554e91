//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// mark is in the environment of everything that this process starts, so that what stays behind is found.
func (b *bench) mark() string { return "BENCH_RUN=" + strconv.Itoa(os.Getpid()) }

// gone fails if a process that was started here, directly or not, is still there. It knows where there is a /proc.
func (b *bench) gone() error {
	paths, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return err
	}
	mark := []byte(b.mark() + "\x00")
	for _, path := range paths {
		environ, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(environ, mark) {
			continue // ended meanwhile, or somebody else's
		}
		name, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		return fmt.Errorf("process %s stays: %s", filepath.Base(filepath.Dir(path)), bytes.ReplaceAll(name, []byte{0}, []byte{' '}))
	}
	return nil
}
