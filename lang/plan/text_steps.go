package plan

import "xmd/lang/expr"

// add1 adds a part unless there is nothing to say.
func add1(add func(string, ...any), format, text string) {
	if text != "" {
		add(format, text)
	}
}

// given shows an argument; "" if it is not given.
func given(a Arg) string {
	if !a.Given {
		return ""
	}
	if a.Expr == nil {
		return a.Literal
	}
	return short(argText(a))
}

func schemaText(s SchemaArg) string {
	switch {
	case !s.Given:
		return ""
	case s.Path != "":
		return s.Path
	case s.Schema != nil:
		return short(expr.JSON(s.Schema.Value()))
	}
	return short(argText(s.Expr))
}

// resendText is the attribute resend as it was written; "" if it was not given.
func resendText(n *Prompt) string {
	if n.Resend {
		return "auto"
	}
	return ""
}

// unnamed shows a session, or whose unnamed session it is.
func unnamed(session Use, scope string) string {
	text := orDefault(session, "unnamed")
	if scope != "" {
		text += " of " + scope
	}
	return text
}

// session is unnamed for a step: in a component file the place of its use decides.
func (t *printer) session(it Item) string {
	if it.Conversation != nil {
		return "of conversation " + it.Conversation.talk()
	}
	if it.Session == (Use{}) && it.Scope == "" && t.byWhich != ofRun {
		return t.byWhich
	}
	return unnamed(it.Session, it.Scope)
}

// Whose agent and session a prompt takes that names none.
const (
	ofRun = "of the run"
	ofUse = "of its use"
)

// controlText says what a step of control.go does.
func controlText(n Node, add func(string, ...any)) {
	switch n := n.(type) {
	case *Each:
		add("in %s", given(n.In))
		add1(add, "let %s", n.Let)
		add1(add, "collects %s", given(n.Collect))
		add1(add, "binds %s", n.As)
	case *Try:
		add1(add, "catches as %s", n.As)
		if n.HasCatch && n.As == "" {
			add("catches")
		}
	case *Fail:
		add("message %s", short(argText(n.Message)))
	case *Return:
		add("value %s", short(argText(n.Value)))
	case *Policy:
		add1(add, "%s", n.Policy)
		add1(add, "deny %s", given(n.Deny))
		add1(add, "allow %s", given(n.Allow))
	case *Component:
		add("file %s", n.Document.Source.Name)
		for _, name := range sortedKeys(n.Props) {
			add("%s %s", name, short(argText(n.Props[name])))
		}
		add1(add, "binds %s", n.As)
	case *Content:
		add1(add, "slot %s", n.Slot)
	}
}

// effectText says what a step of effects.go does.
func effectText(n Node, add func(string, ...any)) {
	switch n := n.(type) {
	case *File:
		if n.Write {
			add("writes %s", given(n.Path))
			return
		}
		add("reads %s", given(n.Path))
		add("%s", bindsOr(n.As, "renders it"))
	case *Glob:
		add("include %s", given(n.Include))
		add1(add, "exclude %s", given(n.Exclude))
		add1(add, "binds %s", n.As)
	case *TempDir:
		add("binds %s", n.As)
	case *Json:
		add("value %s", short(argText(n.Value)))
		add1(add, "binds %s", n.As)
	case *Parse:
		add1(add, "schema %s", schemaText(n.Schema))
		add("%s", bindsOr(n.As, "renders the value"))
	case *Fetch:
		add("%s %s", n.Method, given(n.URL))
		add("%s", bindsOr(n.As, "renders the body"))
	case *Elicit:
		add1(add, "schema %s", schemaText(n.Schema))
		add1(add, "choices %s", given(n.Choices))
		add1(add, "default %s", given(n.Default))
		add("%s", bindsOr(n.As, "renders the answer"))
	}
}

// permissions writes the policies that the document and its component files declare.
func (t *printer) permissions() {
	t.line("permissions")
	n := 0
	for _, doc := range t.p.Documents() {
		for _, it := range doc.Items() {
			if p, ok := it.Node.(*Policy); ok {
				n++
				t.line("  %s, for the body at %s", p.String(), t.placeIn(doc.Source, p.Pos))
			}
		}
	}
	if n == 0 {
		t.line("  none declared: a permission flag of the run decides, else approve-reads")
	}
}

// String names a policy: "deny-all", or its lists of what is denied and allowed.
func (n *Policy) String() string {
	text := n.Policy
	if s := given(n.Deny); s != "" {
		text = "deny " + s
	}
	if s := given(n.Allow); s != "" {
		if text != "" {
			text += ", "
		}
		text += "allow " + s
	}
	return text
}

func (t *printer) bounds() {
	list := t.p.Bounds()
	t.head("bounds", len(list))
	for _, b := range list {
		t.line("  %s: %s", b.Step, b)
	}
}
