package sim

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/syntax"
)

// script is a parsed script; the package comment says what one is. It is immutable.
type script struct {
	source *diag.Source
	rules  []*rule
}

// rule is one <WhenPrompt>. It is immutable.
type rule struct {
	name     string // "template#k", k counting rules of one template: it stands in the history
	template *template
	names    []string // what replies may use: the captures, and what CallTool bound before
	times    int      // 0: any number
	body     []syntax.Node
	attrs    map[*syntax.Element]map[string]attrValue
	source   *diag.Source
}

// Codes of errors in scripts. They are stable.
const (
	CodeScriptComponent = "XMD1901" // a component that has no place there
	CodeScriptAttribute = "XMD1902" // an attribute that is unknown, missing or has no use
	CodeScriptTemplate  = "XMD1903" // a template that cannot be read
	CodeScriptName      = "XMD1904" // a name that the template does not capture
	CodeScriptExec      = "XMD1905" // an exec block
)

// ScriptCodes lists the codes XMD19xx in their order, for specs/errors.md. It is read-only.
var ScriptCodes = []diag.Code{
	{Code: CodeScriptComponent, Title: "a component that has no place in a script there"},
	{Code: CodeScriptAttribute, Title: "an attribute of a script that is unknown, missing or has no use"},
	{Code: CodeScriptTemplate, Title: "a template that cannot be read"},
	{Code: CodeScriptName, Title: "a name that the template does not capture"},
	{Code: CodeScriptExec, Title: "an exec block in a script"},
}

// attrKind says which values an attribute takes.
type attrKind uint8

const (
	anyValue attrKind = iota
	stringValue
	wholeValue  // a whole number from 0
	signedValue // any whole number
	numberValue // any number from 0
	boolValue
	objectValue // a JSON object, or its text
	diffValue   // {path, oldText, newText}
)

// components are what stands inside a WhenPrompt: attributes and whether there is a body.
var components = map[string]struct {
	attrs map[string]attrKind
	body  bool
}{
	"Say":     {map[string]attrKind{"chunks": wholeValue}, true},
	"Thought": {map[string]attrKind{"chunks": wholeValue}, true},
	"Plan":    {nil, true}, // a line each: [ ] to do, [~] in work, [x] done
	"ToolCall": {map[string]attrKind{"kind": stringValue, "title": stringValue, "input": anyValue, "diff": diffValue,
		"outcome": stringValue, "ask": boolValue}, true}, // the body is its output
	"CallTool": {map[string]attrKind{"name": stringValue, "server": stringValue, "args": objectValue, "kind": stringValue, "title": stringValue,
		"ask": boolValue, "as": stringValue}, false}, // calls an MCP server of the session for real
	"Usage": {map[string]attrKind{"used": wholeValue, "size": wholeValue, "cost": numberValue, "input": wholeValue, "output": wholeValue}, false},
	"Wait":  {map[string]attrKind{"ms": wholeValue}, false},
	"Exit":  {map[string]attrKind{"code": wholeValue}, false},
	"Error": {map[string]attrKind{"code": signedValue, "message": stringValue}, false},
}

var ruleAttrs = map[string]attrKind{"template": stringValue, "times": wholeValue}

// loadScript reads a script; no name is no script. What is wrong with it goes to stderr, and the code is 2 then.
func loadScript(name string, stderr io.Writer) (*script, int) {
	if name == "" {
		return nil, 0
	}
	text, err := os.ReadFile(name)
	if err != nil {
		fmt.Fprintf(stderr, "xmd sim: the script cannot be read: %v\n", err)
		return nil, 2
	}
	s, source, found := parseScript(name, string(text))
	if len(found) > 0 {
		_ = diag.WriteText(stderr, source, found) // a stderr that fails leaves the exit code
	}
	if found.HasErrors() {
		return nil, 2
	}
	return s, 0
}

// CheckScript says what is wrong with a script. name is that of its file, or of the document that it stands in.
func CheckScript(name, text string) (*diag.Source, diag.List) {
	_, source, found := parseScript(name, text)
	return source, found
}

// parseScript reads a script's text. With errors in the list the script is nil.
func parseScript(name, text string) (*script, *diag.Source, diag.List) {
	doc, found := lang.Parse(name, text)
	if found.HasErrors() {
		return nil, doc.Source, found
	}
	c := &checker{script: &script{source: doc.Source}, found: found, counts: map[string]int{}}
	for n := range syntax.Children(doc.Body) {
		switch n := n.(type) {
		case *syntax.Element:
			c.rule(n)
		case *syntax.Exec:
			c.exec(n)
		}
	}
	c.found.Sort()
	if c.found.HasErrors() {
		return nil, doc.Source, c.found
	}
	return c.script, doc.Source, c.found
}

