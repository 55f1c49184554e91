//go:build unix

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// entry is a case that can be made when it is its turn.
type entry struct {
	id   string
	make func() (contest, error)
}

// rows are the cases of the table, in the order of the page.
func (b *bench) rows() []entry {
	list := []entry{
		{"version", b.version}, {"one", b.one}, {"further", b.further}, {"three", b.three},
		{"updates", func() (contest, error) { return b.updates(pick(b.short, 20_000, 100_000), false) }},
		{"updates-made", func() (contest, error) { return b.updates(pick(b.short, 20_000, 100_000), true) }},
		{"bytes-4k", func() (contest, error) { return b.bytes("bytes-4k", "4 KiB", 4<<10, false) }},
		{"captured-4k", func() (contest, error) { return b.bytes("captured-4k", "4 KiB", 4<<10, true) }},
		{"bytes-1m", func() (contest, error) { return b.bytes("bytes-1m", "1 MiB", 1<<20, false) }},
		{"captured-1m", func() (contest, error) { return b.bytes("captured-1m", "1 MiB", 1<<20, true) }},
		{"sessions", b.sessions}, {"beside", b.beside}, {"interrupt", b.interrupt},
		{"check-prose", func() (contest, error) { return b.check("prose", prosePart) }},
		{"check-dense", func() (contest, error) { return b.check("dense", densePart) }},
		{"replay", b.replay},
	}
	return slices.DeleteFunc(list, func(e entry) bool {
		// One form of captured is enough for what the short form looks for. Another agent does not know NUMBERED.
		return b.short && e.id == "captured-1m" || b.foreign && e.id == "updates-made"
	})
}

// pick is the first if the condition holds.
func pick[T any](condition bool, yes, no T) T {
	if condition {
		return yes
	}
	return no
}

func (b *bench) version() (contest, error) {
	p, err := b.place("version")
	return contest{
		title: "`--version` (floor: the agent with nothing to read)", finish: p.done,
		floor: func(int) (sample, error) { return p.checked(p.program(b.agent), want{}) },
		acpx:  b.acpx.measured(p, "--version"),
		xmd:   func(int) (sample, error) { return p.command(want{}, "--version") },
	}, err
}

func (b *bench) one() (contest, error) {
	p, err := b.used("one")
	return contest{
		title: "one prompt, whole process", finish: p.done,
		floor: func(int) (sample, error) { return p.bare("ping", 1, exactly("pong: 1")) },
		acpx:  b.acpx.measured(p, "exec", "ping"),
		xmd:   func(int) (sample, error) { return p.document("<Prompt>ping</Prompt>\n", exactly("pong: 1\n")) },
	}, err
}

// further is what one more prompt takes: a process with many of them less one with a single one.
func (b *bench) further() (contest, error) {
	p, err := b.used("further")
	more := pick(b.short, 50, 200)
	each := func(more int, measure func(prompts int) (sample, error)) (sample, error) {
		few, err := measure(1)
		if err != nil {
			return few, err
		}
		many, err := measure(1 + more)
		many.took = (many.took - few.took) / time.Duration(more)
		many.cpu = (many.cpu - few.cpu) / time.Duration(more)
		return many, err
	}
	bare := func(int) (sample, error) { // it takes so little that only many of them can be measured
		return each(20*more, func(n int) (sample, error) { return p.bare("ping", n, exactly(joined(n))) })
	}
	xmd := func(i int) (sample, error) {
		return each(more, func(n int) (sample, error) {
			return p.document(fmt.Sprintf("<Loop max={%d}>\n<Prompt session=\"s%d-%d\">ping</Prompt>\n</Loop>\n", n, i, n), pongs(n))
		})
	}
	return contest{title: fmt.Sprintf("a further prompt on a live session (of %d)", more), finish: p.done, floor: bare, xmd: xmd, acpx: b.acpx.further(p)}, err
}

// joined is what the floor writes of n prompts.
func joined(n int) string {
	var s strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprint(&s, "pong: ", i)
	}
	return s.String()
}

// threeSteps is a document in which a step uses what came before.
const threeSteps = `<Prompt as="first">ping</Prompt>
<Prompt as="second">say more than {first}</Prompt>

{first}, {second}

<Prompt>and to {second}</Prompt>
`

