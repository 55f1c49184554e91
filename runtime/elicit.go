package runtime

import (
	"context"
	"fmt"
	"strings"

	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/lang/schema"
	"xmd/runtime/event"
	"xmd/runtime/journal"
)

// Answers puts the questions of a document to a person. Calls may come at once from several branches.
type Answers interface {
	// Ask returns what the person said. An *Error of kind KindWaiting says that the person is not there or does not want to answer
	// now; the run then ends waiting. It must return when ctx ends.
	Ask(ctx context.Context, q Question) (Answer, error)
}

// Question is one asking of an Elicit.
type Question struct {
	Name       string // what --answer calls it: "ship", or "ship[2]" for the second asking
	Text       string
	Choices    []any // what may be answered; nil: what Schema takes
	Schema     *schema.Schema
	Default    any
	HasDefault bool
	Problem    string // what was wrong with the answer before this one; "" at first
}

// Answer is one answer: a text as a person types it, or a value. The zero Answer is the default of the question.
type Answer struct {
	Text   string
	Value  any
	Parsed bool // Value holds it, not Text
}

// elicit runs one <Elicit>. Its name is the one it binds, else its step identity. An answer that was given with the run comes before
// everybody: who gives one does not want to be asked.
func (r *Runner) elicit(ctx context.Context, n *plan.Elicit, at place, out layout.Sink) error {
	q, err := r.question(ctx, n, at)
	if err != nil {
		return err
	}
	where := at.where(n.Step)
	q.Name = r.asking(ctx, orWord(n.As, where.Step))
	at.begin()
	v, err := r.effect(ctx, at, n.Step, "elicit", r.inputOf(q.Text, q.Choices), func() (any, error) {
		r.o.Stream.Emit(event.Question, where, &event.Questioned{Name: q.Name, Text: q.Text, Choices: q.Choices})
		v, from, err := r.answer(ctx, q)
		if err == nil {
			r.o.Stream.Emit(event.Answer, where, &event.Answered{Name: q.Name, Value: v, From: from})
		}
		return v, err
	})
	if err != nil {
		return err
	}
	r.noteAsked(at, q.Text, expr.Render(v))
	if n.As != "" {
		at.vars.set(n.As, v)
		return nil
	}
	return out.Value(expr.Render(v))
}

// question renders what is asked, and what may be answered.
func (r *Runner) question(ctx context.Context, n *plan.Elicit, at place) (Question, error) {
	var q Question
	var err error
	if q.Schema, err = at.schema(n.Schema, n.Step); err != nil {
		return q, err
	}
	if n.Choices.Given {
		v, err := at.value(n.Choices, n.Step)
		if err != nil {
			return q, err
		}
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return q, at.wrong(n.Choices, n.Step, "choices must be an array that holds something, is %s", expr.JSON(v))
		}
		q.Choices = list
	}
	if q.HasDefault = n.Default.Given; q.HasDefault {
		if q.Default, err = at.value(n.Default, n.Step); err != nil {
			return q, err
		}
		if wrong := q.wrong(q.Default); wrong != "" {
			return q, at.wrong(n.Default, n.Step, "default %s", wrong)
		}
	}
	at.inLet, at.throws = false, true
	q.Text, err = r.capture(ctx, n.Body, at)
	return q, err
}

// asking numbers the askings of one name: "ship", "ship[2]", "ship[3]".
func (r *Runner) asking(ctx context.Context, name string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = r.askedInCalls(ctx)
	}
	r.asked[name]++
	if n := r.asked[name]; n > 1 {
		return fmt.Sprintf("%s[%d]", name, n)
	}
	return name
}

// askedInCalls counts the questions that were answered in calls of earlier invocations: those are not asked again where they stood.
func (r *Runner) askedInCalls(ctx context.Context) map[string]int {
	asked := map[string]int{}
	for _, step := range r.o.Past.Steps() {
		var was event.Answered
		if _, inCall := journal.TurnOfCall(step); !inCall {
			continue
		}
		if _, found, err := r.o.Past.Last(ctx, step, event.Answer, &was); err == nil && found {
			name, _, _ := strings.Cut(was.Name, "[")
			asked[name]++
		}
	}
	return asked
}

