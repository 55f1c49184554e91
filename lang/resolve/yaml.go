package resolve

import (
	"errors"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"xmd/lang/diag"
	"xmd/lang/expr"
)

// yamlNode is one value of the frontmatter with its place in the document. Exactly one of pairs, items and scalar counts,
// by kind.
type yamlNode struct {
	pos    diag.Span
	kind   yamlKind
	scalar any // a normalized value
	pairs  []yamlPair
	items  []*yamlNode
}

type yamlKind uint8

const (
	yamlScalar yamlKind = iota
	yamlMap
	yamlList
)

type yamlPair struct {
	key string
	pos diag.Span
	val *yamlNode
}

// get finds a member of a map; nil if it is not there.
func (n *yamlNode) get(key string) *yamlNode {
	if n == nil {
		return nil
	}
	for _, p := range n.pairs {
		if p.key == key {
			return p.val
		}
	}
	return nil
}

// value is the node as a normalized value.
func (n *yamlNode) value() any {
	switch n.kind {
	case yamlMap:
		m := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			m[p.key] = p.val.value()
		}
		return m
	case yamlList:
		list := make([]any, len(n.items))
		for i, e := range n.items {
			list[i] = e.value()
		}
		return list
	}
	return n.scalar
}

// at finds the place that a way of members and items leads to, as far as it leads.
func (n *yamlNode) at(way []any) diag.Span {
	pos := n.pos
	for _, step := range way {
		switch step := step.(type) {
		case string:
			found := false
			for _, p := range n.pairs {
				if p.key == step {
					n, pos, found = p.val, p.pos, true
					break
				}
			}
			if !found {
				return pos
			}
		case int64:
			if step < 0 || int(step) >= len(n.items) {
				return pos
			}
			n = n.items[step]
			pos = n.pos
		}
	}
	return pos
}

// yamlReader turns a parsed YAML text into yamlNodes.
type yamlReader struct {
	text    string
	off     int   // of text in the document
	lines   []int // where lines begin in text
	anchors map[string]*yamlNode
	left    int // nodes still allowed, since aliases can multiply
	diags   *diag.List
}

// maxYAML bounds the nodes of a frontmatter, aliases followed.
const maxYAML = 20_000

// readYAML reads a frontmatter. It returns nil after errors, and for an empty text.
func readYAML(text string, off int, diags *diag.List) *yamlNode {
	r := &yamlReader{text: text, off: off, lines: []int{0}, anchors: map[string]*yamlNode{}, left: maxYAML, diags: diags}
	for i := range len(text) {
		if text[i] == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	file, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		r.syntax(err)
		return nil
	}
	before := len(*diags)
	var root *yamlNode
	for i, doc := range file.Docs {
		if i > 0 {
			r.fail(doc.Start, "the frontmatter holds two documents")
			break
		}
		if doc.Body != nil {
			root = r.node(doc.Body)
		}
	}
	if len(*diags) > before {
		return nil
	}
	return root
}

// syntax reports where the YAML parser stopped, in its words: they are about YAML and fit.
func (r *yamlReader) syntax(err error) {
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &located) {
		r.diags.Add(CodeYAML, diag.Span{Start: r.off, End: r.off}, "the frontmatter is not valid YAML", "")
		return
	}
	msg, _, _ := strings.Cut(located.GetMessage(), "\n")
	hint := ""
	for _, w := range yamlWords {
		if strings.Contains(msg, w.theirs) {
			msg, hint = w.ours, w.hint
			break
		}
	}
	r.diags.Add(CodeYAML, r.span(located.GetToken()), "the frontmatter is not valid YAML: "+msg, hint)
}

// yamlWords says in our words what the YAML parser says often. Its own sentences may hold places, which count from the
// frontmatter's first line.
var yamlWords = []struct{ theirs, ours, hint string }{
	{"mapping value is not allowed", "a key cannot stand here", "quote a value that holds a colon; keys of one map are indented alike"},
	{"character '\t'", "a tab cannot indent", "indent with spaces"},
	{"already defined", "this key is there twice", "leave one of them out"},
	{"']' not found", "[ is not closed", ""},
	{"']' must be specified", "[ is not closed", ""},
	{"'}' not found", "{ is not closed", ""},
	{"'}' must be specified", "{ is not closed", ""},
	{"could not find end character", "the string is not closed", ""},
	{"reserved character", "a value cannot begin with this character", "quote it"},
	{"unexpected directive", "a value cannot begin with %", "quote it"},
	{"escape character", "the string has an escape that is not known", `write \\ for a backslash, or use single quotes`},
	{"non-map value", "this is no key with a value", "write key: value"},
	{"value is not allowed in this context", "this cannot stand here", "keys of one map, and items of one list, are indented alike"},
}

