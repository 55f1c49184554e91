//go:build unix

package main

import (
	"errors"
	"fmt"
	"time"
)

// all runs every case and load that is asked for, says how each went, and writes the page.
func (b *bench) all() error {
	r := report{when: time.Now(), machine: b.machine(), repetitions: b.repetitions}
	for _, e := range b.rows() {
		if b.only.MatchString(e.id) {
			result := b.row(e)
			fmt.Print(row(result))
			r.results = append(r.results, result)
		}
	}
	for _, l := range b.loads() {
		if b.only.MatchString(l.title) {
			result := b.load(l)
			fmt.Print(result.rows())
			r.loads = append(r.loads, result)
		}
	}
	var err error
	if b.page != "" {
		err = r.write(b.page)
	}
	return errors.Join(err, r.faults(), b.gate(r.results))
}

// row makes and runs a case. In the short form one that misses a gate is run once more: a busy machine may spoil one run of it, a real
// loss of speed spoils both.
func (b *bench) row(e entry) result {
	r := b.contest(e)
	if b.short && r.err == nil && len(missed(r)) > 0 {
		if again := b.contest(e); again.err != nil || len(missed(again)) < len(missed(r)) {
			return again
		}
	}
	return r
}

func (b *bench) contest(e entry) result {
	c, err := e.make()
	if err != nil {
		return result{id: e.id, title: e.id, err: err}
	}
	r := c.run(b.repetitions)
	r.id = e.id
	return r
}

// load runs a load in a place of its own.
func (b *bench) load(l load) loadResult {
	r := loadResult{title: l.title}
	p, err := b.used("load")
	if err != nil {
		r.err = err
		return r
	}
	defer p.done()
	r.lines, r.err = l.run(p)
	return r
}

// gate says which gates were missed, in the short form.
func (b *bench) gate(results []result) error {
	var all []error
	if b.short {
		for _, r := range results {
			all = append(all, missed(r)...)
		}
	}
	return errors.Join(all...)
}
