package resolve

import (
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/schema"
	"xmd/lang/syntax"
)

// acting are the keys of the frontmatter that mean something; all others are data.
var acting = []string{"props", "required", "returns", "env"}

// front reads the frontmatter into r.info.Inputs.
func (r *resolver) front(f *syntax.Front, entry bool) {
	in := &r.info.Inputs
	in.Meta = map[string]any{}
	if f == nil {
		return
	}
	if entry {
		r.diags.Add(CodeFrontEntry, f.Pos, "frontmatter belongs in a file, not in an entry", "bind values with <Let>")
		return
	}
	root := readYAML(f.YAML, f.Off, &r.diags)
	if root == nil {
		return
	}
	if root.kind != yamlMap {
		r.diags.Add(CodeFrontShape, root.pos, "the frontmatter is not a map of keys", "write key: value")
		return
	}
	for _, p := range root.pairs {
		r.frontKey(in, root, p)
	}
	if req := root.get("required"); req != nil && root.get("props") == nil {
		r.diags.Add(CodeFrontShape, req.pos, "required without props", "declare the props under props:")
	}
}

func (r *resolver) frontKey(in *Inputs, root *yamlNode, p yamlPair) {
	switch p.key {
	case "props":
		r.props(in, p.val, root.get("required"))
	case "required":
	case "env":
		r.env(in, p.val)
	case "returns":
		r.returnsAt, r.info.value = p.pos, true
		r.frontReturns(p)
	default:
		in.Meta[p.key] = p.val.value()
		if near := diag.Nearest(p.key, acting); near != "" {
			r.warn(CodeFrontKey, p.pos, p.key+" is data only", "did you mean "+near+"?")
		}
	}
}

// frontReturns reads the schema of a value document, or the path of its file.
func (r *resolver) frontReturns(p yamlPair) {
	if path, ok := p.val.scalar.(string); ok && p.val.kind == yamlScalar {
		r.info.Returns = r.schemaFile(path, p.val.pos)
		return
	}
	if p.val.kind != yamlMap && p.val.scalar != true {
		r.diags.Add(CodeFrontShape, p.val.pos, "returns is a schema, or the path of a schema file", "write returns: {type: object}")
		return
	}
	r.info.Returns = r.compileSchema(p.val.value(), p.val)
}

// props reads either form: a map from names to schemas, or one schema of an object.
func (r *resolver) props(in *Inputs, n, required *yamlNode) {
	if n.kind != yamlMap {
		r.diags.Add(CodeFrontShape, n.pos, "props is a map from names to schemas", "write props: {name: {type: string}}")
		return
	}
	before := len(r.diags)
	names := r.requiredNames(required)
	if t := n.get("type"); t != nil && t.kind == yamlScalar && t.scalar == "object" {
		r.objectProps(in, n, names)
	} else {
		r.mapProps(in, n)
	}
	if len(r.diags.Errors()) > len(r.diags[:before].Errors()) {
		return
	}
	for _, req := range names {
		i := slices.IndexFunc(in.Props, func(p Prop) bool { return p.Name == req.key })
		if i < 0 {
			r.diags.Add(CodeFrontShape, req.pos, "required names "+req.key+", which is no prop", expr.DidYouMean(req.key, in.names()))
			continue
		}
		in.Props[i].Required = true
	}
	r.variables(in)
}

// names lists the props.
func (in *Inputs) names() []string {
	names := make([]string, len(in.Props))
	for i, p := range in.Props {
		names[i] = p.Name
	}
	return names
}

func (r *resolver) requiredNames(n *yamlNode) []yamlPair {
	if n == nil {
		return nil
	}
	var out []yamlPair
	for _, e := range n.items {
		name, ok := e.scalar.(string)
		if e.kind != yamlScalar || !ok {
			r.diags.Add(CodeFrontShape, e.pos, "required lists names of props", "")
			continue
		}
		out = append(out, yamlPair{key: name, pos: e.pos})
	}
	if n.kind != yamlList {
		r.diags.Add(CodeFrontShape, n.pos, "required is a list of names", "write required: [name]")
	}
	return out
}

