package secret

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"xmd/lang/expr"
)

const (
	// MinLength is how many characters a secret has at least: what is shorter also stands in words that are none.
	MinLength = 8
	// Mark is what is shown in the place of a secret.
	Mark = "***"

	lead = "\x1a" // before and after the name of a reference; two of them are the character itself
)

// Set holds declared secrets by name, and passing ones without (Hide). Safe for concurrent use. A nil Set and the zero Set have none; they
// still escape what looks like a reference.
type Set struct {
	mu  sync.Mutex // held while words are added
	now atomic.Pointer[words]
}

// words are the secrets of a Set at one time. Immutable; the nil words are none.
type words struct {
	names   []string // of the declared ones, sorted
	values  map[string]string
	passing []string
	found   *matcher // of values: the word n is names[n], or a passing one; nil: there is none
	shown   *matcher // of values and references
}

// words gives the secrets that there are.
func (s *Set) words() *words {
	if s != nil {
		if w := s.now.Load(); w != nil {
			return w
		}
	}
	return noWords
}

var noWords = &words{}

// Hide adds a secret that the run itself has made and that is worth nothing when it is over, such as a key: it has no name, and what is
// recorded in its place is what is shown. Shorter than MinLength, or on the nil Set, it is not hidden. Call it before anything that may hold
// the value is recorded or shown.
func (s *Set) Hide(value string) {
	if s == nil || utf8.RuneCountInString(value) < MinLength {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.words()
	if !slices.Contains(w.passing, value) {
		s.now.Store(newWords(w.values, append(slices.Clip(w.passing), value)))
	}
}

// Empty says whether there is no secret by now.
func (s *Set) Empty() bool { return s.words().found == nil }

// New makes a Set of names and their values, each of which must pass Check; the first that does not, by name, is the error. Of two
// secrets with one value the first by name is referred to.
func New(values map[string]string) (*Set, error) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := Check(name, values[name]); err != nil {
			return nil, err
		}
	}
	return newSet(values), nil
}

// Check says why something cannot be a secret: its name is none that env: takes, or its value is shorter than MinLength or no UTF-8
// text, so that it could not be found again. The error names the secret and never holds the value.
func Check(name, value string) error {
	switch {
	case !expr.IsName(name):
		return badName(name)
	case !utf8.ValidString(value):
		return fmt.Errorf("the secret %s is not UTF-8 text, so it could not be masked safely", name)
	case utf8.RuneCountInString(value) < MinLength:
		return fmt.Errorf("the secret %s has fewer than %d characters, so it could not be masked safely", name, MinLength)
	}
	return nil
}

func badName(name string) error {
	return fmt.Errorf("%q cannot be the name of a secret: names are letters, digits and _", name)
}

// StandIns makes the Set of one who reads a run without its secrets: the value of each name is its own reference. With it what is
// recorded decodes, masks and encodes as it did with the values; only what is computed from a value differs. It is an error if one of
// the names cannot be one.
func StandIns(names []string) (*Set, error) {
	values := make(map[string]string, len(names))
	for _, name := range names {
		if !expr.IsName(name) {
			return nil, badName(name)
		}
		values[name] = reference(name)
	}
	return newSet(values), nil
}

func newSet(values map[string]string) *Set {
	s := &Set{}
	s.now.Store(newWords(values, nil))
	return s
}

func newWords(values map[string]string, passing []string) *words {
	w := &words{names: slices.Sorted(maps.Keys(values)), values: maps.Clone(values), passing: passing}
	var all, references []string
	for _, name := range w.names {
		all, references = append(all, values[name]), append(references, reference(name))
	}
	if all = append(all, passing...); len(all) > 0 {
		w.found, w.shown = newMatcher(all), newMatcher(slices.Concat(all, references))
	}
	return w
}

// recorded is what is recorded in the place of a word.
func (w *words) recorded(word int) string {
	if word < len(w.names) {
		return reference(w.names[word])
	}
	return Mark
}

// reference is what is recorded in the place of a secret.
func reference(name string) string { return lead + name + lead }

// Names lists the names, sorted. The caller owns the list.
func (s *Set) Names() []string {
	return slices.Clone(s.words().names)
}

// Encode is text as it is recorded: every occurrence of a secret is a reference, and text that could be read as one is escaped. Text
// without either is returned as it is.
func (s *Set) Encode(text string) string {
	w := s.words()
	if w.found == nil {
		return escape(text)
	}
	var b strings.Builder
	from := 0
	w.found.each(text, func(start, end, word int) {
		b.WriteString(escape(text[from:start]))
		b.WriteString(w.recorded(word))
		from = end
	})
	if from == 0 {
		return escape(text)
	}
	b.WriteString(escape(text[from:]))
	return b.String()
}

func escape(text string) string { return strings.ReplaceAll(text, lead, lead+lead) }

// Mask is text as it is shown: Mark in the place of every secret and of every reference to one. Text without is returned as it is.
func (s *Set) Mask(text string) string {
	w := s.words()
	if w.shown == nil {
		return text
	}
	var b strings.Builder
	from := 0
	w.shown.each(text, func(start, end, _ int) {
		b.WriteString(text[from:start])
		b.WriteString(Mark)
		from = end
	})
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// MissingError is a reference to a secret that is not given.
type MissingError struct{ Name string }

// Error names the secret.
func (e *MissingError) Error() string { return "the secret " + e.Name + " is not given" }

// ErrDamaged is returned for a text that Encode did not make.
var ErrDamaged = errors.New("the reference to a secret is damaged")

// Decode is the text that Encode recorded, with the values of this Set. The error is a *MissingError for a secret that it lacks, or
// ErrDamaged.
func (s *Set) Decode(text string) (string, error) {
	if !strings.Contains(text, lead) {
		return text, nil
	}
	var b strings.Builder
	for {
		before, name, rest, ok := cutReference(text)
		b.WriteString(before)
		switch {
		case !ok && rest == "":
			return b.String(), nil
		case !ok:
			return "", ErrDamaged
		case name == "":
			b.WriteString(lead)
		default:
			value, given := s.value(name)
			if !given {
				return "", &MissingError{Name: name}
			}
			b.WriteString(value)
		}
		text = rest
	}
}

func (s *Set) value(name string) (string, bool) {
	v, ok := s.words().values[name]
	return v, ok
}

// cutReference cuts recorded text around its first reference; the name "" stands for the character itself. If ok is false there is
// none, and rest is what is damaged, "" if nothing is.
func cutReference(text string) (before, name, rest string, ok bool) {
	before, after, found := strings.Cut(text, lead)
	if !found {
		return text, "", "", false
	}
	name, rest, closed := strings.Cut(after, lead)
	if !closed || name != "" && !expr.IsName(name) {
		return before, "", text[len(before):], false
	}
	return before, name, rest, true
}

// Named lists the secrets that recorded text refers to, sorted, each once. Behind a damaged reference it looks no further.
func Named(text string) []string {
	names := map[string]bool{}
	named(text, names)
	return slices.Sorted(maps.Keys(names))
}

func named(text string, names map[string]bool) {
	for {
		_, name, rest, ok := cutReference(text)
		if !ok {
			return
		}
		if name != "" {
			names[name] = true
		}
		text = rest
	}
}
