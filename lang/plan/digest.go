package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"

	"xmd/lang/expr"
)

// digest hashes what a plan renders and does. Each piece is written with its length or in a closed form, so that no two
// plans write the same bytes. Places and spacing inside of tags are left out.
func digest(p *Plan) string {
	d := &digester{h: sha256.New()}
	d.text("xmd plan 1")
	d.inputs(&p.Inputs)
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
		d.nodes(n.Body)
	case *Agent:
		d.text(n.ID)
		d.args(n.Name)
		d.flag(n.Self)
		d.nodes(n.Body)
	case *Session:
		d.text(n.ID)
		d.args(n.Name)
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
	}
}

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
