package sim

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/layout"
	"xmd/lang/syntax"
)

// attrValue is the value of an attribute: fixed, or an expression over the captures.
type attrValue struct {
	kind  attrKind
	span  diag.Span
	fixed any
	expr  *expr.Expr
}

// fit checks a value against the kind, and reads strings as numbers and booleans where those are wanted.
func (v attrValue) fit(value any) (any, error) {
	text, isText := value.(string)
	switch v.kind {
	case stringValue:
		if !isText {
			return nil, fmt.Errorf("wants a string, not %s", expr.KindName(value))
		}
	case boolValue:
		if b, err := strconv.ParseBool(text); isText && err == nil {
			return b, nil
		}
		if _, ok := value.(bool); !ok {
			return nil, fmt.Errorf("wants true or false, not %s", expr.KindName(value))
		}
	case wholeValue, signedValue, numberValue:
		return v.fitNumber(value)
	case diffValue:
		return value, fitDiff(value)
	case objectValue:
		return fitObject(value)
	}
	return value, nil
}

func (v attrValue) fitNumber(value any) (any, error) {
	if text, ok := value.(string); ok {
		if parsed, err := expr.ParseJSON(text); err == nil {
			value = parsed
		}
	}
	n, whole := value.(int64)
	f, float := value.(float64)
	switch {
	case whole && v.kind == numberValue && n >= 0:
		return float64(n), nil
	case whole && (v.kind == signedValue || v.kind == wholeValue && n >= 0) && n >= math.MinInt32 && n <= math.MaxInt32:
		return n, nil
	case float && v.kind == numberValue && f >= 0:
		return f, nil
	}
	want := map[attrKind]string{wholeValue: "a whole number from 0", signedValue: "a whole number", numberValue: "a number from 0"}
	return nil, fmt.Errorf("wants %s, not %s", want[v.kind], expr.JSON(value))
}

func fitObject(value any) (any, error) {
	if text, ok := value.(string); ok {
		if parsed, err := expr.ParseJSON(text); err == nil {
			value = parsed
		}
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, fmt.Errorf("wants an object, not %s", expr.JSON(value))
	}
	return value, nil
}

func fitDiff(value any) error {
	d, ok := value.(map[string]any)
	if !ok {
		return errors.New(`wants {"path": …, "oldText": …, "newText": …}`)
	}
	for key, v := range d {
		_, isText := v.(string)
		switch key {
		case "path", "newText":
			if !isText {
				return fmt.Errorf("%s wants a string", key)
			}
		case "oldText":
			if !isText && v != nil {
				return errors.New("oldText wants a string or null")
			}
		default:
			return fmt.Errorf("a diff has no %s", key)
		}
	}
	if d["path"] == nil || d["newText"] == nil {
		return errors.New("a diff needs path and newText")
	}
	return nil
}

// player gives the answer of one rule in one turn.
type player struct {
	rule  *rule
	turn  *turn
	voice layout.Buffer // text not said yet
	text  *layout.Ends  // leads to voice, without the blank lines at both ends of the whole answer
}

// play gives the rule's answer.
func (r *rule) play(t *turn) error {
	p := &player{rule: r, turn: t}
	p.text = layout.NewCaptured(&p.voice)
	if err := p.nodes(r.body, p.text); err != nil {
		return err
	}
	if err := p.text.Close(); err != nil {
		return err
	}
	return p.flush(0)
}

// flush says what is in the voice.
func (p *player) flush(chunks int) error {
	text := p.voice.String()
	p.voice = layout.Buffer{}
	return p.turn.say(text, chunks)
}