func (r *resolver) mapProps(in *Inputs, n *yamlNode) {
	for _, p := range n.pairs {
		if p.val.kind != yamlMap && p.val.scalar != true {
			hint := "write " + p.key + ": {type: string}"
			r.diags.Add(CodeFrontShape, p.pos, "the prop "+p.key+" needs a schema", hint)
			continue
		}
		raw := p.val.value()
		s := r.compileSchema(raw, p.val)
		if !r.propName(p) || s == nil {
			continue
		}
		prop := newProp(p, raw, s.Type())
		prop.Schema = s
		if prop.HasDefault {
			r.fault(CodePropDefault, p.val, []any{"default"}, "the default of "+p.key, s.Validate(prop.Default))
		}
		in.Props = append(in.Props, prop)
	}
}

func newProp(p yamlPair, raw any, typ *expr.Type) Prop {
	prop := Prop{Name: p.key, Raw: raw, Type: typ, Pos: p.pos}
	if m, ok := raw.(map[string]any); ok {
		prop.Default, prop.HasDefault = m["default"]
		prop.Description, _ = m["description"].(string)
	}
	return prop
}

func (r *resolver) objectProps(in *Inputs, n *yamlNode, required []yamlPair) {
	raw, _ := n.value().(map[string]any)
	// Props are closed, and required may stand beside: the schema says both, so that one verdict covers all.
	closed := make(map[string]any, len(raw)+2)
	for k, v := range raw {
		closed[k] = v
	}
	if _, said := closed["additionalProperties"]; !said {
		closed["additionalProperties"] = false
	}
	list, _ := closed["required"].([]any)
	for _, req := range required {
		list = append(slices.Clip(list), req.key)
	}
	s := r.compileSchema(raw, n)
	if s == nil {
		return
	}
	if len(list) > 0 {
		closed["required"] = unique(list)
	}
	if in.Object, _ = schema.Compile(closed); in.Object == nil {
		return
	}
	props := n.get("properties")
	if props == nil {
		return
	}
	var fields map[string]*expr.Type
	if t := in.Object.Type(); t != nil {
		fields = t.Fields
	}
	for _, p := range props.pairs {
		if !r.propName(p) {
			continue
		}
		prop := newProp(p, p.val.value(), fields[p.key])
		prop.Required = slices.Contains(list, any(p.key))
		if prop.HasDefault {
			r.fault(CodePropDefault, p.val, []any{"default"}, "the default of "+p.key, in.faultsOf(p.key, prop.Default))
		}
		in.Props = append(in.Props, prop)
	}
}

