package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// result is what was measured in a case.
type result struct {
	id, title        string
	floor, acpx, xmd []sample
	err              error
}

// clock and processors are the two times of a sample.
func clock(s sample) time.Duration      { return s.took }
func processors(s sample) time.Duration { return s.cpu }

// sorted are the times of samples, in order of length.
func sorted(of []sample, which func(sample) time.Duration) []time.Duration {
	out := make([]time.Duration, len(of))
	for i, s := range of {
		out[i] = which(s)
	}
	slices.Sort(out)
	return out
}

// median is the middle time by the clock; of an even number the mean of the two in the middle. 0 for none.
func median(of []sample) time.Duration {
	d := sorted(of, clock)
	switch n := len(d); {
	case n == 0:
		return 0
	case n%2 == 1:
		return d[n/2]
	default:
		return (d[n/2-1] + d[n/2]) / 2
	}
}

// least is the shortest time, which a busy machine distorts least. 0 for none.
func least(of []sample, which func(sample) time.Duration) time.Duration {
	if len(of) == 0 {
		return 0
	}
	return sorted(of, which)[0]
}

// peak is the largest peak memory, in bytes.
func peak(of []sample) (most int64) {
	for _, s := range of {
		most = max(most, s.peak)
	}
	return most
}

// growth is the middle of the growths that were looked at; 0 if none was.
func growth(of []sample) float64 {
	var all []float64
	for _, s := range of {
		if s.growth > 0 {
			all = append(all, s.growth)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// times is how many times as long as the floor xmd takes; 0 without a floor.
func times(xmd, floor time.Duration) float64 {
	if floor <= 0 {
		return 0
	}
	return float64(xmd) / float64(floor)
}

// shown is a time with three figures.
func shown(d time.Duration) string {
	switch ms := float64(d) / 1e6; {
	case d == 0:
		return "–"
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10_000:
		return thousands(fmt.Sprintf("%.0f", ms)) + " ms"
	default:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
}

// thousands puts commas into a number.
func thousands(digits string) string {
	if n := len(digits) - 3; n > 0 {
		return thousands(digits[:n]) + "," + digits[n:]
	}
	return digits
}

const mib = 1 << 20

// cell is the samples of one program for the page: the median, the range, the memory.
func cell(of []sample) string {
	if len(of) == 0 {
		return "–"
	}
	d := sorted(of, clock)
	parts := []string{shown(median(of))}
	if len(d) > 1 {
		parts[0] += " (" + span(shown(d[0]), shown(d[len(d)-1])) + ")"
	}
	if p := peak(of); p > 0 {
		parts = append(parts, fmt.Sprintf("%.1f MiB", float64(p)/mib))
	}
	return strings.Join(parts, ", ")
}

// span is two times with a dash between, and their unit once where it is the same.
func span(from, to string) string {
	number, unit, _ := strings.Cut(from, " ")
	if strings.HasSuffix(to, " "+unit) {
		from = number
	}
	return from + "–" + to
}
