package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"maps"
	"slices"
	"strconv"

	"xmd/lang/expr"
)

// digest hashes what a plan renders and does. Each piece is written with its length or in a closed form, so that no two
// plans write the same bytes. Places and spacing inside of tags are left out.
func digest(p *Plan) string {
	d := &digester{h: sha256.New()}
	d.text("xmd plan 1")
	d.inputs(&p.Inputs)
	if p.Returns != nil {
		d.text("returns")
		d.text(expr.JSON(p.Returns.Value()))
	}
	d.nodes(p.Body)
	return hex.EncodeToString(d.h.Sum(nil))
}

type digester struct {
	h   hash.Hash
	buf []byte
}

func (d *digester) text(s string) {
	d.buf = strconv.AppendInt(d.buf[:0], int64(len(s)), 10)
	d.buf = append(append(d.buf, ':'), s...)
	d.h.Write(d.buf)
}

func (d *digester) flag(b bool) { d.text(strconv.FormatBool(b)) }

func (d *digester) inputs(in *Inputs) {
	for _, p := range in.Props {
		d.text("prop")
		d.text(p.Name)
		d.text(expr.JSON(p.Raw))
		d.flag(p.Required)
	}
	if in.Object != nil {
		d.text("object")
		d.text(expr.JSON(in.Object.Value()))
	}
	for _, e := range in.Env {
		d.text("env")
		d.text(e.Name)
		d.flag(e.Required)
		d.flag(e.HasDefault)
		d.text(e.Default)
		d.only("secret", e.Secret)
	}
	if len(in.Meta) > 0 {
		d.text("meta")
		d.text(expr.JSON(in.Meta))
	}
}

// nodes writes a list with an end, so that nesting is part of the digest.
func (d *digester) nodes(list []Node) {
	for _, n := range list {
		d.node(n)
	}
	d.text("end")
}

func (d *digester) node(n Node) {
	switch n := n.(type) {
	case *Text:
		d.text("text")
		d.flag(n.Gap)
		d.text(n.Value)
	case *Value:
		d.text("value")
		d.text(n.Path.Source)
	case *Line:
		d.text("line")
		d.text(n.Indent)
		d.text(n.EOL)
		d.nodes(n.Body)
	case *Fill:
		d.text("fill")
		d.text(n.Open)
		d.text(n.Close)
		d.text(n.Marker)
		d.nodes(n.Body)
	default:
		d.step(n)
	}
}

func (d *digester) step(n Node) {
	switch n := n.(type) {
	case *Prompt:
		d.text(n.ID)
		d.args(n.Text, n.Agent, n.Session, n.ThrowIf)
		d.text(n.As)
		d.flag(n.ThrowOnError)
		d.schema(n.Schema)
		d.given("retries", n.Retries)
		d.timeout(n.TimeoutMS, n.Timeout)
		d.only("resend", n.Resend)
		d.nodes(n.Body)
	case *Agent:
		d.text(n.ID)
		d.args(n.Name)
		d.given("model", n.Model)
		d.given("effort", n.Effort)
		d.given("mode", n.Mode)
		d.flag(n.Self)
		d.nodes(n.Body)
	case *Session:
		d.text(n.ID)
		d.args(n.Name)
		d.nodes(n.Body)
	case *Launch:
		d.written(n.Step)
		d.args(n.Agent, n.Session)
		d.nodes(n.Body)
	case *Let:
		d.text(n.ID)
		d.text(n.As)
		d.args(n.Value)
		d.nodes(n.Body)
	case *If:
		d.text(n.ID)
		d.args(n.Cond)
		d.nodes(n.Then)
		d.nodes(n.Else)
	case *Exec:
		d.exec(n)
	default:
		if !d.control(n) && !d.testing(n) {
			d.effect(n)
		}
	}
}

// control writes the steps of control.go; false: the node is another.
func (d *digester) control(n Node) bool {
	switch n := n.(type) {
	case *Each:
		d.written(n.Step, n.Let, n.As)
		d.args(n.In, n.Collect, n.Parallel)
		d.nodes(n.Body)
	case *Loop:
		d.written(n.Step)
		d.args(n.Max)
		d.nodes(n.Body)
	case *Break:
		d.written(n.Step)
	case *Parallel:
		d.written(n.Step)
		d.args(n.Max)
		d.nodes(n.Body)
	case *Try:
		d.written(n.Step, n.As)
		d.flag(n.HasCatch)
		d.nodes(n.Body)
		d.nodes(n.Catch)
	case *Fail:
		d.written(n.Step)
		d.args(n.Message)
	case *Output:
		d.written(n.Step)
		d.nodes(n.Body)
	case *Return:
		d.written(n.Step)
		d.args(n.Value)
	case *Policy:
		d.written(n.Step, n.Policy)
		d.args(n.Deny, n.Allow)
		d.nodes(n.Body)
	case *Component:
		d.component(n)
	case *Content:
		d.written(n.Step, n.Slot)
		d.nodes(n.Fallback)
	default:
		return d.offer(n)
	}
	return true
}

