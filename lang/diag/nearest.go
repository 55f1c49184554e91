package diag

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate that name was most likely meant to be, or "" where none is near. Near is an edit distance of at
// most a third of the longer name (two at most; a swap of neighbours is one edit), or the same letters in another case.
// Of equally near ones the first wins. Long names are never near: the work is bounded.
func Nearest(name string, candidates []string) string {
	best, bestDist := "", maxEdits+1
	for _, c := range candidates {
		if c == name || c == "" {
			continue
		}
		limit := min(maxEdits, (max(utf8.RuneCountInString(name), utf8.RuneCountInString(c))+1)/3)
		d := 0
		if !strings.EqualFold(name, c) {
			d = distance([]rune(name), []rune(c), limit)
		}
		if d <= limit && d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

const (
	maxEdits = 2
	maxName  = 64 // runes
)

// distance is the edit distance of a and b with swaps, or limit+1 where it is larger than limit.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > maxName || len(b) > maxName {
		return limit + 1
	}
	var before []int
	prev, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+cost)
			if before != nil && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		next := before
		if next == nil {
			next = make([]int, len(b)+1)
		}
		before, prev, row = prev, row, next
	}
	return prev[len(b)]
}
