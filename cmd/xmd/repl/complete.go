package repl

import (
	"slices"
	"strings"
)

// completer asks for what may stand at the cursor.
type completer struct{ e *Editor }

// Do gives what is missing of each candidate, and how much of it is there.
func (c completer) Do(line []rune, pos int) ([][]rune, int) {
	if c.e.o.Complete == nil {
		return nil, 0
	}
	word, candidates := c.e.o.Complete(c.e.meant(string(line[:pos])))
	slices.Sort(candidates)
	var rest [][]rune
	for _, one := range slices.Compact(candidates) {
		if more, ok := strings.CutPrefix(one, word); ok {
			rest = append(rest, []rune(more))
		}
	}
	return rest, len([]rune(word))
}
