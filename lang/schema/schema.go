package schema

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"xmd/lang/expr"
)

// Draft is the identifier of the only draft that schemas are read as.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Schema is a compiled schema. It is immutable and safe for concurrent use.
type Schema struct {
	value    any
	root     *document
	resolved *jsonschema.Resolved
	warnings []Fault
	typ      func() *expr.Type
}

// Compile checks a schema, a normalized value, and makes it ready. With faults, which are about the schema itself and in
// its order, the Schema is nil. References reach only into the schema itself.
func Compile(v any) (*Schema, []Fault) {
	faults, fatal := lint(v)
	if fatal {
		return nil, faults
	}
	s := &Schema{value: v, root: newDocument(v), warnings: faults}
	resolved, err := resolve(v)
	if err != nil {
		return nil, []Fault{{Message: "cannot be used as a schema: " + plain(err)}}
	}
	s.resolved = resolved
	s.typ = sync.OnceValue(func() *expr.Type { return (&typer{doc: s.root, left: 10_000}).typeOf(v, nil) })
	return s, nil
}

// Warnings are what is allowed in a schema and probably a mistake: keywords that do not exist.
func (s *Schema) Warnings() []Fault { return s.warnings }

// Value is the schema as it was given. The caller must not change it.
func (s *Schema) Value() any { return s.value }

// Type is what an expression can rely on about a value that fits. It is nil if that is nothing.
func (s *Schema) Type() *expr.Type { return s.typ() }

// Validate says everything that is wrong with a normalized value, in key order; nothing if it fits.
func (s *Schema) Validate(v any) []Fault {
	err := s.resolved.Validate(v)
	if err == nil {
		return nil
	}
	if faults := s.root.explain(v); len(faults) > 0 {
		return faults
	}
	text := plain(err)
	if strings.Contains(text, "<anonymous schema>") {
		text = "a part of it is not allowed" // the library has no name for the schema that it failed
	}
	return []Fault{{Message: "does not fit the schema: " + text}}
}

// resolve hands a schema to the library. $schema is left out: the library would apply the rules of other drafts by it.
func resolve(v any) (*jsonschema.Resolved, error) {
	if m, ok := v.(map[string]any); ok && m["$schema"] != nil {
		without := make(map[string]any, len(m))
		for k, e := range m {
			if k != "$schema" {
				without[k] = e
			}
		}
		v = without
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var js jsonschema.Schema
	if err := json.Unmarshal(text, &js); err != nil {
		return nil, err
	}
	return js.Resolve(&jsonschema.ResolveOptions{Loader: load})
}

// load serves the one schema that is known by its address.
func load(uri *url.URL) (*jsonschema.Schema, error) {
	if strings.TrimSuffix(uri.String(), "#") != Draft {
		return nil, fmt.Errorf("%s is not loaded: references reach only into the schema itself", uri)
	}
	var js jsonschema.Schema
	err := json.Unmarshal(metaschemaText, &js)
	return &js, err
}

// plain drops the library's trace of keywords in front of its reason.
func plain(err error) string {
	text := err.Error()
	for strings.HasPrefix(text, "validating ") {
		_, rest, ok := strings.Cut(text, ": ")
		if !ok {
			break
		}
		text = rest
	}
	return strings.TrimPrefix(text, "jsonschema: ")
}

//go:embed metaschema.json
var metaschemaText []byte

// metaschema is what schemas are checked with. It is made when the first schema is compiled, not when xmd starts.
var metaschema = sync.OnceValue(func() *Schema {
	v, err := expr.ParseJSON(string(metaschemaText))
	if err != nil {
		panic("schema: " + err.Error()) // the embedded file is part of the program
	}
	resolved, err := resolve(v)
	if err != nil {
		panic("schema: " + err.Error())
	}
	return &Schema{value: v, root: newDocument(v), resolved: resolved}
})
