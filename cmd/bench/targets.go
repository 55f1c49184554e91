package main

import (
	"fmt"
	"time"
)

// rule says what a target bounds.
type rule int

const (
	timesFloor rule = iota // the median of xmd, as a multiple of that of the floor
	overFloor              // the same, less that of the floor, in milliseconds
	within                 // the median of xmd in milliseconds: for people to read, since it is the machine's as much as xmd's
	cpuFloor               // the least processor time of xmd, as a multiple of that of the floor
	memory                 // the largest peak, in MiB
	steady                 // what grows as the input grows, as a multiple of what a part of the input takes
)

// target is what a case has to reach.
type target struct {
	of    string // the case
	rule  rule
	bound float64
}

// targets are those of the whole benchmarks. A case that is in none is shown for comparison.
var targets = []target{
	{"version", within, 10}, {"version", memory, 15},
	{"one", overFloor, 25}, {"one", memory, 30},
	{"further", overFloor, 1},
	{"three", overFloor, 20},
	{"updates", timesFloor, 1.1}, {"updates", memory, 40},
	{"bytes-4k", timesFloor, 1.1}, {"bytes-4k", steady, 1.25},
	{"bytes-1m", timesFloor, 1.1}, {"bytes-1m", steady, 1.25},
	{"sessions", timesFloor, 1.3},
	{"interrupt", within, 300},
	{"check-prose", timesFloor, 25}, {"check-prose", steady, 3},
	{"check-dense", timesFloor, 25}, {"check-dense", steady, 3},
	{"replay", within, 1000},
}

// gates are what the short form fails on: ratios of one and the same run, never a time, and memory, which no busy machine changes. Ratios
// are of the least that was measured. That of processor time is steady and tight; that by the clock is there for what waits and does not
// work, and wide. Both have head-room over what is measured (specs/benchmarks.md).
var gates = []target{
	{"version", timesFloor, 15}, {"version", cpuFloor, 7}, {"version", memory, 18},
	{"one", timesFloor, 40}, {"one", cpuFloor, 10}, {"one", memory, 30},
	{"further", timesFloor, 150}, {"further", cpuFloor, 32},
	{"three", timesFloor, 40}, {"three", cpuFloor, 12},
	{"updates", timesFloor, 8}, {"updates", cpuFloor, 2.4}, {"updates", memory, 55}, {"updates-made", cpuFloor, 3.2},
	{"bytes-4k", timesFloor, 8}, {"bytes-4k", cpuFloor, 3.4}, {"bytes-4k", memory, 60},
	{"bytes-1m", timesFloor, 8}, {"bytes-1m", cpuFloor, 3}, {"bytes-1m", memory, 75},
	{"sessions", timesFloor, 10}, {"beside", timesFloor, 15}, {"beside", cpuFloor, 4.8},
	{"check-prose", cpuFloor, 55}, {"check-prose", steady, 4},
	{"check-dense", cpuFloor, 65}, {"check-dense", steady, 4},
}

// figure is what the rule of a target bounds, of the medians.
func (t target) figure(r result) float64 {
	return t.amount(r, median(r.xmd), median(r.floor))
}

// best is the same of the least that was measured.
func (t target) best(r result) float64 {
	return t.amount(r, least(r.xmd, clock), least(r.floor, clock))
}

func (t target) amount(r result, xmd, floor time.Duration) float64 {
	switch t.rule {
	case timesFloor:
		return times(xmd, floor)
	case overFloor:
		return float64(xmd-floor) / float64(time.Millisecond)
	case within:
		return float64(xmd) / float64(time.Millisecond)
	case cpuFloor:
		return times(least(r.xmd, processors), least(r.floor, processors))
	case memory:
		return float64(peak(r.xmd)) / mib
	default:
		return growth(r.xmd)
	}
}

// reached says whether a figure of a result is within the bound. What was not measured is not.
func (t target) reached(r result, figure float64) bool {
	return r.err == nil && len(r.xmd) > 0 && figure > 0 && figure <= t.bound
}

// missed are the gates that a result does not pass.
func missed(r result) (list []error) {
	for _, t := range of(r.id, gates) {
		if figure := t.best(r); r.err == nil && !t.reached(r, figure) {
			list = append(list, fmt.Errorf("%s: %s; more than %s is a loss", r.title, t.value(figure), t.value(t.bound)))
		}
	}
	return list
}

// String is the target for the page.
func (t target) String() string { return "≤ " + t.value(t.bound) }

// value is a figure with the unit of the rule.
func (t target) value(v float64) string {
	switch t.rule {
	case timesFloor:
		return fmt.Sprintf("%.3g × the floor", v)
	case overFloor:
		return fmt.Sprintf("%.3g ms over the floor", v)
	case within:
		return fmt.Sprintf("%.4g ms", v)
	case cpuFloor:
		return fmt.Sprintf("%.3g × the floor's processor time", v)
	case memory:
		return fmt.Sprintf("%.3g MiB", v)
	default:
		return fmt.Sprintf("%.3g × for more input", v)
	}
}

// of is the targets of a case among some.
func of(id string, all []target) (some []target) {
	for _, t := range all {
		if t.of == id {
			some = append(some, t)
		}
	}
	return some
}
