//go:build unix

package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"xmd/lang"
	"xmd/lang/plan"
	"xmd/lang/scan"
)

const prosePart = `## Step %[1]d: naïve 漢字

A paragraph of plain text with ` + "`code`" + `, a < b, <div>, JSON {"a": {"b": 1}} and more of what prose has. It goes on for some
lines, as prose does, and names {props.topic} once in a while.

<If condition={props.tries > %[1]d}>
  <Prompt session="s" as="r%[1]d">
    Please look at {props.topic} again, with all that was said before.
    <Let as="note" value={{"round": %[1]d, "list": ["a", "b"]}}/>
  </Prompt>
<Else>
  Nothing to do.
</Else>
</If>

`

const densePart = `<Let as="a%[1]d" value={props.topic + "x"}/> {props.topic} and <Prompt text={props.topic} agent="a"/> {a%[1]d}
<If condition={props.tries > 2 && props.topic contains "x"}>{props.tries}<Else>no</Else></If> of <Agent name="x"/>
`

// sized is a document of a size, in bytes.
func sized(part string, size int) string {
	var s strings.Builder
	s.WriteString("---\nprops:\n  topic: {type: string}\n  tries: {type: integer}\n---\n")
	for i := 0; s.Len() < size; i++ {
		fmt.Fprintf(&s, part, i)
	}
	return s.String()
}

// check compares parsing and checking with a bare scan of the same document, and a byte of a large document with one of a small.
func (b *bench) check(name, part string) (contest, error) {
	small, text, large := sized(part, 64<<10), sized(part, 1<<20), sized(part, pick(b.short, 2<<20, 8<<20))
	perByte := func(text string, times int) float64 { return float64(checking(text, times).cpu) / float64(len(text)) }
	xmd := func(int) (sample, error) {
		bare := timed(3, func() {
			for scanner := scan.New(text); scanner.Next().Kind != scan.EOF; {
			}
		})
		s := checking(text, 3)
		s.base = &bare
		s.growth = perByte(large, 1) / perByte(small, 10)
		return s, nil
	}
	return contest{title: fmt.Sprintf("parse + check of 1 MiB of %s (floor: a bare scan)", name), xmd: xmd}, nil
}

// checking is the least that parsing and checking a text takes, which has to be valid.
func checking(text string, times int) sample {
	return timed(times, func() {
		doc, list := lang.Parse("bench.xmd", text)
		if compiled, more := plan.Compile(doc); compiled == nil || list.HasErrors() {
			panic(fmt.Sprint("the document of the benchmark is invalid: ", list, more))
		}
	})
}

// timed is the least of some times, by the clock and of the processors.
func timed(times int, do func()) sample {
	least := sample{took: 1<<63 - 1, cpu: 1<<63 - 1}
	for range times {
		begun, used := time.Now(), worked()
		do()
		least.took, least.cpu = min(least.took, time.Since(begun)), min(least.cpu, worked()-used)
	}
	return least
}

// worked is the processor time that this process has used.
func worked() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
