package runtime

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// pattern matches slash-separated paths: * and ? stay within one name, [a-z] and [!a-z] are classes, {a,b} is either, ** is any
// number of folders, also none, and \ takes the next character as itself.
type pattern struct {
	alts [][]string // each a list of names to match one by one
	// hidden: a wildcard may stand for a leading dot. Otherwise a name that begins with a dot is matched only by a pattern that
	// has the dot there, as in shells.
	hidden bool
}

// maxAlternatives bounds what the braces of one pattern may unfold to.
const maxAlternatives = 1000

func compilePattern(text string, hidden bool) (*pattern, error) {
	alts, err := unfold(text)
	if err != nil {
		return nil, fmt.Errorf("the pattern %q %w", text, err)
	}
	p := &pattern{hidden: hidden}
	for _, alt := range alts {
		names := strings.Split(alt, "/")
		for i, name := range names {
			names[i] = strings.ReplaceAll(name, "[!", "[^")
			if _, err := path.Match(names[i], ""); err != nil {
				return nil, fmt.Errorf("the pattern %q is malformed: a class in brackets is not closed, or \\ ends a name", text)
			}
		}
		p.alts = append(p.alts, slices.CompactFunc(names, func(a, b string) bool { return a == "**" && b == "**" }))
	}
	return p, nil
}

// unfold writes out the braces of a pattern.
func unfold(text string) ([]string, error) {
	done, todo := []string{}, []string{text}
	for len(todo) > 0 {
		if len(done)+len(todo) > maxAlternatives {
			return nil, fmt.Errorf("has more than %d alternatives", maxAlternatives)
		}
		next := todo[0]
		todo = todo[1:]
		open, choices, end, err := firstBraces(next)
		if err != nil {
			return nil, err
		}
		if open < 0 {
			done = append(done, next)
			continue
		}
		var made []string
		for _, c := range choices {
			made = append(made, next[:open]+c+next[end:])
		}
		todo = append(made, todo...)
	}
	return done, nil
}

// firstBraces finds the first {a,b}: where it opens, what it chooses from, where it ends; open is -1 if there is none.
func firstBraces(s string) (open int, choices []string, end int, err error) {
	open, depth, from := -1, 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if n := strings.IndexByte(s[i:], ']'); n > 0 {
				i += n
			}
		case '{':
			if depth++; depth == 1 {
				open, from = i, i+1
			}
		case ',':
			if depth == 1 {
				choices, from = append(choices, s[from:i]), i+1
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				return open, append(choices, s[from:i]), i + 1, nil
			}
		}
	}
	if depth > 0 {
		return 0, nil, 0, fmt.Errorf("has a { that is not closed")
	}
	return -1, nil, 0, nil
}

// progress is how far the alternatives of a pattern can be after some names: the places in each that may come next.
type progress [][]bool

// begin is the progress before the first name.
func (p *pattern) begin() progress {
	at := make(progress, len(p.alts))
	for i, names := range p.alts {
		at[i] = make([]bool, len(names)+1)
		at[i][0] = true
		skipFolders(names, at[i])
	}
	return at
}

// skipFolders lets a ** stand for no folder at all.
func skipFolders(names []string, at []bool) {
	for i, name := range names {
		if at[i] && name == "**" {
			at[i+1] = true
		}
	}
}

// next is the progress after one more name.
func (p *pattern) next(at progress, name string) progress {
	after := make(progress, len(p.alts))
	for i, names := range p.alts {
		after[i] = make([]bool, len(names)+1)
		for k, want := range names {
			switch {
			case !at[i][k]:
			case want == "**":
				after[i][k] = after[i][k] || p.hidden || !strings.HasPrefix(name, ".")
			case p.name(want, name):
				after[i][k+1] = true
			}
		}
		skipFolders(names, after[i])
	}
	return after
}

func (p *pattern) name(want, name string) bool {
	if !p.hidden && strings.HasPrefix(name, ".") && !strings.HasPrefix(want, ".") && !strings.HasPrefix(want, `\.`) {
		return false
	}
	ok, _ := path.Match(want, name) // a malformed one was refused when it was compiled
	return ok
}

// done says whether the names so far are a match.
func (at progress) done() bool {
	return slices.ContainsFunc(at, func(alt []bool) bool { return alt[len(alt)-1] })
}

// hopeful says whether more names can make a match.
func (at progress) hopeful() bool {
	return slices.ContainsFunc(at, func(alt []bool) bool { return slices.Contains(alt[:len(alt)-1], true) })
}

// swallows says whether every path that goes on from here is a match: a ** is the last of an alternative and is reached.
func (p *pattern) swallows(at progress) bool {
	for i, names := range p.alts {
		if n := len(names); names[n-1] == "**" && at[i][n-1] && p.hidden {
			return true
		}
	}
	return false
}

// match says whether a whole path matches.
func (p *pattern) match(name string) bool {
	at := p.begin()
	for part := range strings.SplitSeq(name, "/") {
		if at = p.next(at, part); !at.hopeful() && !at.done() {
			return false
		}
	}
	return at.done()
}