func (r *yamlReader) fail(t *token.Token, summary string) *yamlNode {
	r.diags.Add(CodeYAML, r.span(t), summary, "")
	return &yamlNode{pos: r.span(t)}
}

// span is the place of a token. Its own offsets are not used: they count neither bytes nor runes reliably.
func (r *yamlReader) span(t *token.Token) diag.Span {
	if t == nil || t.Position == nil {
		return diag.Span{Start: r.off, End: r.off}
	}
	line := min(max(t.Position.Line, 1), len(r.lines))
	at := r.lines[line-1]
	for range t.Position.Column - 1 {
		if at >= len(r.text) || r.text[at] == '\n' {
			break
		}
		_, size := utf8.DecodeRuneInString(r.text[at:])
		at += size
	}
	end := at
	if v := strings.TrimSpace(t.Origin); v != "" && strings.HasPrefix(r.text[at:], v) {
		end += len(v)
	} else if at < len(r.text) && r.text[at] != '\n' {
		_, size := utf8.DecodeRuneInString(r.text[at:])
		end += size
	}
	return diag.Span{Start: r.off + at, End: r.off + end}
}

func (r *yamlReader) node(n ast.Node) *yamlNode {
	t := n.GetToken()
	if r.left--; r.left < 0 {
		if r.left == -1 {
			return r.fail(t, "the frontmatter is too long")
		}
		return &yamlNode{}
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.mapping(t, n.Values)
	case *ast.MappingValueNode:
		return r.mapping(t, []*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		list := &yamlNode{kind: yamlList, pos: r.span(t)}
		for _, e := range n.Values {
			list.items = append(list.items, r.node(e))
		}
		return list
	case *ast.AnchorNode:
		v := r.node(n.Value)
		r.anchors[n.Name.GetToken().Value] = v
		return v
	case *ast.AliasNode:
		return r.alias(n)
	}
	return r.scalar(n, t)
}

func (r *yamlReader) alias(n *ast.AliasNode) *yamlNode {
	name := n.Value.GetToken()
	v, ok := r.anchors[name.Value]
	if !ok {
		return r.fail(name, "there is no anchor "+name.Value)
	}
	if r.left -= v.size(); r.left < 0 {
		return r.fail(name, "the frontmatter is too long")
	}
	return v
}

// size counts the nodes of a value, at most as many as are allowed at all.
func (n *yamlNode) size() int {
	sum := 1
	for _, p := range n.pairs {
		sum = min(sum+p.val.size(), maxYAML+1)
	}
	for _, e := range n.items {
		sum = min(sum+e.size(), maxYAML+1)
	}
	return sum
}

func (r *yamlReader) mapping(t *token.Token, values []*ast.MappingValueNode) *yamlNode {
	m := &yamlNode{kind: yamlMap, pos: r.span(t)}
	for i, v := range values {
		key := v.Key.GetToken()
		if i == 0 {
			m.pos = r.span(key)
		}
		if v.Key.IsMergeKey() {
			return r.fail(key, "merge keys (<<) are not taken")
		}
		if _, ok := v.Key.(ast.ScalarNode); !ok {
			return r.fail(key, "a key is one word or a string")
		}
		m.pairs = append(m.pairs, yamlPair{key.Value, r.span(key), r.node(v.Value)})
	}
	return m
}

func (r *yamlReader) scalar(n ast.Node, t *token.Token) *yamlNode {
	out := &yamlNode{pos: r.span(t)}
	switch n := n.(type) {
	case *ast.NullNode:
	case *ast.BoolNode:
		out.scalar = n.Value
	case *ast.StringNode:
		out.scalar = n.Value
	case *ast.LiteralNode:
		out.scalar = n.Value.Value
	case *ast.IntegerNode:
		out.scalar = number(n.Value)
	case *ast.FloatNode:
		if math.IsInf(n.Value, 0) {
			return r.fail(t, t.Value+" is too large")
		}
		out.scalar = number(n.Value)
	default:
		return r.fail(t, t.Value+" is not taken in a frontmatter")
	}
	return out
}

// number is a number of the YAML parser as a normalized value.
func number(v any) any {
	n, err := expr.Normalize(v)
	if err != nil {
		return nil
	}
	return n
}
