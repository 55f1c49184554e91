package handoff

import (
	"slices"

	"xmd/runtime"
)

// item is one thing of where things stand.
type item struct {
	kind int
	text string
	size int // as sent; no more than the bound of all is counted
}

// minItem is how short items are made before the last ones of a kind are only counted.
const minItem = 12

// standingOf writes where things stand, nothing if nothing does. All of it is within one bound: longer items are shortened alike.
func standingOf(now runtime.Standing, r *redactor) *sheet {
	items, more := itemsOf(now, r)
	var s sheet
	if len(items) == 0 {
		return &s
	}
	room := maxStanding - len(ofStanding) - 2
	for standingSize(items, more, minItem) > room {
		items, more = fewer(items, more)
	}
	bound := maxStanding
	for standingSize(items, more, bound) > room {
		bound--
	}
	s.line("")
	s.line(ofStanding)
	for i, it := range items {
		s.field(kinds[it.kind].header, it.text, bound)
		if n := more[it.kind]; n > 0 && (i+1 == len(items) || items[i+1].kind != it.kind) {
			s.linef(kinds[it.kind].more, n)
		}
	}
	return &s
}

// itemsOf lists the items, no more of a kind than could have a line each.
func itemsOf(now runtime.Standing, r *redactor) (items []item, more [5]int) {
	var begun, open []string
	for _, todo := range now.Todo {
		switch todo.Status {
		case "completed", "done", "cancelled", "canceled":
		case "in_progress", "inProgress", "in progress":
			begun = append(begun, todo.Text)
		default:
			open = append(open, todo.Text)
		}
	}
	var tree []string
	if now.Tree != "" {
		tree = []string{now.Tree}
	}
	for kind, texts := range [][]string{inWork: begun, planned: open, waiting: now.Questions, running: now.Running, treeKind: tree} {
		for i, text := range texts {
			if i == maxStanding/minItem {
				more[kind] = len(texts) - i
				break
			}
			text = r.text(text)
			size := maxStanding + 1
			if fits(text, maxStanding) {
				size = cost(text, 0, len(text))
			}
			items = append(items, item{kind, text, size})
		}
	}
	return items, more
}

// standingSize is what items take at most, none of them longer than a bound.
func standingSize(items []item, more [5]int, bound int) int {
	n := 0
	for _, it := range items {
		n += len(kinds[it.kind].header) + 1 + ofLine + min(it.size, bound)
		if it.size > bound {
			n += len(isCut)
		}
	}
	for kind, left := range more {
		if left > 0 {
			n += len(kinds[kind].more) + 20
		}
	}
	return n
}

// fewer leaves out the last item of the kind that has most.
func fewer(items []item, more [5]int) ([]item, [5]int) {
	var counts, last [5]int
	for i, it := range items {
		counts[it.kind]++
		last[it.kind] = i
	}
	most := 0
	for kind, n := range counts {
		if n > counts[most] {
			most = kind
		}
	}
	more[most]++
	return slices.Delete(items, last[most], last[most]+1), more
}
