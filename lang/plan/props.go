package plan

import (
	"fmt"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/resolve"
	"xmd/lang/schema"
)

// PropFlag is one --props-NAME of a command line.
type PropFlag struct {
	Name  string
	Value string
	Bare  bool // no value was given
}

// PropObject is a JSON object with props: --props, or the variable XMD_PROPS.
type PropObject struct {
	From string // how messages name it: "--props", "--props @file.json"
	Text string
}

// PropSources are what the props of a document are taken from. Each prop takes the first source that has it, in this order;
// its default comes last.
type PropSources struct {
	Flags   []PropFlag
	Objects []PropObject                         // the first one that has a prop gives it
	Lookup  func(variable string) (string, bool) // XMD_PROPS_NAME and XMD_PROPS; nil: no environment
}

// PropError is one thing that is wrong with the props that were given.
type PropError = resolve.PropError

// EnvObject is the variable that holds props as one JSON object.
const EnvObject = "XMD_PROPS"

// BindProps takes the props of a document from their sources, checks them, and gives the value of props. With errors, all of
// which are returned, the value is nil. It uses nothing but its arguments.
func BindProps(in Inputs, src PropSources) (map[string]any, []PropError) {
	b := &binder{in: in, src: src, out: map[string]any{}, from: map[string]string{}}
	b.flags()
	b.objects()
	for i := range in.Props {
		b.prop(&in.Props[i])
	}
	b.validate()
	if len(b.errs) > 0 {
		return nil, b.errs
	}
	return b.out, nil
}

type binder struct {
	in   Inputs
	src  PropSources
	read []readObject
	out  map[string]any
	from map[string]string // where each prop came from
	errs []PropError
}

type readObject struct {
	from string
	vals map[string]any
	env  bool // stands behind the variables of single props
}

func (b *binder) fail(prop, message, hint string) {
	b.errs = append(b.errs, PropError{Prop: prop, Message: message, Hint: hint})
}

// unknown says that a document has no such prop.
func (b *binder) unknown(from, name, prefix string) {
	names := make([]string, len(b.in.Props))
	for i, p := range b.in.Props {
		names[i] = p.Name
	}
	hint := "the document takes no props"
	if near := diag.Nearest(name, names); near != "" {
		hint = "did you mean " + prefix + near + "?"
	} else if len(names) > 0 {
		hint = "its props are " + strings.Join(names, ", ")
	}
	b.fail("", from+": the document has no prop "+name, hint)
}

func (b *binder) flags() {
	seen := map[string]bool{}
	for _, f := range b.src.Flags {
		flag := "--props-" + f.Name
		switch {
		case b.in.Prop(f.Name) == nil:
			b.unknown(flag, f.Name, "--props-")
		case seen[f.Name]:
			b.fail(f.Name, flag+" is given twice", "")
		}
		seen[f.Name] = true
	}
}

func (b *binder) objects() {
	for _, o := range b.src.Objects {
		b.object(o, false)
	}
	if b.src.Lookup == nil {
		return
	}
	if text, ok := b.src.Lookup(EnvObject); ok {
		b.object(PropObject{From: EnvObject, Text: text}, true)
	}
}

func (b *binder) object(o PropObject, env bool) {
	v, err := expr.ParseJSON(o.Text)
	if err != nil {
		b.fail("", o.From+" "+err.Error(), "it holds one JSON object")
		return
	}
	m, ok := v.(map[string]any)
	if !ok {
		b.fail("", o.From+" holds "+expr.KindName(v)+", not a JSON object", "")
		return
	}
	for _, name := range expr.Keys(m) {
		if b.in.Prop(name) == nil {
			b.unknown(o.From, name, "")
		}
	}
	b.read = append(b.read, readObject{o.From, m, env})
}

// prop takes one prop from the first source that has it.
func (b *binder) prop(p *Prop) {
	for _, f := range b.src.Flags {
		if f.Name == p.Name {
			b.flag(p, f)
			return
		}
	}
	if b.fromObjects(p, false) {
		return
	}
	if b.src.Lookup != nil {
		variable := resolve.Variable(p.Name)
		if text, ok := b.src.Lookup(variable); ok {
			b.text(p, variable, text)
			return
		}
	}
	switch {
	case b.fromObjects(p, true):
	case p.HasDefault:
		b.out[p.Name] = p.Default
	case p.Required:
		b.missing(p)
	}
}

func (b *binder) missing(p *Prop) {
	value := " VALUE"
	if p.IsFlag() {
		value = ""
	}
	b.fail(p.Name, "the prop "+p.Name+" is missing", "give it with --props-"+p.Name+value+" or "+resolve.Variable(p.Name))
}

func (b *binder) flag(p *Prop, f PropFlag) {
	flag := "--props-" + f.Name
	switch {
	case !f.Bare:
		b.text(p, flag, f.Value)
	case p.IsFlag():
		b.take(p, flag, true)
	default:
		b.fail(p.Name, flag+" needs a value", "")
	}
}

func (b *binder) fromObjects(p *Prop, env bool) bool {
	for _, o := range b.read {
		if v, ok := o.vals[p.Name]; ok && o.env == env {
			b.take(p, o.from, v)
			return true
		}
	}
	return false
}

// text takes a prop from a text: it stays a string where the schema admits one, else it is JSON.
func (b *binder) text(p *Prop, from, text string) {
	if p.Type.Can(expr.String) {
		b.take(p, from, text)
		return
	}
	v, err := expr.ParseJSON(text)
	if err != nil {
		b.fail(p.Name, fmt.Sprintf("%s: must be %s, is %q", from, p.Type.WithoutNull(), text), "")
		return
	}
	b.take(p, from, v)
}

func (b *binder) take(p *Prop, from string, v any) {
	b.out[p.Name], b.from[p.Name] = v, from
	if p.Schema == nil {
		return
	}
	for _, f := range p.Schema.Validate(v) {
		b.fault(p.Name, from, f)
	}
}

// fault names the source, and the prop where the source holds several.
func (b *binder) fault(prop, from string, f schema.Fault) {
	if !strings.HasPrefix(from, "--props-") && from != resolve.Variable(prop) {
		f.At = append([]any{prop}, f.At...)
	}
	text := f.Message
	if len(f.At) > 0 {
		text = f.String()
	}
	b.fail(prop, from+": "+text, f.Hint)
}

// validate judges the props of the object form together.
func (b *binder) validate() {
	if b.in.Object == nil || len(b.errs) > 0 {
		return
	}
	for _, f := range b.in.Object.Validate(b.out) {
		name := ""
		if len(f.At) > 0 {
			name, _ = f.At[0].(string)
		}
		if from, ok := b.from[name]; ok {
			f.At = f.At[1:]
			b.fault(name, from, f)
			continue
		}
		b.fail(name, "the props: "+f.Message, f.Hint)
	}
}

// BindEnv gives the value of env: the variables listed in the frontmatter, each from the environment, by its default, or
// null. With errors, one for each required variable that is not set, the value is nil.
func BindEnv(in Inputs, lookup func(variable string) (string, bool)) (map[string]any, []PropError) {
	out := make(map[string]any, len(in.Env))
	var errs []PropError
	for _, e := range in.Env {
		v, ok := lookup(e.Name)
		switch {
		case ok:
			out[e.Name] = v
		case e.HasDefault:
			out[e.Name] = e.Default
		case e.Required:
			errs = append(errs, PropError{Message: "the environment variable " + e.Name + " is not set", Hint: "the document requires it under env:"})
		default:
			out[e.Name] = nil
		}
	}
	if len(errs) > 0 {
		return nil, errs
	}
	return out, nil
}
