//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// place is where a case is run: a home with nothing in it, and a folder with an xmd.toml, as a person would have them.
type place struct {
	*bench
	dir string
}

// place makes one. agent is what the agent is started with.
func (b *bench) place(name string, agent ...string) (*place, error) {
	p := &place{bench: b, dir: filepath.Join(b.dir, name)}
	if err := os.RemoveAll(p.dir); err != nil {
		return nil, err
	}
	for _, dir := range []string{p.home(), p.work()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	quoted := make([]string, len(agent))
	for i, arg := range agent {
		quoted[i] = strconv.Quote(arg)
	}
	config := fmt.Sprintf("agent = \"bench\"\n\n[agents.bench]\ncommand = %q\nargs = [%s]\n", b.agent, strings.Join(quoted, ", "))
	return p, os.WriteFile(filepath.Join(p.work(), "xmd.toml"), []byte(config), 0o600)
}

// used is a place where xmd has run before, so that the store is there.
func (b *bench) used(name string, agent ...string) (*place, error) {
	p, err := b.place(name, agent...)
	if err != nil {
		return nil, err
	}
	_, err = p.document("<Prompt>ping</Prompt>\n", exactly("pong: 1\n"))
	return p, err
}

func (p *place) home() string { return filepath.Join(p.dir, "home") }
func (p *place) work() string { return filepath.Join(p.dir, "work") }
func (p *place) out() string  { return filepath.Join(p.dir, "out") }
func (p *place) done()        { _ = os.RemoveAll(p.dir) }

func (p *place) program(args ...string) program {
	return program{args: args, dir: p.work(), home: p.home(), out: p.out(), errs: filepath.Join(p.dir, "errs")}
}

// checked runs a program whose output has to be this, and after which nothing may be left.
func (p *place) checked(q program, w want) (sample, error) {
	o, err := p.run(q)
	if err != nil {
		return o.sample, err
	}
	if err := errors.Join(w.check(q.out), p.gone()); err != nil {
		return o.sample, fmt.Errorf("%s: %w", strings.Join(q.args, " "), err)
	}
	return o.sample, nil
}

// document has xmd run a document of this text.
func (p *place) document(text string, w want) (sample, error) {
	const name = "doc.xmd"
	if err := os.WriteFile(filepath.Join(p.work(), name), []byte(text), 0o600); err != nil {
		return sample{}, err
	}
	return p.command(w, "run", name)
}

// command has xmd do something.
func (p *place) command(w want, args ...string) (sample, error) {
	return p.checked(p.program(append([]string{p.bench.xmd}, args...)...), w)
}

// bare has the floor send words some times over.
func (p *place) bare(words string, times int, w want) (sample, error) {
	return p.checked(p.program(p.bench.floor, words, strconv.Itoa(times), p.bench.agent), w)
}
