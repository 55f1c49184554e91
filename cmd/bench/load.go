//go:build unix

package main

import (
	"fmt"
	"strings"
	"time"
)

// load is a case of much of something. It is there for what breaks under it, and its times are for people; nothing may be lost.
type load struct {
	title string
	run   func(p *place) ([]measured, error)
}

// measured is a line of the page about a load.
type measured struct {
	what string
	sample
}

// loads are those of the page, or smaller ones.
func (b *bench) loads() []load {
	few := func(short, all int) int { return pick(b.short, short, all) }
	word := pick(b.foreign, "CHUNKS", "NUMBERED")
	return []load{
		b.streams(64, few(50, 2000), word),
		b.prompts(few(50, 500)),
		b.steps(few(200, 10_000)),
		b.reply(fmt.Sprintf("a reply of %d MB", few(5, 100)), word, few(5, 100)*1_000_000/4000, 4000),
		b.reply(fmt.Sprintf("a turn of %s updates", thousands(fmt.Sprint(few(20_000, 1_000_000)))), word, few(20_000, 1_000_000), 20),
		b.history(few(20, 1000)),
		b.crowd(few(4, 10), few(5, 50)),
	}
}

// kept runs a document, and then tells it again from the journal: both have to give the same.
func (p *place) kept(text string, w want) ([]measured, error) {
	ran, err := p.document(text, w)
	if err != nil {
		return nil, err
	}
	told, err := p.command(w, "replay", "last")
	return []measured{{"run", ran}, {"replay", told}}, err
}

// streams is 64 agents that all say much at once.
func (b *bench) streams(many, n int, word string) load {
	const size = 1000
	title := fmt.Sprintf("%d sessions at once, %s updates of %d B each", many, thousands(fmt.Sprint(n)), size)
	return load{title, func(p *place) ([]measured, error) {
		text := parallel(many, func(i int) string { return fmt.Sprintf("<Prompt session=\"s%d\">%s %d %d</Prompt>", i, word, n, size) })
		return p.kept(text, chunks(many, n, size, !b.foreign))
	}}
}

// prompts is a document with many prompts, written out, in ten sessions.
func (b *bench) prompts(n int) load {
	return load{fmt.Sprintf("%d prompts in one document, in 10 sessions", n), func(p *place) ([]measured, error) {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "<Prompt session=\"s%d\" as=\"r%d\">ping</Prompt>\n{r%d}\n", i%10, i, i)
		}
		return p.kept(text.String(), lines(n, func(i int) string { return fmt.Sprint("pong: ", (i-1)/10+1) }))
	}}
}

// steps is a loop.
func (b *bench) steps(n int) load {
	return load{fmt.Sprintf("%s steps from a loop", thousands(fmt.Sprint(n))), func(p *place) ([]measured, error) {
		return p.kept(fmt.Sprintf("<Loop max={%d}>\n<Prompt session=\"s\">ping</Prompt>\n</Loop>\n", n), pongs(n))
	}}
}

// reply is one long turn.
func (b *bench) reply(title, word string, n, size int) load {
	return load{title, func(p *place) ([]measured, error) {
		return p.kept(fmt.Sprintf("<Prompt>%s %d %d</Prompt>\n", word, n, size), chunks(1, n, size, !b.foreign))
	}}
}

// history is what becomes slower when there are many runs on record.
func (b *bench) history(runs int) load {
	return load{fmt.Sprintf("%s runs in the store", thousands(fmt.Sprint(runs))), func(p *place) ([]measured, error) {
		text, w := "<Prompt>ping</Prompt>\n", exactly("pong: 1\n")
		run := func() (sample, error) { return p.document(text, w) }
		first, err := middle(5, run)
		if err != nil {
			return nil, err
		}
		begun := time.Now()
		for range runs - 11 { // the place's own, the first and the last
			if _, err := run(); err != nil {
				return nil, err
			}
		}
		filled := sample{took: time.Since(begun)}
		last, err := middle(5, run)
		if err != nil {
			return nil, err
		}
		ids, _, err := p.listed(runs)
		if err != nil {
			return nil, err
		}
		newest, err := middle(5, func() (sample, error) { return p.command(want{}, "runs") })
		if err != nil {
			return nil, err
		}
		listed, err := middle(5, func() (sample, error) { return p.command(want{}, "runs", "--limit", "0") })
		if err != nil {
			return nil, err
		}
		told, err := middle(5, func() (sample, error) { return p.command(w, "replay", ids[len(ids)-1]) })
		return []measured{
			{"one of the first runs", first}, {"all runs between", filled}, {"one of the last runs", last}, {"`xmd runs`", newest}, {"`xmd runs --limit 0`", listed}, {"replay of the oldest", told},
		}, err
	}}
}

// middle is the median time of some, with the largest peak.
func middle(times int, measure func() (sample, error)) (sample, error) {
	all := make([]sample, times)
	for i := range all {
		var err error
		if all[i], err = measure(); err != nil {
			return sample{}, err
		}
	}
	return sample{took: median(all), peak: peak(all)}, nil
}

// listed are the ids of all runs, the last one first. There have to be as many as this.
func (p *place) listed(runs int) ([]string, sample, error) {
	s, err := p.command(want{}, "runs", "--limit", "0", "--format", "json")
	if err != nil {
		return nil, s, err
	}
	ids, err := ids(p.out())
	if err == nil && len(ids) != runs {
		err = fmt.Errorf("%d runs are on record, and %d were made", len(ids), runs)
	}
	return ids, s, err
}

// crowd is several xmd on one store, each with several prompts of its own.
func (b *bench) crowd(many, prompts int) load {
	return load{fmt.Sprintf("%d xmd processes at once on one store, %d prompts each", many, prompts), func(p *place) ([]measured, error) {
		took, err := p.atOnce(many, func(i int) (sample, error) { return p.one(i, prompts) })
		if err != nil {
			return nil, err
		}
		ids, _, err := p.listed(many + 1)
		if err != nil {
			return nil, err
		}
		for _, id := range ids[:many] {
			if _, err := p.command(pongs(prompts), "replay", id); err != nil {
				return nil, err
			}
		}
		return []measured{{"all of them", took}}, nil
	}}
}