func unique(list []any) []any {
	var out []any
	for _, e := range list {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// faultsOf validates one prop of the object form.
func (in *Inputs) faultsOf(name string, v any) []schema.Fault {
	var out []schema.Fault
	for _, f := range in.Object.Validate(map[string]any{name: v}) {
		if len(f.At) > 0 && f.At[0] == name {
			f.At = f.At[1:]
			out = append(out, f)
		}
	}
	return out
}

func (r *resolver) compileSchema(raw any, n *yamlNode) *schema.Schema {
	s, faults := schema.Compile(raw)
	r.fault(CodePropSchema, n, nil, "the schema", faults)
	if s == nil {
		return nil
	}
	for _, f := range s.Warnings() {
		r.warn(CodeSchemaKeyword, n.at(f.At), f.String(), f.Hint)
	}
	return s
}

// fault reports faults of a schema or value that stands in the frontmatter, each at its place.
func (r *resolver) fault(code string, n *yamlNode, base []any, what string, faults []schema.Fault) {
	for _, f := range faults {
		text := what + ": " + f.Message
		if len(f.At) > 0 {
			text = what + ": " + f.String()
		}
		r.diags.Add(code, n.at(append(slices.Clip(base), f.At...)), text, f.Hint)
	}
}

// propName checks the name of a prop: it is also part of a flag and of a variable.
func (r *resolver) propName(p yamlPair) bool {
	ok := p.key != "" && !isDigit(p.key[0]) && p.key[0] != '-'
	for i := range len(p.key) {
		c := p.key[i]
		ok = ok && (c == '_' || c == '-' || isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z')
	}
	if !ok {
		r.diags.Add(CodePropName, p.pos, p.key+" cannot be the name of a prop", "names of props are letters, digits, _ and -")
	}
	return ok
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// Variable is the environment variable that gives a prop.
func Variable(prop string) string {
	return "XMD_PROPS_" + strings.ToUpper(strings.ReplaceAll(prop, "-", "_"))
}

// variables reports props that would share a variable.
func (r *resolver) variables(in *Inputs) {
	seen := map[string]string{}
	for _, p := range in.Props {
		v := Variable(p.Name)
		if other, ok := seen[v]; ok {
			r.diags.Add(CodePropName, p.Pos, "the props "+other+" and "+p.Name+" share the variable "+v, "give one of them another name")
		}
		seen[v] = p.Name
	}
}

// env reads a list of names, or a map from names to what is said of them.
func (r *resolver) env(in *Inputs, n *yamlNode) {
	switch n.kind {
	case yamlList:
		for _, e := range n.items {
			name, _ := e.scalar.(string)
			r.envName(in, EnvName{Name: name, Pos: e.pos})
		}
	case yamlMap:
		for _, p := range n.pairs {
			e := EnvName{Name: p.key, Pos: p.pos}
			r.envOptions(&e, p)
			r.envName(in, e)
		}
	default:
		r.diags.Add(CodeFrontShape, n.pos, "env is a list of names, or a map from names to options", "write env: [NAME]")
	}
}

func (r *resolver) envOptions(e *EnvName, p yamlPair) {
	if p.val.kind == yamlScalar && p.val.scalar == nil {
		return
	}
	if p.val.kind != yamlMap {
		r.diags.Add(CodeFrontShape, p.val.pos, "the options of "+p.key+" are a map", "write "+p.key+": {required: true}")
		return
	}
	var given diag.Span // where the default is
	for _, o := range p.val.pairs {
		switch o.key {
		case "required":
			e.Required = r.yes(o)
		case "secret":
			e.Secret = r.yes(o)
		case "default":
			s, ok := o.val.value().(string)
			if !ok {
				r.diags.Add(CodeFrontShape, o.val.pos, "the default of a variable is a string", "quote it")
			}
			e.Default, e.HasDefault, given = s, true, o.pos
		default:
			r.diags.Add(CodeFrontShape, o.pos, o.key+" is no option of a variable", "options are required, default and secret")
		}
	}
	if e.Secret && e.HasDefault {
		r.diags.Add(CodeFrontShape, given, "a secret has no default", "what stands in a document is no secret: set the variable "+e.Name)
	}
}

// yes reads an option that is true or false.
func (r *resolver) yes(o yamlPair) bool {
	b, ok := o.val.value().(bool)
	if !ok {
		r.diags.Add(CodeFrontShape, o.val.pos, o.key+" is true or false", "")
	}
	return b
}

func (r *resolver) envName(in *Inputs, e EnvName) {
	switch {
	case !expr.IsName(e.Name):
		r.diags.Add(CodePropName, e.Pos, "env names environment variables", "names are letters, digits and _")
	case slices.ContainsFunc(in.Env, func(o EnvName) bool { return o.Name == e.Name }):
		r.diags.Add(CodeFrontShape, e.Pos, e.Name+" is listed twice", "")
	default:
		in.Env = append(in.Env, e)
	}
}

// types are what is known of the names that every document has.
func (in *Inputs) types() map[string]*expr.Type {
	props := map[string]*expr.Type{}
	for _, p := range in.Props {
		t := p.Type
		if !p.Required && !p.HasDefault {
			t = expr.Nullable(t)
		}
		props[p.Name] = t
	}
	env := map[string]*expr.Type{}
	for _, e := range in.Env {
		env[e.Name] = expr.Of(expr.String | expr.Null)
		if e.Required || e.HasDefault {
			env[e.Name] = expr.Of(expr.String)
		}
	}
	run := map[string]*expr.Type{"id": expr.Of(expr.String), "dir": expr.Of(expr.String)}
	meta := map[string]*expr.Type{}
	for k, v := range in.Meta {
		meta[k] = expr.TypeOf(v)
	}
	return map[string]*expr.Type{"props": object(props), "env": object(env), "run": object(run), "meta": object(meta)}
}

func object(fields map[string]*expr.Type) *expr.Type {
	return &expr.Type{Kinds: expr.Object, Closed: true, Fields: fields}
}
