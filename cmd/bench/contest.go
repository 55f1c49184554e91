package main

import "fmt"

// contest is one case: what is measured in turn, a repetition of each and then the next.
type contest struct {
	title            string
	floor, acpx, xmd func(repetition int) (sample, error) // nil: not measured
	repetitions      int                                  // 0: as many as asked for
	finish           func()                               // puts away what it needed
}

// run measures. acpx, which takes its time, is measured three times at most.
func (c contest) run(repetitions int) result {
	r := result{title: c.title}
	if c.repetitions > 0 {
		repetitions = c.repetitions
	}
	if c.finish != nil {
		defer c.finish()
	}
	add := func(to *[]sample, name string, measure func(int) (sample, error), i int) {
		if measure == nil || r.err != nil {
			return
		}
		s, err := measure(i)
		if err != nil {
			r.err = fmt.Errorf("%s: %w", name, err)
			return
		}
		*to = append(*to, s)
		if s.base != nil {
			r.floor = append(r.floor, *s.base)
		}
	}
	for i := range repetitions {
		add(&r.floor, "the floor", c.floor, i)
		add(&r.xmd, "xmd", c.xmd, i)
		if i < 3 {
			add(&r.acpx, "acpx", c.acpx, i)
		}
	}
	return r
}