// match gives the rule that answers a prompt, with its captures; nil if none does. texts are tried in order, used
// says how often each rule answered in the session. It may be called on nil.
func (s *script) match(texts []string, used map[string]int) (*rule, map[string]any) {
	if s == nil {
		return nil, nil
	}
	for _, r := range s.rules {
		if r.times > 0 && used[r.name] >= r.times {
			continue
		}
		for _, text := range texts {
			if captures, ok := r.template.match(text); ok {
				return r, captures
			}
		}
	}
	return nil, nil
}

// checker turns the tree into rules, or says all that is wrong with it.
type checker struct {
	script *script
	found  diag.List
	counts map[string]int // rules of each template
}

func (c *checker) exec(n *syntax.Exec) {
	c.found.Add(CodeScriptExec, n.LangSpan, "a script runs no exec blocks", "to say it as text, put a longer fence around it")
}

func (c *checker) rule(e *syntax.Element) {
	if e.Name != "WhenPrompt" {
		hint := "a script holds <WhenPrompt template=\"…\"> elements"
		if _, ok := components[e.Name]; ok {
			hint = "put it into a <WhenPrompt template=\"…\">"
		}
		c.found.Add(CodeScriptComponent, e.NameSpan, e.Name+" has no place here", hint)
		return
	}
	r := &rule{body: e.Body, source: c.script.source, attrs: map[*syntax.Element]map[string]attrValue{}}
	own := c.attributes(e, ruleAttrs, nil)
	source, ok := own["template"].fixed.(string)
	if !ok {
		c.found.Add(CodeScriptAttribute, e.NameSpan, "WhenPrompt needs a template", `write template="Fix {?id}" with the words of the prompt`)
		return
	}
	var err error
	if r.template, err = parseTemplate(source); err != nil {
		c.found.Add(CodeScriptTemplate, own["template"].span, err.Error(), "captures are written {?name}, each with a name of its own and text between them")
		return
	}
	if times, ok := own["times"].fixed.(int64); ok {
		if r.times = int(times); times == 0 {
			c.found.Add(CodeScriptAttribute, own["times"].span, "a rule that answers 0 times is of no use", "leave times out for any number")
		}
	}
	r.names = slices.Clone(r.template.names)
	c.counts[source]++
	r.name = fmt.Sprintf("%s#%d", source, c.counts[source])
	c.reply(r, e.Body)
	c.script.rules = append(c.script.rules, r)
}

// reply checks the body of a rule.
func (c *checker) reply(r *rule, body []syntax.Node) {
	for n := range syntax.Children(body) {
		e, ok := n.(*syntax.Element)
		if !ok {
			c.text(r, n)
			continue
		}
		known, ok := components[e.Name]
		switch {
		case !ok:
			c.found.Add(CodeScriptComponent, e.NameSpan, e.Name+" has no place in a reply", componentHint(e.Name))
			continue
		}
		r.attrs[e] = c.attributes(e, known.attrs, r.names)
		c.words(r, e)
		for inner := range syntax.Children(e.Body) {
			c.inner(r, e, known.body, inner)
		}
		if e.Name == "CallTool" {
			c.callTool(r, e)
		}
	}
}

// callTool checks a CallTool, and binds what it gives for what follows.
func (c *checker) callTool(r *rule, e *syntax.Element) {
	if _, ok := r.attrs[e]["name"]; !ok {
		c.found.Add(CodeScriptAttribute, e.NameSpan, "CallTool needs a name", `write name="review" with the name of the tool`)
	}
	as, given := r.attrs[e]["as"]
	if !given {
		return
	}
	name, fixed := as.fixed.(string)
	switch {
	case !fixed || !expr.IsName(name):
		c.found.Add(CodeScriptAttribute, as.span, "as wants a name", `write as="found", and {found} for the text that came back`)
	case slices.Contains(r.names, name):
		c.found.Add(CodeScriptName, as.span, name+" is bound already", "choose another name")
	default:
		r.names = append(r.names, name)
	}
}

func componentHint(name string) string {
	if near := diag.Nearest(name, sortedKeys(components)); near != "" {
		return "did you mean " + near + "?"
	}
	return "a reply takes text and " + strings.Join(sortedKeys(components), " ")
}

