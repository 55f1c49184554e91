package plan

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"xmd/lang/expr"
)

// WriteText writes the plan for people: props, steps, agents, sessions, permissions, bounds. What is dynamic shows as its
// expression. The same plan gives the same bytes. The first write error is returned.
func (p *Plan) WriteText(w io.Writer) error {
	t := &printer{p: p}
	t.line("plan of %s, digest %.12s", p.Source.Name, p.Digest)
	t.inputs()
	items := p.Items()
	t.steps(items)
	t.agents()
	t.sessions()
	t.line("permissions")
	t.line("  none declared: a permission flag of the run decides, else approve-reads")
	t.bounds(items)
	_, err := io.WriteString(w, t.b.String())
	return err
}

type printer struct {
	p *Plan
	b strings.Builder
}

func (t *printer) line(format string, args ...any) {
	t.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
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

// step is one line about a step: its identity, then what it does.
func (t *printer) step(it Item) string {
	parts := []string{it.ID}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch n := it.Node.(type) {
	case *Prompt:
		add("agent %s", orDefault(it.Agent, "of the run"))
		add("session %s", orDefault(it.Session, "unnamed"))
		if n.Text.Given {
			add("text %s", short(argText(n.Text)))
		}
		add("%s", bindsOr(n.As, "renders its reply"))
		if n.ThrowIf.Given {
			add("throws if %s", argText(n.ThrowIf))
		}
	case *Agent:
		add("name %s", it.Agent)
	case *Session:
		add("name %s", it.Session)
	case *Let:
		if n.Value.Given {
			add("value %s", short(argText(n.Value)))
		}
		add("binds %s", n.As)
	case *If:
		add("condition %s", argText(n.Cond))
	case *Exec:
		t.exec(n, add)
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
		t.line("  %s, first at %s", orDefault(a.Use, "of the run"), t.place(a.Pos))
	}
}

func (t *printer) sessions() {
	list := t.p.Sessions()
	t.head("sessions", len(list))
	for _, s := range list {
		prompts := "1 prompt"
		if s.Prompts != 1 {
			prompts = strconv.Itoa(s.Prompts) + " prompts"
		}
		t.line("  %s, agent %s, %s, first at %s", orDefault(s.Session, "unnamed"), orDefault(s.Agent, "of the run"), prompts, t.place(s.Pos))
	}
}

func (t *printer) bounds(items []Item) {
	n := 0
	for _, it := range items {
		x, ok := it.Node.(*Exec)
		if !ok || x.TimeoutMS == 0 {
			continue
		}
		if n++; n == 1 {
			t.line("bounds")
		}
		t.line("  %s: timeout %s", it.ID, duration(x.TimeoutMS))
	}
	if n == 0 {
		t.line("bounds: none")
	}
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