func (p *player) nodes(nodes []syntax.Node, out layout.Sink) error {
	for _, n := range nodes {
		if err := p.node(n, out); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) node(n syntax.Node, out layout.Sink) error {
	switch n := n.(type) {
	case *syntax.Text:
		if line, ok := out.(*layout.Line); ok && n.Gap {
			return line.Gap(n.Value)
		}
		return out.Author(n.Value)
	case *syntax.Interp:
		return out.Value(expr.Render(p.turn.captures[n.Path]))
	case *syntax.Fill:
		fill := layout.NewFill(out, n.Open, n.Close, n.Marker)
		return errors.Join(p.nodes(n.Body, fill), fill.Close())
	case *syntax.Line:
		line := layout.NewLine(out, n.Indent, n.EOL)
		if err := p.nodes(n.Body, line); err != nil {
			return err
		}
		return line.Close()
	case *syntax.Element:
		return p.element(n, out)
	}
	return nil // comments
}

// element does what a component of a reply does.
func (p *player) element(e *syntax.Element, out layout.Sink) error {
	a, err := p.values(e)
	if err != nil {
		return err
	}
	body, err := p.body(e)
	if err != nil {
		return err
	}
	if err := p.flush(0); err != nil { // what stands before it comes before it
		return err
	}
	t := p.turn
	switch e.Name {
	case "Say":
		if err := out.Value(body); err != nil {
			return err
		}
		return p.flush(a.whole("chunks", 0))
	case "Thought":
		return t.think(body, a.whole("chunks", 0))
	case "Plan":
		t.plan(planEntries(body))
	case "ToolCall":
		_, err := t.use(a.toolCall(body, t.session.dir()))
		return err
	case "CallTool":
		text, err := t.callTool(a.serverCall())
		if as := a.text("as", ""); as != "" {
			t.captures[as] = text
		}
		return err
	case "Usage":
		a.usage(t)
	case "Wait":
		return t.wait(a.whole("ms", 0))
	case "Exit":
		t.agent.quit(a.whole("code", 1))
	case "Error":
		return &rpcError{Code: a.whole("code", -32603), Message: a.text("message", "Internal error")}
	}
	return nil
}

// body renders the body of a component as a captured one.
func (p *player) body(e *syntax.Element) (string, error) {
	var text layout.Buffer
	ends := layout.NewCaptured(&text)
	err := errors.Join(p.nodes(e.Body, ends), ends.Close())
	return text.String(), err
}

// given is the attributes of one element in one turn.
type given map[string]any

// values evaluates the attributes of an element. An error names the place in the script.
func (p *player) values(e *syntax.Element) (given, error) {
	values := given{}
	for name, v := range p.rule.attrs[e] {
		value := v.fixed
		if v.expr != nil {
			computed, err := v.expr.Eval(p.turn.captures)
			if err == nil {
				computed, err = v.fit(computed)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", p.rule.source.At(v.span.Start), name, err)
			}
			value = computed
		}
		values[name] = value
	}
	return values, nil
}

func (g given) whole(name string, byDefault int) int {
	if n, ok := g[name].(int64); ok {
		return int(n)
	}
	return byDefault
}

func (g given) text(name, byDefault string) string {
	if s, ok := g[name].(string); ok {
		return s
	}
	return byDefault
}

// toolCall makes the call of a <ToolCall>; a relative path of a diff is one in the session's directory.
func (g given) toolCall(output, cwd string) toolCall {
	c := toolCall{kind: g.text("kind", "other"), input: g["input"], output: output, outcome: g.text("outcome", "completed")}
	c.title = g.text("title", c.kind)
	c.ask, _ = g["ask"].(bool)
	if d, ok := g["diff"].(map[string]any); ok {
		absolute := object{}
		for k, v := range d {
			absolute[k] = v
		}
		if path := d["path"].(string); !filepath.IsAbs(path) {
			absolute["path"] = filepath.Join(cwd, path)
		}
		c.diff = absolute
	}
	return c
}

// serverCall makes the call of a <CallTool>.
func (g given) serverCall() serverCall {
	c := serverCall{server: g.text("server", ""), tool: g.text("name", ""), kind: g.text("kind", "other"), title: g.text("title", "")}
	c.args, _ = g["args"].(map[string]any)
	c.ask, _ = g["ask"].(bool)
	return c
}

// usage sends what <Usage> says; input and output tokens are kept for the result of the prompt.
func (g given) usage(t *turn) {
	t.usage = object{}
	for _, name := range []string{"input", "output"} {
		if n, ok := g[name].(int64); ok {
			t.usage[name] = int(n)
		}
	}
	if g["used"] == nil && g["size"] == nil && g["cost"] == nil {
		return
	}
	cost := -1.0
	if f, ok := g["cost"].(float64); ok {
		cost = f
	}
	t.reportUsage(g.whole("used", 0), g.whole("size", 0), cost)
}

// planEntries reads a plan: each line that is not blank is an entry, "[x] " in front says done, "[~] " in work, with
// a list marker before it or not.
func planEntries(body string) []planEntry {
	entries := []planEntry{}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		for _, marker := range []string{"- ", "* "} {
			line = strings.TrimPrefix(line, marker)
		}
		status := "pending"
		for box, s := range map[string]string{"[ ] ": "pending", "[~] ": "in_progress", "[x] ": "completed"} {
			if rest, ok := strings.CutPrefix(line, box); ok {
				line, status = rest, s
			}
		}
		if line != "" {
			entries = append(entries, planEntry{line, "medium", status})
		}
	}
	return entries
}