// words checks what only some words fit.
func (c *checker) words(r *rule, e *syntax.Element) {
	for attr, allowed := range map[string][]string{"kind": toolKinds, "outcome": {"completed", "failed", "none"}} {
		v, given := r.attrs[e][attr]
		if word, ok := v.fixed.(string); given && ok && !slices.Contains(allowed, word) {
			c.found.Add(CodeScriptAttribute, v.span, fmt.Sprintf("%s cannot be %q", attr, word), "it is one of "+strings.Join(allowed, " "))
		}
	}
}

var toolKinds = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

// inner checks one node of the body of a component.
func (c *checker) inner(r *rule, e *syntax.Element, body bool, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Element:
		c.found.Add(CodeScriptComponent, n.NameSpan, n.Name+" has no place in "+e.Name, "")
	case *syntax.Text:
		if !body && strings.TrimSpace(n.Value) != "" {
			c.found.Add(CodeScriptComponent, n.Pos, e.Name+" takes no body", "write <"+e.Name+" … />")
		}
	default:
		c.text(r, n)
	}
}

// text checks a node that is no element.
func (c *checker) text(r *rule, n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Exec:
		c.exec(n)
	case *syntax.Fill:
		for _, inner := range n.Body {
			c.text(r, inner)
		}
	case *syntax.Interp:
		if !slices.Contains(r.names, n.Path) {
			c.found.Add(CodeScriptName, n.Pos, "the template captures no "+n.Path, nameHint(n.Path, r.names, `to say the braces, write \{`))
		}
	}
}

func nameHint(name string, among []string, otherwise string) string {
	if near := diag.Nearest(name, among); near != "" {
		return "did you mean " + near + "?"
	}
	return otherwise
}

// attributes reads the attributes of an element that may use these names.
func (c *checker) attributes(e *syntax.Element, allowed map[string]attrKind, names []string) map[string]attrValue {
	values := map[string]attrValue{}
	for _, a := range e.Attrs {
		kind, ok := allowed[a.Name]
		if !ok {
			c.found.Add(CodeScriptAttribute, a.NameSpan, fmt.Sprintf("%s has no attribute %s", e.Name, a.Name), attributeHint(e.Name, a.Name, allowed))
			continue
		}
		if v, ok := c.attribute(a, kind, names); ok {
			values[a.Name] = v
		}
	}
	return values
}

func attributeHint(component, name string, allowed map[string]attrKind) string {
	if len(allowed) == 0 {
		return component + " takes none"
	}
	return nameHint(name, sortedKeys(allowed), "it takes "+strings.Join(sortedKeys(allowed), " "))
}

// attribute reads one attribute: fixed if it uses no names.
func (c *checker) attribute(a *syntax.Attr, kind attrKind, names []string) (attrValue, bool) {
	v := attrValue{kind: kind, span: a.Pos}
	switch a.Kind {
	case syntax.AttrTrue:
		v.fixed = true
	case syntax.AttrString:
		v.fixed = a.Value
	default:
		if !c.compile(&v, a, names) {
			return v, false
		}
	}
	if v.expr == nil {
		fixed, err := v.fit(v.fixed)
		if err != nil {
			c.found.Add(CodeScriptAttribute, a.Pos, fmt.Sprintf("%s: %v", a.Name, err), "")
			return v, false
		}
		v.fixed = fixed
	}
	return v, true
}

// compile reads an expression; false if it is wrong or uses a name that is not captured.
func (c *checker) compile(v *attrValue, a *syntax.Attr, names []string) bool {
	e, wrong := expr.Compile(a.Value, a.ValueSpan.Start)
	for _, w := range wrong {
		c.found.Add(w.Code, w.Span, w.Message, w.Hint)
	}
	if len(wrong) > 0 {
		return false
	}
	ok := true
	for _, ref := range e.Names() {
		if !slices.Contains(names, ref.Name) {
			c.found.Add(CodeScriptName, ref.Span, "the template captures no "+ref.Name, nameHint(ref.Name, names, ""))
			ok = false
		}
	}
	if v.expr = e; ok && len(e.Names()) == 0 {
		value, err := e.Eval(nil)
		if err != nil {
			c.found.Add(CodeScriptAttribute, a.Pos, err.Error(), "")
			return false
		}
		v.expr, v.fixed = nil, value
	}
	return ok
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
