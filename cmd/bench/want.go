package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
)

// want is what an output has to be: nothing less, nothing more, nothing else. The zero want takes any.
type want struct {
	size   int64
	digest string
}

// counter counts and digests what is written.
type counter struct {
	size int64
	hash interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func newCounter() *counter { return &counter{hash: sha256.New()} }

func (c *counter) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	return c.hash.Write(p)
}

func (c *counter) want() want { return want{size: c.size, digest: hex.EncodeToString(c.hash.Sum(nil))} }

// exactly wants this text.
func exactly(text string) want {
	c := newCounter()
	_, _ = c.Write([]byte(text))
	return c.want()
}

// chunks wants what the agent says to CHUNKS or NUMBERED, this many replies of it.
func chunks(replies, n, size int, numbered bool) want {
	c := newCounter()
	line := []byte(strings.Repeat("x", size-1) + "\n")
	for range replies {
		for i := range n {
			if numbered {
				copy(line, fmt.Appendf(nil, "%010d", i))
			}
			_, _ = c.Write(line)
		}
	}
	return c.want()
}

// lines wants this many lines, each made from its number, from 1.
func lines(n int, line func(i int) string) want {
	var b bytes.Buffer
	for i := 1; i <= n; i++ {
		b.WriteString(line(i) + "\n")
	}
	return exactly(b.String())
}

// pongs wants the answers to n prompts of one session.
func pongs(n int) want { return lines(n, func(i int) string { return fmt.Sprint("pong: ", i) }) }

// found is what a file holds.
func found(path string) (want, error) {
	f, err := os.Open(path)
	if err != nil {
		return want{}, err
	}
	defer f.Close()
	c := newCounter()
	_, err = io.Copy(c, f)
	return c.want(), err
}

// check looks whether a file is what is wanted.
func (w want) check(path string) error {
	if w == (want{}) {
		return nil
	}
	got, err := found(path)
	switch {
	case err != nil:
		return err
	case got.size != w.size:
		return fmt.Errorf("the output has %d bytes, and %d are owed", got.size, w.size)
	case got != w:
		return fmt.Errorf("the output has the right size and other bytes")
	}
	return nil
}