// answer finds the answer, and says whose it is.
func (r *Runner) answer(ctx context.Context, q Question) (v any, from string, err error) {
	given, ok := r.o.Given[q.Name]
	if !ok && !strings.HasSuffix(q.Name, "]") {
		given, ok = r.o.Given[q.Name+"[1]"]
	}
	if ok {
		v, wrong := q.read(given)
		if wrong != "" {
			return nil, "", Errorf(KindFailed, "the answer given for %s %s", q.Name, wrong)
		}
		return v, "given", nil
	}
	if r.o.Answers != nil {
		v, err := r.ask(ctx, q)
		return v, "person", err
	}
	if q.HasDefault {
		r.notice(fmt.Sprintf("%s: nobody is here to answer %q; the default %s is taken.", q.Name, firstLine(q.Text), expr.JSON(q.Default)))
		return q.Default, "default", nil
	}
	return nil, "", r.unanswered(q)
}

// ask asks the person until the answer can be used.
func (r *Runner) ask(ctx context.Context, q Question) (any, error) {
	for {
		if ctx.Err() != nil {
			return nil, stopped(ctx)
		}
		a, err := r.o.Answers.Ask(ctx, q)
		switch {
		case ctx.Err() != nil:
			return nil, stopped(ctx)
		case err != nil && KindOf(err) == KindWaiting:
			return nil, r.unanswered(q)
		case err != nil:
			return nil, err
		}
		v, wrong := q.read(a)
		if wrong == "" {
			return v, nil
		}
		q.Problem = "the answer " + wrong
	}
}

// unanswered is the error of a run that waits for a person.
func (r *Runner) unanswered(q Question) *Error {
	what := ""
	if q.Choices != nil {
		what = " (" + oneOf(q.Choices) + ")"
	}
	return Errorf(KindWaiting, "the question %q waits for an answer%s\ngo on with: xmd resume %s --answer '%s=…'",
		firstLine(q.Text), what, r.o.RunID, q.Name)
}

// read makes a value of an answer. A text stays one where that is taken, else it is JSON; it may be a choice as it is rendered.
func (q Question) read(a Answer) (v any, wrong string) {
	switch {
	case a.Parsed:
		v = a.Value
	case a.Text == "" && q.HasDefault:
		return q.Default, ""
	case q.Choices != nil:
		for _, c := range q.Choices {
			if expr.Render(c) == a.Text {
				return c, ""
			}
		}
		v = a.Text
	case q.Schema != nil && q.Schema.Type() != nil && !q.Schema.Type().Can(expr.String):
		parsed, err := expr.ParseJSON(a.Text)
		if err != nil {
			return nil, fmt.Sprintf("must be %s, is %q", q.Schema.Type(), a.Text)
		}
		v = parsed
	default:
		v = a.Text
	}
	return v, q.wrong(v)
}

// wrong says why a value is no answer; "" if it is one.
func (q Question) wrong(v any) string {
	if q.Choices != nil {
		for _, c := range q.Choices {
			if expr.Equal(c, v) {
				return ""
			}
		}
		return fmt.Sprintf("must be %s, is %s", oneOf(q.Choices), expr.JSON(v))
	}
	if q.Schema == nil {
		return ""
	}
	faults := q.Schema.Validate(v)
	switch {
	case len(faults) == 0:
		return ""
	case len(faults) == 1 && len(faults[0].At) == 0:
		return faults[0].Message
	}
	return "does not fit: " + faultList(faults, 5)
}

func oneOf(choices []any) string {
	words := make([]string, len(choices))
	for i, c := range choices {
		words[i] = expr.JSON(c)
	}
	if len(words) == 1 {
		return words[0]
	}
	return "one of " + strings.Join(words, ", ")
}

// firstLine is the first line of a text, for messages.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	if strings.TrimSpace(rest) != "" {
		line += " …"
	}
	return line
}
