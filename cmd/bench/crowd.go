//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// atOnce runs as many at once: the time until all have ended, the processor time of all, the largest peak.
func (p *place) atOnce(many int, one func(i int) (sample, error)) (sample, error) {
	errs, all := make([]error, many), make([]sample, many)
	begun := time.Now()
	var running sync.WaitGroup
	for i := range many {
		running.Go(func() { all[i], errs[i] = one(i) })
	}
	running.Wait()
	s := sample{took: time.Since(begun), peak: peak(all)}
	for _, one := range all {
		s.cpu += one.cpu
	}
	return s, errors.Join(append(errs, p.gone())...)
}

// apart runs one of several programs at once, with files of its own.
func (p *place) apart(i int, q program, w want) (sample, error) {
	q.out, q.errs = fmt.Sprint(q.out, i), fmt.Sprint(q.errs, i)
	o, err := p.run(q)
	if err == nil {
		err = w.check(q.out)
	}
	return o.sample, err
}

// one is one xmd of a crowd, with a document of its own.
func (p *place) one(i, prompts int) (sample, error) {
	name := fmt.Sprintf("doc%d.xmd", i)
	text := fmt.Sprintf("<Loop max={%d}>\n<Prompt session=\"s%d\">ping</Prompt>\n</Loop>\n", prompts, i)
	if err := os.WriteFile(filepath.Join(p.work(), name), []byte(text), 0o600); err != nil {
		return sample{}, err
	}
	return p.apart(i, p.program(p.bench.xmd, "run", name), pongs(prompts))
}

// ids are those of a list of runs as JSON.
func ids(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list struct {
		Runs []struct {
			ID string `json:"run"`
		} `json:"runs"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	out := make([]string, len(list.Runs))
	for i, run := range list.Runs {
		out[i] = run.ID
	}
	return out, nil
}
