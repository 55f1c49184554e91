package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"xmd/agents/proc"
	"xmd/cmd/xmd/term"
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/runtime"
)

// answerFlags are those that answer the questions of a document.
func answerFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "answer", Usage: "answer a question: NAME=VALUE; NAME[2]= is its second asking"},
		&cli.StringFlag{Name: "answers", Usage: "answers as a JSON object in this file"},
	}
}

// givenAnswers reads --answers and --answer; a flag wins over the file.
func givenAnswers(c *call) (map[string]runtime.Answer, error) {
	given := map[string]runtime.Answer{}
	if path := c.String("answers"); path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, runtime.Errorf(runtime.KindUsage, "--answers: the file %s cannot be read: %w", path, plainError(err))
		}
		if given, err = parseAnswers(path, string(text)); err != nil {
			return nil, err
		}
	}
	for _, text := range c.StringSlice("answer") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, &usageError{message: fmt.Sprintf("--answer takes NAME=VALUE, not %q", text)}
		}
		given[name] = runtime.Answer{Text: value}
	}
	return given, nil
}

// parseAnswers reads the text of an answers file.
func parseAnswers(path, text string) (map[string]runtime.Answer, error) {
	v, err := expr.ParseJSON(text)
	if err != nil {
		return nil, runtime.Errorf(runtime.KindUsage, "--answers %s %w", path, err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, runtime.Errorf(runtime.KindUsage, "--answers %s holds %s, not a JSON object", path, expr.KindName(v))
	}
	given := map[string]runtime.Answer{}
	for name, v := range object {
		given[name] = runtime.Answer{Value: v, Parsed: true}
	}
	return given, nil
}

// knownAnswers refuses an answer to a question that the document does not ask.
func knownAnswers(compiled *plan.Plan, given map[string]runtime.Answer) error {
	var known []string
	for _, doc := range compiled.Documents() {
		for _, item := range doc.Items() {
			if n, ok := item.Node.(*plan.Elicit); ok {
				known = append(known, first(n.As, n.ID))
			}
		}
	}
	if len(compiled.Tools())+len(compiled.Servers())+len(compiled.Instructions()) > 0 { // agents may have a door, by which they can ask
		known = append(known, runtime.QuestionTool)
	}
	for name := range given {
		base, _, _ := strings.Cut(name, "[")
		if slices.Contains(known, base) || strings.Contains(base, "/") { // a step identity may have rounds in it
			continue
		}
		e := &usageError{message: fmt.Sprintf("there is no question %q in %s", base, compiled.Source.Name)}
		if near := diag.Nearest(base, known); near != "" {
			e.hint = fmt.Sprintf("did you mean %s?", near)
		}
		return e
	}
	return nil
}

// terminal is where a person is asked, one thing at a time.
type terminal struct {
	one    sync.Mutex
	out    io.Writer
	screen *term.Screen // whose status line is away while somebody is asked; nil: there is none
	color  bool
	mask   func(string) string // hides secrets; nil: there are none
	// line shows a prompt and waits for a line; io.EOF is the end of the input.
	line func(ctx context.Context, prompt string) (string, error)
	// flush waits until the document's text so far is written: who is asked has read what leads to the question. nil: there is none.
	flush func() error
}

// person is who sits at the terminal; nil when nobody does. The REPL reads the same lines.
func (p *program) person() *terminal {
	if p.console == nil && isTerminal(p.stdin) && isTerminal(p.stderr) {
		p.console = &terminal{out: p.stderr, screen: p.face.screen, color: p.face.rules.Color, line: plainLines{p.stderr, linesOf(context.Background(), p.stdin)}.read}
	}
	return p.console
}

// linesOf reads lines until the input or ctx ends. A read cannot be taken back: its goroutine may wait for a line that nobody wants.
func linesOf(ctx context.Context, in io.Reader) <-chan string {
	if f, ok := in.(*os.File); ok {
		in = proc.Input(f) // at a terminal it does not take what is typed for an agent's own interface
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

// read shows a text, after what the document said before it, and waits for a line. What is to be judged is shown first, as it is.
func (t *terminal) read(ctx context.Context, judged, text string) (string, error) {
	if err := t.caughtUp(ctx); err != nil {
		return "", err
	}
	defer t.screen.Hold()()
	if t.mask != nil {
		judged, text = t.mask(judged), t.mask(text)
	}
	_, _ = io.WriteString(t.out, judged)
	prompt := printable(text)
	if i := strings.LastIndexByte(prompt, '\n'); i >= 0 {
		_, _ = io.WriteString(t.out, prompt[:i+1])
		prompt = prompt[i+1:]
	}
	line, err := t.line(ctx, prompt)
	return strings.TrimSpace(line), err
}

// plainLines asks at a terminal as it is, or at none.
type plainLines struct {
	out   io.Writer
	lines <-chan string
}

func (p plainLines) read(ctx context.Context, prompt string) (string, error) {
	_, _ = io.WriteString(p.out, prompt)
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case line, ok := <-p.lines:
		if !ok {
			return "", io.EOF
		}
		return line, nil
	}
}

// caughtUp waits for flush, not longer than ctx. Its error is only ctx's: an output that is lost ends the run by itself.
func (t *terminal) caughtUp(ctx context.Context) error {
	if t.flush == nil {
		return nil
	}
	written := make(chan struct{})
	go func() { defer close(written); _ = t.flush() }()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-written:
		return nil
	}
}

// Ask puts one question of a document.
func (t *terminal) Ask(ctx context.Context, q runtime.Question) (runtime.Answer, error) {
	t.one.Lock()
	defer t.one.Unlock()
	var b strings.Builder
	if q.Problem != "" {
		fmt.Fprintf(&b, "%s\n", q.Problem)
	}
	fmt.Fprintf(&b, "%s\n", q.Text)
	for i, c := range q.Choices {
		fmt.Fprintf(&b, "  %d. %s\n", i+1, expr.Render(c))
	}
	if q.HasDefault {
		fmt.Fprintf(&b, "[%s] ", expr.Render(q.Default))
	}
	b.WriteString("> ")
	text, err := t.read(ctx, "", b.String())
	if err != nil {
		return runtime.Answer{}, runtime.Errorf(runtime.KindWaiting, "nobody answered: %w", err)
	}
	if n := choiceNumber(text); n >= 1 && n <= len(q.Choices) {
		return runtime.Answer{Value: q.Choices[n-1], Parsed: true}, nil
	}
	if text == "" && q.HasDefault {
		return runtime.Answer{}, nil
	}
	return runtime.Answer{Text: text}, nil
}

// choiceNumber is the number that a person typed for a choice; 0 for anything else.
func choiceNumber(text string) int {
	var n int
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || fmt.Sprint(n) != text {
		return 0
	}
	return n
}

// confirm asks a question that yes or no answers.
func (t *terminal) confirm(ctx context.Context, text string) (bool, error) {
	t.one.Lock()
	defer t.one.Unlock()
	line, err := t.read(ctx, "", text)
	return isYes(line), err
}

func isYes(line string) bool { return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes") }

// permit asks about one permission request of an agent.
func (t *terminal) permit(ctx context.Context, agent, step string, req runtime.PermissionRequest) (bool, string) {
	t.one.Lock()
	defer t.one.Unlock()
	var edits strings.Builder
	for _, d := range req.Diffs {
		edits.WriteString(term.Diff(t.color, d.Path, d.Old, d.New))
	}
	switch line, err := t.read(ctx, edits.String(), question(agent, step, req)); {
	case err != nil:
		return false, "the question was not answered"
	case isYes(line):
		return true, ""
	}
	return false, "answered no"
}
