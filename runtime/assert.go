package runtime

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
)

// Bounds of what a failed assertion shows.
const (
	mostShown  = 400  // characters of a value on one line
	mostLines  = 40   // of a text or of the difference of two
	mostCompar = 8    // values of a condition
	mostLine   = 1000 // bytes of one of these lines
)

// assert looks whether a value is as the test wants it.
func (r *Runner) assert(n *plan.Assertion, at place) error {
	actual, err := at.value(n.Actual, n.Step)
	if err != nil {
		return err
	}
	if n.Kind == plan.Holds {
		return at.holds(n, actual)
	}
	expected, err := at.value(n.Expected, n.Step)
	if err != nil {
		return err
	}
	switch n.Kind {
	case plan.Equals:
		if expr.JSON(actual) != expr.JSON(expected) {
			return at.unmet(n, differ(actual, expected))
		}
	case plan.Contains:
		return at.contains(n, actual, expected)
	case plan.Matches:
		return at.matches(n, actual, expected)
	}
	return nil
}

// unmet is a failed assertion. The words begin with what was wanted.
func (at place) unmet(n *plan.Assertion, words string) error {
	return thrown(&Error{Kind: KindAssertion, Message: words}, at.where(n.Step))
}

func (at place) holds(n *plan.Assertion, v any) error {
	switch v {
	case true:
		return nil
	case false:
		return at.unmet(n, "the condition is false: "+oneLine(n.Actual.Expr.Source)+at.parts(n.Actual))
	}
	return at.wrong(n.Actual, n.Step, "condition must be true or false, is %s", expr.KindName(v))
}

// parts shows the values that an expression is made of, as far as they can be named.
func (at place) parts(a plan.Arg) string {
	var lines []string
	for _, ref := range a.Expr.Names() {
		v, ok := at.vars.get(ref.Name)
		for _, m := range ref.Members {
			v = member(v, m.Key)
		}
		line := "\n  " + ref.Path() + " is " + shown(v)
		if ok && len(lines) < mostCompar && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// member is what a value has under a key; nil: nothing.
func member(v, key any) any {
	switch key := key.(type) {
	case string:
		m, _ := v.(map[string]any)
		return m[key]
	case int64:
		list, _ := v.([]any)
		if key >= 0 && key < int64(len(list)) {
			return list[key]
		}
	}
	return nil
}

func (at place) contains(n *plan.Assertion, actual, part any) error {
	switch actual := actual.(type) {
	case string:
		text, ok := part.(string)
		switch {
		case !ok:
			return at.wrong(n.Expected, n.Step, "part must be a string where actual is one, is %s", expr.KindName(part))
		case !strings.Contains(actual, text):
			return at.unmet(n, "the text does not contain the part"+labelled("expected part", text)+labelled("actual", actual))
		}
		return nil
	case []any:
		want := expr.JSON(part)
		if !slices.ContainsFunc(actual, func(item any) bool { return expr.JSON(item) == want }) {
			return at.unmet(n, "the array does not contain the item"+labelled("expected item", part)+labelled("actual", actual))
		}
		return nil
	}
	return at.wrong(n.Actual, n.Step, "actual must be a string or an array, is %s", expr.KindName(actual))
}

func (at place) matches(n *plan.Assertion, actual, pattern any) error {
	text, ok := actual.(string)
	if !ok {
		return at.wrong(n.Actual, n.Step, "actual must be a string, is %s", expr.KindName(actual))
	}
	form, ok := pattern.(string)
	if !ok {
		return at.wrong(n.Expected, n.Step, "pattern must be a string, is %s", expr.KindName(pattern))
	}
	re, err := regexp.Compile(form)
	if err != nil {
		return at.wrong(n.Expected, n.Step, "pattern is no regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if !re.MatchString(text) {
		return at.unmet(n, "the text has no match of the pattern"+labelled("expected match of", form)+labelled("actual", text))
	}
	return nil
}

// assertThrows wants its body to fail. What it renders goes nowhere. A failed assertion in it is the test's own failure, and so is what ends
// every run.
func (r *Runner) assertThrows(ctx context.Context, n *plan.Assertion, at place) error {
	want, err := at.wantedKind(n)
	if err != nil {
		return err
	}
	inner := at
	inner.throws, inner.tried = true, true
	before := at.log.len()
	err = r.render(ctx, n.Body, inner, &layout.Buffer{})
	if err == nil {
		return at.unmet(n, "the body did not fail"+labelledText("expected", "a failure"+ofKind(want)))
	}
	if isFlow(err) || ctx.Err() != nil || slices.Contains([]Kind{KindAssertion, KindCancelled, KindStore, KindDivergence}, KindOf(err)) {
		return err
	}
	at.log.cut(before)
	if e := asError(err); want != "" && e.Kind != want {
		return at.unmet(n, "the body failed in another way"+labelledText("expected", "a failure"+ofKind(want))+
			labelledText("actual", oneLine(e.Error())+" ["+string(e.Kind)+"]"))
	}
	return nil
}

func (at place) wantedKind(n *plan.Assertion) (Kind, error) {
	if !n.Expected.Given {
		return "", nil
	}
	text, err := at.text(n.Expected, n.Step, "kind")
	if err == nil && !slices.Contains(Kinds, Kind(text)) {
		names := make([]string, len(Kinds))
		for i, k := range Kinds {
			names[i] = string(k)
		}
		err = at.wrong(n.Expected, n.Step, "there is no kind of failure %q; they are %s", text, strings.Join(names, ", "))
	}
	return Kind(text), err
}

func ofKind(k Kind) string {
	if k == "" {
		return ""
	}
	return " of kind " + string(k)
}

// differ says how two values differ: on two lines if they are short, else line by line.
func differ(actual, expected any) string {
	a, aText := actual.(string)
	b, bText := expected.(string)
	words := "the texts differ"
	if !aText || !bText {
		words = "the values differ"
		a, b = expr.Render(actual), expr.Render(expected)
	}
	if kind, other := expr.KindName(actual), expr.KindName(expected); kind != other || !strings.Contains(strings.TrimRight(a+b, "\n"), "\n") {
		return words + labelled("expected", expected) + labelled("actual", actual)
	}
	if !strings.HasSuffix(a, "\n") && !strings.HasSuffix(b, "\n") { // else the difference says which of them has no line end
		a, b = a+"\n", b+"\n"
	}
	_, lines, _ := strings.Cut(string(diff.Diff("expected", []byte(b), "actual", []byte(a))), "+++ actual\n")
	return words + " (- expected, + actual)\n" + indented("  ", lines)
}

// labelled shows a value behind a word, a text of several lines below it.
func labelled(word string, v any) string {
	if text, ok := v.(string); ok && strings.Contains(strings.TrimSuffix(text, "\n"), "\n") {
		return "\n  " + word + ":\n" + indented("    ", text)
	}
	return labelledText(word, shown(v))
}

func labelledText(word, text string) string { return fmt.Sprintf("\n  %s: %s", word, text) }

// shown is a value on one line.
func shown(v any) string { return clipped(expr.JSON(v), mostShown) }

func oneLine(text string) string { return clipped(strings.Join(strings.Fields(text), " "), mostShown) }

func clipped(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// indented are the lines of a text as a message shows them.
func indented(by, text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; n > mostLines {
			fmt.Fprintf(&b, "%s… %d lines more\n", by, strings.Count(text, "\n")-mostLines)
			break
		}
		b.WriteString(by + clipped(strings.TrimSuffix(line, "\n"), mostLine) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
