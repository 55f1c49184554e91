package plan

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
)

// WriteText writes the plan for people: props, steps, agents, sessions, permissions, bounds. What is dynamic shows as its
// expression. The same plan gives the same bytes. The first write error is returned.
func (p *Plan) WriteText(w io.Writer) error {
	t := &printer{p: p, byWhich: ofRun}
	t.line("plan of %s, digest %.12s", p.Source.Name, p.Digest)
	t.inputs()
	items := p.Items()
	t.steps(items)
	t.agents()
	t.sessions()
	t.offers()
	t.permissions()
	t.bounds()
	for _, doc := range p.Documents()[1:] {
		t.component(doc)
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

type printer struct {
	p       *Plan
	b       strings.Builder
	byWhich string // whose agent a prompt takes that names none
}

func (t *printer) line(format string, args ...any) {
	t.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// component writes the steps of a component file.
func (t *printer) component(doc *Plan) {
	inner := &printer{p: doc, byWhich: ofUse}
	inner.line("component %s, digest %.12s", doc.Source.Name, doc.Digest)
	items := doc.Items()
	inner.inputs()
	inner.steps(items)
	inner.bounds()
	t.b.WriteString(inner.b.String())
}

// head begins a part that may be empty.
func (t *printer) head(name string, n int) {
	if n == 0 {
		t.line("%s: none", name)
		return
	}
	t.line("%s", name)
}

func (t *printer) inputs() {
	in := t.p.Inputs
	t.head("props", len(in.Props))
	for _, p := range in.Props {
		text := "  " + p.Name + ": " + p.Type.WithoutNull().String()
		switch {
		case p.HasDefault:
			text += ", default " + short(expr.JSON(p.Default))
		case p.Required:
			text += ", required"
		}
		t.line("%s", text)
	}
	if t.p.Returns != nil {
		t.line("returns %s", short(expr.JSON(t.p.Returns.Value())))
	}
	if len(in.Env) == 0 {
		return
	}
	t.line("env")
	for _, e := range in.Env {
		text := "  " + e.Name
		switch {
		case e.HasDefault:
			text += ", default " + short(expr.JSON(e.Default))
		case e.Required:
			text += ", required"
		}
		if e.Secret {
			text += ", secret"
		}
		t.line("%s", text)
	}
}

// short cuts a long text for one line.
func short(s string) string {
	r := []rune(s)
	if len(r) <= 60 {
		return s
	}
	return string(r[:57]) + "…"
}

func (t *printer) steps(items []Item) {
	t.head("steps", len(items))
	width := 0
	for _, it := range items {
		width = max(width, len(t.place(it.Pos)))
	}
	for _, it := range items {
		t.line("  %-*s  %s%s", width, t.place(it.Pos), strings.Repeat("  ", it.Depth), t.step(it))
	}
}

func (t *printer) place(at Span) string {
	line, col := t.p.Source.Pos(at.Start)
	return strconv.Itoa(line) + ":" + strconv.Itoa(col)
}

// placeIn names the file where it is another one.
func (t *printer) placeIn(src *diag.Source, at Span) string {
	if src == t.p.Source {
		return t.place(at)
	}
	return src.At(at.Start)
}

// step is one line about a step: its identity, then what it does.
func (t *printer) step(it Item) string {
	parts := []string{it.ID}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch n := it.Node.(type) {
	case *Prompt:
		add("agent %s", orDefault(it.Agent, t.byWhich))
		add("session %s", t.session(it))
		if n.Text.Given {
			add("text %s", short(argText(n.Text)))
		}
		add("%s", bindsOr(n.As, "renders its reply"))
		if n.ThrowIf.Given {
			add("throws if %s", argText(n.ThrowIf))
		}
		add1(add, "schema %s", schemaText(n.Schema))
		add1(add, "resend %s", resendText(n))
	case *Launch:
		launchText(n, orDefault(it.Agent, t.byWhich), t.session(it), add)
	case *Agent:
		add("name %s", it.Agent)
		add1(add, "model %s", given(n.Model))
		add1(add, "effort %s", given(n.Effort))
		add1(add, "mode %s", given(n.Mode))
	case *Session:
		if n.Name.Given {
			add("name %s", it.Session)
		} else {
			add("a new unnamed session")
		}
	case *Let:
		if n.Value.Given {
			add("value %s", short(argText(n.Value)))
		}
		add("binds %s", n.As)
	case *If:
		add("condition %s", argText(n.Cond))
	case *Exec:
		t.exec(n, add)
	default:
		controlText(n, add)
		effectText(n, add)
		offerText(n, add)
		testingText(n, add)
	}
	if it.Throws {
		add("throws")
	}
	return strings.Join(parts, "; ")
}

func (t *printer) exec(n *Exec, add func(string, ...any)) {
	add("%s `%s`", n.Lang, short(n.FirstLine))
	for _, w := range n.With {
		if w.File {
			add("with %s@file", w.Name)
		} else {
			add("with %s", w.Name)
		}
	}
	if n.Cwd != "" {
		add("cwd %s", n.Cwd)
	}
	if n.Silent {
		add("silent")
	}
	if n.Lax {
		add("lax")
	}
	if n.Once {
		add("once")
	}
	add("%s", bindsOr(n.As, "renders its output"))
}

func orDefault(u Use, otherwise string) string {
	if s := u.String(); s != "" {
		return s
	}
	return otherwise
}

func bindsOr(as, otherwise string) string {
	if as != "" {
		return "binds " + as
	}
	return otherwise
}

func (t *printer) agents() {
	list := t.p.Agents()
	t.head("agents", len(list))
	for _, a := range list {
		t.line("  %s, first at %s", orDefault(a.Use, "of the run"), t.placeIn(a.Source, a.Pos))
	}
}

func (t *printer) sessions() {
	list := t.p.Sessions()
	t.head("sessions", len(list))
	for _, s := range list {
		t.line("  %s, agent %s, %s, first at %s", s.session(), orDefault(s.Agent, "of the run"), s.steps(), t.placeIn(s.Source, s.Pos))
	}
}

// session names a session.
func (s SessionUse) session() string {
	if s.Conversation != nil {
		return "conversation " + s.Conversation.talk()
	}
	return unnamed(s.Session, s.Scope)
}

// steps counts the steps that use a session.
func (s SessionUse) steps() string {
	var parts []string
	if s.Prompts > 0 {
		parts = append(parts, counted(s.Prompts, "prompt", "prompts"))
	}
	if s.Launches > 0 {
		parts = append(parts, counted(s.Launches, "launch", "launches"))
	}
	return strings.Join(parts, ", ")
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// duration writes milliseconds with the largest unit that gives a whole number.
func duration(ms int64) string {
	for _, u := range []struct {
		name string
		ms   int64
	}{{"h", 3_600_000}, {"m", 60_000}, {"s", 1000}} {
		if ms%u.ms == 0 {
			return strconv.FormatInt(ms/u.ms, 10) + u.name
		}
	}
	return strconv.FormatInt(ms, 10) + "ms"
}
