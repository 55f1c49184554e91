package plan_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/lang"
	"xmd/lang/plan"
	"xmd/lang/resolve"
	"xmd/lang/scan"
)

// prose is a document as people write them; dense has something that acts about every 60 bytes.
func prose(size int) string {
	const section = `## Step %[1]d: naïve 漢字

A paragraph of plain text with ` + "`code`" + `, a < b, <div>, JSON {"a": {"b": 1}} and a function fn({a:1},"}"). It goes on
for some lines, as prose does, and names {props.topic} once in a while.

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
	return grow(size, section)
}

func dense(size int) string {
	return grow(size, `<Let as="a%[1]d" value={props.topic + "x"}/> {props.topic} and <Prompt text={props.topic} agent="a"/> {a%[1]d}
<If condition={props.tries > 2 && props.topic contains "x"}>{props.tries}<Else>no</Else></If> of <Agent name="x"/>
`)
}

const front = "---\nprops:\n  topic: {type: string}\n  tries: {type: integer}\n---\n"

func grow(size int, section string) string {
	var b strings.Builder
	b.WriteString(front)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, section, i)
	}
	return b.String()
}

// cpu is the processor time that this process used, which a busy machine does not distort.
func cpu() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// best is the least processor time of several runs.
func best(runs int, do func()) time.Duration {
	least := time.Duration(1 << 62)
	for range runs {
		start := cpu()
		do()
		least = min(least, cpu()-start)
	}
	return least
}

func bareScan(text string) {
	s := scan.New(text)
	for s.Next().Kind != scan.EOF {
	}
}

// BenchmarkStages compares all four stages with the bare scanner on the same input, and looks whether they are linear.
func BenchmarkStages(b *testing.B) {
	for name, make := range map[string]func(int) string{"prose": prose, "dense": dense} {
		b.Run(name, func(b *testing.B) {
			small, text, large := make(64<<10), make(1<<20), make(8<<20)
			all := func(text string) {
				doc, list := lang.Parse("x.xmd", text)
				p, more := plan.Compile(doc)
				if p == nil || list.HasErrors() {
					b.Fatal(list, more)
				}
			}
			var bare, whole, tiny, huge time.Duration
			for b.Loop() {
				bare = best(5, func() { bareScan(text) })
				whole = best(5, func() { all(text) })
				tiny = best(5, func() {
					for range 16 {
						all(small)
					}
				})
				huge = best(2, func() { all(large) })
			}
			doc, _ := lang.Parse("x.xmd", text)
			parse := best(3, func() { lang.Parse("x.xmd", text) })
			res := best(3, func() { resolve.Resolve(doc, resolve.Options{}) })
			comp := best(3, func() { plan.Compile(doc) })
			b.Logf("bare %v, parse %v, resolve %v, resolve+build %v, all %v, 16 x 64K %v, 8M %v", bare, parse, res, comp, whole, tiny, huge)
			b.ReportMetric(float64(len(text))/whole.Seconds()/1e6, "MB/s")
			b.ReportMetric(float64(len(text))/bare.Seconds()/1e6, "scanMB/s")
			b.ReportMetric(float64(whole)/float64(bare), "x-scan")
			b.ReportMetric(float64(huge)/8/float64(tiny), "8M/64K")
			if float64(whole) > 60*float64(bare) {
				b.Errorf("the four stages take %.0f times as long as the bare scanner; 60 is the limit", float64(whole)/float64(bare))
			}
			// A quadratic step would make it 128 times; what there is comes from the garbage collector's larger heap.
			if float64(huge) > 5*8*float64(tiny) {
				b.Errorf("not linear: a byte of 8 MB takes %.1f times as long as one of 64 KB", float64(huge)/8/float64(tiny))
			}
		})
	}
}

// BenchmarkCompile is resolving and building alone, of a document that was parsed.
func BenchmarkCompile(b *testing.B) {
	for _, in := range []struct {
		name string
		make func(int) string
	}{{"prose", prose}, {"dense", dense}} {
		b.Run(in.name, func(b *testing.B) {
			text := in.make(1 << 20)
			doc, _ := lang.Parse("x.xmd", text)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if p, list := plan.Compile(doc); p == nil {
					b.Fatal(list)
				}
			}
		})
	}
}
