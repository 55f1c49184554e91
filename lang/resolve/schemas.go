package resolve

import (
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/schema"
	"xmd/lang/syntax"
)

// schemaArg reads a schema attribute: the path of a file, or an expression that gives the schema.
func (r *resolver) schemaArg(a *syntax.Attr, arg Arg) *SchemaArg {
	v, known := arg.Const()
	if path, ok := v.(string); known && ok {
		return &SchemaArg{Given: true, Path: path, Schema: r.schemaFile(path, arg.Pos)}
	}
	if !known {
		if typ := r.argType(arg); typ != nil && typ.Kinds == expr.String {
			r.diags.Add(CodeAttributeValue, arg.Pos, "the path of a schema file must be written out", "the file is read before anything runs")
		}
		return &SchemaArg{Given: true, Expr: arg}
	}
	s, faults := schema.Compile(v)
	for _, f := range faults {
		if s == nil {
			r.diags.Add(CodeSchema, arg.Pos, "the schema: "+faultText(f), f.Hint)
		}
	}
	if s == nil {
		return nil
	}
	for _, f := range s.Warnings() {
		r.warn(CodeSchemaKeyword, arg.Pos, f.String(), f.Hint)
	}
	return &SchemaArg{Given: true, Schema: s}
}

// faultText is a fault of something that is named before it.
func faultText(f schema.Fault) string {
	if len(f.At) > 0 {
		return f.String()
	}
	return f.Message
}

// schemaFile reads and compiles a schema file; nil after errors. at is where the document names it.
func (r *resolver) schemaFile(path string, at diag.Span) *schema.Schema {
	f, problem := r.linker.schema(r.name, path)
	if problem != "" {
		r.diags.Add(CodeSchemaFile, at, "the schema file "+path+" "+problem, "its path is relative to the file that names it")
		return nil
	}
	if !slices.Contains(r.info.Files, f.source) {
		r.info.Files = append(r.info.Files, f.source)
	}
	return f.schema
}

// fitsSchema checks a value that is known before the run, or else its type, against a schema.
func (r *resolver) fitsSchema(what string, a Arg, s *schema.Schema) {
	if s == nil || !a.Given {
		return
	}
	if v, ok := a.Const(); ok {
		for _, f := range s.Validate(v) {
			r.diags.Add(CodeSchemaValue, a.Pos, what+" does not fit the schema: "+faultText(f), f.Hint)
		}
		return
	}
	if bad := misfit(what, r.argType(a), s.Type()); bad != "" {
		r.diags.Add(CodeSchemaValue, a.Pos, bad, "")
	}
}

func fieldNames(t *expr.Type) []string {
	names := make([]string, 0, len(t.Fields))
	for n := range t.Fields {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// schemaSource is a schema file that was read.
type schemaSource struct {
	source *diag.Source
	schema *schema.Schema // nil: it has faults
}

// compileFile compiles the text of a schema file. Faults stand where they are in the file.
func compileFile(src *diag.Source) (*schema.Schema, diag.List) {
	var list diag.List
	text := strings.TrimPrefix(src.Text, "\uFEFF")
	off := len(src.Text) - len(text)
	v, err := expr.ParseJSON(text)
	if err != nil {
		at := off + jsonError(text)
		list.Add(CodeSchemaFile, diag.Span{Start: at, End: at}, "the schema file "+err.Error(), "")
		return nil, list
	}
	s, faults := schema.Compile(v)
	for _, f := range faults {
		if s == nil {
			list.Add(CodeSchema, jsonPlace(text, off, f.At), "the schema: "+faultText(f), f.Hint)
		}
	}
	if s == nil {
		return nil, list
	}
	for _, f := range s.Warnings() {
		list.Warn(CodeSchemaKeyword, jsonPlace(text, off, f.At), f.String(), f.Hint)
	}
	return s, list
}
