//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// ms are samples of these times.
func ms(times ...float64) (list []sample) {
	for _, t := range times {
		list = append(list, sample{took: time.Duration(t * 1e6), cpu: time.Duration(t * 1e6)})
	}
	return list
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		of         []sample
		want, best float64
	}{{nil, 0, 0}, {ms(7), 7, 7}, {ms(9, 1, 5), 5, 1}, {ms(8, 2, 100, 4), 6, 2}} {
		if got := float64(median(c.of)) / 1e6; got != c.want {
			t.Errorf("median of %v: %v, want %v", c.of, got, c.want)
		}
		if got := float64(least(c.of, clock)) / 1e6; got != c.best {
			t.Errorf("least of %v: %v, want %v", c.of, got, c.best)
		}
	}
}

func TestThousands(t *testing.T) {
	for in, want := range map[string]string{"1": "1", "999": "999", "1000": "1,000", "1000000": "1,000,000"} {
		if got := thousands(in); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestRules(t *testing.T) {
	r := result{id: "c", floor: ms(10, 20, 60), xmd: ms(30, 15, 90)}
	r.xmd[1].peak, r.xmd[0].growth = 20*mib, 1.5
	for _, c := range []struct {
		target
		figure, best float64
	}{
		{target{rule: timesFloor, bound: 1.6}, 1.5, 1.5},
		{target{rule: overFloor, bound: 11}, 10, 5},
		{target{rule: within, bound: 31}, 30, 15},
		{target{rule: cpuFloor, bound: 1.6}, 1.5, 1.5},
		{target{rule: memory, bound: 21}, 20, 20},
		{target{rule: steady, bound: 1.6}, 1.5, 1.5},
	} {
		if got, best := c.target.figure(r), c.target.best(r); got != c.figure || best != c.best {
			t.Errorf("%v: %v and at best %v, want %v and %v", c.target, got, best, c.figure, c.best)
		}
		if !c.reached(r, c.figure) || c.reached(r, c.bound+0.1) {
			t.Errorf("%v is not held to its bound", c.target)
		}
		if c.reached(result{}, c.figure) || c.reached(result{xmd: r.xmd, err: errors.New("lost")}, c.figure) {
			t.Errorf("%v is reached by what was not measured", c.target)
		}
	}
}

// A gate on a time would fail on a slow machine.
func TestGatesAreNoTimes(t *testing.T) {
	known := map[string]bool{}
	for _, e := range (&bench{}).rows() {
		known[e.id] = true
	}
	for _, g := range gates {
		if g.rule == overFloor || g.rule == within {
			t.Errorf("%s: %v is a time", g.of, g)
		}
	}
	for _, target := range append(targets, gates...) {
		if !known[target.of] {
			t.Errorf("%s is no case", target.of)
		}
	}
}

func TestMissed(t *testing.T) {
	slow := result{id: "sessions", title: "sessions", floor: ms(1), xmd: ms(100)}
	if list := missed(slow); len(list) != 1 || !strings.Contains(list[0].Error(), "100 × the floor") {
		t.Errorf("%v", list)
	}
	fast := result{id: "sessions", floor: ms(1), xmd: ms(100, 1.1)}
	if list := missed(fast); len(list) != 0 {
		t.Errorf("%v", list)
	}
}

func TestWant(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := chunks(2, 2, 12, true)
	whole := strings.Repeat("0000000000x\n0000000001x\n", 2)
	write(whole)
	if err := w.check(path); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{whole[12:], whole + "x", whole[12:] + whole[:12], ""} {
		write(bad)
		if w.check(path) == nil {
			t.Errorf("%q is taken for the whole", bad)
		}
	}
}

func TestPage(t *testing.T) {
	r := report{when: time.Unix(0, 0), machine: []string{"**Go**: 1"}, repetitions: 2, results: []result{
		{id: "further", title: "a further prompt", floor: ms(1, 3), xmd: ms(2.5, 4)},
		{id: "none", title: "long", xmd: ms(900, 60_000, 60_000)},
		{id: "updates", title: "updates", err: errors.New("a | b\nc")},
	}, loads: []loadResult{{title: "many", lines: []measured{{"run", sample{took: time.Second, peak: 5 * mib}}, {"replay", sample{took: time.Minute}}}}}}
	text := r.text()
	for _, want := range []string{
		"* **Date**: 1970-01-01, medians of 2\n",
		"| a further prompt | 2.00 ms (1.00–3.00 ms) | – | 3.25 ms (2.50–4.00 ms) | 1.62 (2.50) | ≤ 1 ms over the floor | **no**: 1.25 ms over the floor |\n",
		"| long | – | – | 60.0 s (900 ms–60.0 s) | – | – | – |\n",
		`| updates | – | – | a \| b c | – | – | **failed** |` + "\n",
		"| further | ≤ 150 × the floor | 2.5 × the floor |\n",
		"| many | run | 1,000 ms | 5.0 MiB |\n|  | replay | 60.0 s | – |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if r.faults() == nil {
		t.Error("a case that failed is no fault")
	}
}

func TestHandWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := (report{}).write(path); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(text, "My word.\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (report{machine: []string{"another"}}).write(path); err != nil {
		t.Fatal(err)
	}
	text, _ = os.ReadFile(path)
	if !strings.HasSuffix(string(text), handText+"My word.\n") || !strings.Contains(string(text), "* another\n") {
		t.Errorf("%s", text)
	}
	if err := os.WriteFile(path, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	if (report{}).write(path) == nil {
		t.Error("a page without the line is overwritten")
	}
}