func (b *bench) three() (contest, error) {
	p, err := b.used("three")
	return contest{
		title: "3 steps in one document", finish: p.done,
		floor: func(int) (sample, error) { return p.bare("ping", 3, exactly(joined(3))) },
		acpx:  b.acpx.flow(p),
		xmd:   func(int) (sample, error) { return p.document(threeSteps, exactly("\npong: 1, pong: 2\n\npong: 3\n")) },
	}, err
}

// updates is a turn of many small pieces, from an agent that makes each anew, or from one that takes no time for it.
func (b *bench) updates(n int, made bool) (contest, error) {
	p, err := b.used("updates")
	words, w := fmt.Sprintf("CHUNKS %d 20", n), chunks(1, n, 20, false)
	c := contest{title: fmt.Sprintf("%s updates of 20 B", thousands(fmt.Sprint(n))), finish: p.done}
	if made {
		words, w = fmt.Sprintf("NUMBERED %d 20", n), chunks(1, n, 20, true)
		c.title += ", from an agent that takes no time for them"
	} else {
		c.acpx = b.acpx.measured(p, "--format", "json", "exec", words)
	}
	c.floor = func(int) (sample, error) { return p.bare(words, 1, w) }
	c.xmd = func(int) (sample, error) { return p.document("<Prompt>"+words+"</Prompt>\n", w) }
	return c, err
}

// bytes is one long reply, in chunks of one size, written out or captured. That memory does not grow with it is seen from a reply of a
// quarter of its size.
func (b *bench) bytes(id, unit string, size int, captured bool) (contest, error) {
	p, err := b.used(id)
	total := pick(b.short, 8, 50)
	n := total << 20 / size
	reply := func(n int) (sample, error) {
		words := fmt.Sprintf("CHUNKS %d %d", n, size)
		if captured {
			text := "<Prompt as=\"reply\">" + words + "</Prompt>\n<Let as=\"length\" value={len(reply)}/>\n{length}\n"
			return p.document(text, exactly(fmt.Sprintf("%d\n", n*size-1))) // its last line end is trimmed
		}
		return p.document("<Prompt>"+words+"</Prompt>\n", chunks(1, n, size, false))
	}
	xmd := func(i int) (sample, error) {
		all, err := reply(n)
		if err != nil || i > 0 {
			return all, err
		}
		quarter, err := reply(n / 4)
		all.growth = float64(all.peak) / float64(max(1, quarter.peak))
		return all, err
	}
	words := fmt.Sprintf("CHUNKS %d %d", n, size)
	c := contest{
		title: fmt.Sprintf("%d MiB as %s chunks", total, unit), finish: p.done, xmd: xmd,
		floor: func(int) (sample, error) { return p.bare(words, 1, chunks(1, n, size, false)) },
	}
	if captured {
		c.title += ", captured"
		c.repetitions = pick(b.short, 1, 0)
	} else {
		c.acpx = b.acpx.measured(p, "--format", "json", "exec", words)
	}
	return c, err
}

// replay tells a run of which 100,000 events are on record: tool calls, none of which is part of another.
func (b *bench) replay() (contest, error) {
	p, err := b.used("replay")
	n := pick(b.short, 20_000, 100_000)
	if err != nil {
		return contest{}, err
	}
	w := exactly("done\n")
	if _, err := p.document(fmt.Sprintf("<Prompt>TOOLS %d</Prompt>\n", n/2), w); err != nil {
		return contest{}, err
	}
	if _, err := p.command(want{}, "export", "last"); err != nil {
		return contest{}, err
	}
	record, err := os.ReadFile(p.out())
	if err != nil {
		return contest{}, err
	}
	if on := strings.Count(string(record), `"kind":"tool.`); on < n {
		err = fmt.Errorf("the journal holds %d of %d events", on, n)
	}
	return contest{
		title: fmt.Sprintf("replay of a journal of %s events", thousands(fmt.Sprint(n))), finish: p.done,
		xmd: func(int) (sample, error) { return p.command(w, "replay", "last") },
	}, err
}
