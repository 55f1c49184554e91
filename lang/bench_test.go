package lang

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"xmd/lang/scan"
)

const prosePart = `## Section naïve 漢字

Text with ` + "`inline code`" + ` and a < b, a <div> of prose that goes on for a while, as prose does, with {"json": [1, 2]} in it
and a second line, a [link](https://example.org/x "title") and more words; {props.name} is put in here.

- one item of a list
- another one, with ` + "``two `ticks` ``" + `

<If condition={len(items) > 0}>
  <Prompt agent="codex" session="s">
    Look at {items[0].name} and say what is wrong with it.
    <Note kind="x"/>
  </Prompt>
</If>

` + "```go\nfunc f() { return <T>{x} }\n```\n\n"

// densePart has a tag or interpolation about every 60 bytes.
const densePart = "<If condition={a}>\n  Some words of a sentence and {x} in it, then more of them, and\n  <Prompt text=\"a question of some length\" as=\"r\"/>\n  {y.z[0]} and what comes after it in the text,\n" +
	"</If>\n- an item with `code` and a <Note a=\"b\"/> and words\n"

// tagsPart is hardly anything but tags.
const tagsPart = "<If condition={a}>{x} <Prompt text=\"q\" as=\"r\"/>\n  b {y.z[0]} </If>\n- <Note a=\"b\"/> `c`\n"

// sized repeats a part to about n bytes.
func sized(part string, n int) string { return strings.Repeat(part, n/len(part)+1) }

var inputs = []struct{ name, part string }{{"prose", prosePart}, {"dense", densePart}, {"tags", tagsPart}}

var sizes = []struct {
	name string
	n    int
}{{"64K", 64 << 10}, {"1M", 1 << 20}, {"8M", 8 << 20}}

// scanAll is the bare scanner: no token is kept.
func scanAll(text string) (n int) {
	for s := scan.New(text); s.Next().Kind != scan.EOF; {
		n++
	}
	return n
}

func BenchmarkScan(b *testing.B)  { bench(b, func(text string) { scanAll(text) }) }
func BenchmarkParse(b *testing.B) { bench(b, func(text string) { Parse("b", text) }) }

func bench(b *testing.B, run func(string)) {
	for _, in := range inputs {
		for _, size := range sizes {
			b.Run(in.name+"/"+size.name, func(b *testing.B) {
				text := sized(in.part, size.n)
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					run(text)
				}
			})
		}
	}
}

// best is the shortest time of some runs.
func best(runs int, f func()) time.Duration {
	shortest := time.Hour
	for range runs {
		start := time.Now()
		f()
		shortest = min(shortest, time.Since(start))
	}
	return shortest
}

// TestSpeed holds the ratio of parsing to bare scanning, and that both are linear. The machine's own speed plays no part; the bounds are
// wide, because it is shared.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	for _, in := range inputs {
		small, large := sized(in.part, 64<<10), sized(in.part, 1<<20)
		scanning := best(5, func() { scanAll(large) })
		parsing := best(3, func() { Parse("b", large) })
		little := best(10, func() { Parse("b", small) })
		ratio := float64(parsing) / float64(scanning)
		growth := float64(parsing) / float64(little) / (float64(len(large)) / float64(len(small)))
		t.Logf("%s: scan %.0f MB/s, parse %.1f MB/s, ratio %.1f, growth %.2f", in.name, mbs(large, scanning), mbs(large, parsing), ratio, growth)
		if ratio > 25 && in.name != "tags" {
			t.Errorf("%s: parsing takes %.1f times as long as scanning", in.name, ratio)
		}
		if growth > 4 {
			t.Errorf("%s: parsing is not linear: %.1f", in.name, growth)
		}
	}
}

func mbs(text string, d time.Duration) float64 { return float64(len(text)) / 1e6 / d.Seconds() }

// TestBounded puts in texts that make careless searches quadratic, a megabyte of the first and less of the others: all end quickly.
func TestBounded(t *testing.T) {
	for i, c := range []struct {
		part  string
		clean bool // it comes out unchanged, without an error
	}{
		{"<A a={ ", false}, {"<A>", false}, {"{ ", true}, {"<A a={\n", false}, {"<A>\n", false}, {"<A b=\"\n", false}, {"<A b='\n<A b=\"\n", false}, {"{", true}, {"{a", true},
		{"{a[\"", true}, {"{a[\"\n", true}, {"`", true}, {"` ``\n", true}, {"<!--", false}, {"<!--\n", false}, {"{/*\n", false}, {"[", true}, {"[](a ", true}, {"[](\"", true},
		{"[](<", true}, {"![](\\(", true}, {"> ", true}, {"- ", true}, {"- a\n\n", true}, {"> - ", true}, {"```\n> ", true}, {"\\", true}, {"\\{a}", false}, {"</A>", false},
		{"<A></B>", false}, {"<A/>\n`` ", false}, {"`a` <A\n/>\n", false}, {"<A a={'\\'", false}, {"<A a={\"\\'\n", false}, {"<A a={`\n", false}, {"<A ", false}, {"<A =", false},
		{"```bash exec\n", false}, {"{a}\n", true}, {"\t", true}, {"1. ", true}, {"<A\n", false}, {"<If condition={a}>\n  ", false}, {"]", true}, {"[a](b) [", true}, {"\r", true},
		{"a\n    - `b\n", true}, {"a: b\n---\n", true},
	} {
		size := 256 << 10
		if i < 3 {
			size = 1 << 20
		}
		text := strings.Repeat(c.part, size/len(c.part))
		var errors int
		took := best(1, func() {
			_, list := Parse("f", text)
			errors = len(list)
		})
		if took > 5*time.Second {
			t.Errorf("%q: %v", c.part, took)
		}
		if testing.Verbose() && took > time.Second/4 {
			fmt.Printf("%q: %v, %d errors\n", c.part, took, errors)
		}
		if c.clean {
			comesOutAsWritten(t, c.part, text)
		}
	}
}

// TestBoundedRuns has runs of ever other lengths, each without an end.
func TestBoundedRuns(t *testing.T) {
	var b strings.Builder
	for n := 1; b.Len() < 1<<20; n++ {
		b.WriteString(strings.Repeat("`", n) + " `x` ")
	}
	if took := best(1, func() { scanAll(b.String()) }); took > 5*time.Second {
		t.Errorf("%v", took)
	}
}
