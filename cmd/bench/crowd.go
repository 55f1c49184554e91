//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// one is one process of a crowd, with a document and an output of its own.
func (p *place) one(number, prompts int) (sample, error) {
	name := filepath.Join(p.work(), fmt.Sprintf("doc%d.xmd", number))
	text := fmt.Sprintf("<Loop max={%d}>\n<Prompt session=\"s%d\">ping</Prompt>\n</Loop>\n", prompts, number)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return sample{}, err
	}
	q := p.program(p.bench.xmd, "run", name)
	q.out, q.errs = fmt.Sprint(q.out, number), fmt.Sprint(q.errs, number)
	o, err := p.run(q)
	if err == nil {
		err = pongs(prompts).check(q.out)
	}
	return o.sample, err
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