// offer writes the steps of offers.go; false: the node is another.
func (d *digester) offer(n Node) bool {
	switch n := n.(type) {
	case *Tool:
		d.written(n.Step, n.Name, n.Description)
		d.schema(n.schemaArg())
		d.timeout(n.TimeoutMS, Arg{})
		d.nodes(n.Body)
	case *Mcp:
		d.written(n.Step)
		d.args(n.Name, n.URL, n.Headers, n.Command, n.Args, n.Env)
	case *Instructions:
		d.written(n.Step)
		d.nodes(n.Body)
	case *Conversation:
		d.written(n.Step, n.OnLost)
		d.args(n.Name)
		d.nodes(n.Body)
	default:
		return false
	}
	return true
}

// effect writes the steps of effects.go.
func (d *digester) effect(n Node) {
	switch n := n.(type) {
	case *File:
		d.written(n.Step, n.As)
		d.args(n.Path)
		d.flag(n.Write)
		d.flag(n.CloseFirst)
		d.nodes(n.Body)
	case *Glob:
		d.written(n.Step, n.As)
		d.args(n.Include, n.Exclude)
	case *TempDir:
		d.written(n.Step, n.As)
		d.nodes(n.Body)
	case *Json:
		d.written(n.Step, n.As)
		d.args(n.Value)
	case *Parse:
		d.written(n.Step, n.As)
		d.flag(n.Safe)
		d.schema(n.Schema)
		d.nodes(n.Body)
	case *Fetch:
		d.written(n.Step, n.Method, n.As)
		d.args(n.URL, n.Headers)
		d.timeout(n.TimeoutMS, n.Timeout)
	case *Elicit:
		d.written(n.Step, n.As)
		d.schema(n.Schema)
		d.args(n.Choices, n.Default)
		d.nodes(n.Body)
	}
}

// written writes the identity of a step and the words that it is written with.
func (d *digester) written(s Step, words ...string) {
	d.text(s.ID)
	for _, w := range words {
		d.text(w)
	}
}

// component writes a use of a component file; the file's own digest stands for what is in it.
func (d *digester) component(n *Component) {
	d.written(n.Step, n.As, n.Document.Digest)
	for _, name := range sortedKeys(n.Props) {
		d.text(name)
		d.args(n.Props[name])
	}
	d.text("end")
	d.nodes(n.Children)
	for _, slot := range sortedKeys(n.Slots) {
		d.text(slot)
		d.nodes(n.Slots[slot])
	}
	d.text("end")
}

// given writes an attribute under its name, and nothing if it is not given.
func (d *digester) given(name string, a Arg) {
	if a.Given {
		d.text(name)
		d.args(a)
	}
}

// only writes a word that is there, and nothing if it is not.
func (d *digester) only(word string, there bool) {
	if there {
		d.text(word)
	}
}

func (d *digester) schema(s SchemaArg) {
	switch {
	case !s.Given:
	case s.Schema != nil:
		d.text("schema")
		d.text(expr.JSON(s.Schema.Value()))
	default:
		d.given("schema", s.Expr)
	}
}

func (d *digester) timeout(ms int64, computed Arg) {
	if ms != 0 {
		d.text("timeout")
		d.text(strconv.FormatInt(ms, 10))
	}
	d.given("timeout", computed)
}

// sortedKeys lists the keys of a map in their order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func (d *digester) exec(n *Exec) {
	d.text(n.ID)
	d.text(n.Lang)
	d.text(n.Program)
	d.text(n.As)
	for _, w := range n.With {
		d.text(w.Path.Source)
		d.flag(w.File)
	}
	d.text("end")
	d.flag(n.ThrowOnError)
	d.flag(n.Silent)
	d.flag(n.Lax)
	d.text(strconv.FormatInt(n.TimeoutMS, 10))
	d.text(n.Cwd)
	d.only("once", n.Once)
}

func (d *digester) args(list ...Arg) {
	for _, a := range list {
		switch {
		case !a.Given:
			d.text("none")
		case a.Expr == nil:
			d.text("string")
			d.text(a.Literal)
		default:
			d.text("expression")
			d.text(a.Expr.Canonical())
		}
	}
}
