package plan

import (
	"strconv"
	"strings"

	"xmd/lang/resolve"
	"xmd/lang/syntax"
)

// effect builds what reads, writes, asks and converts; nil: the element is something else.
func (b *builder) effect(el *syntax.Element, e *resolve.Element, step Step) Node {
	switch el.Name {
	case "File":
		n := &File{Step: step, Path: e.Arg("path"), As: e.As, Write: !el.SelfClosing, CloseFirst: el.CloseFirst}
		if n.Write {
			n.Body = b.body(el, step, true)
		}
		return n
	case "Glob":
		return &Glob{Step: step, Include: e.Arg("include"), Exclude: e.Arg("exclude"), As: e.As}
	case "Json":
		return &Json{Step: step, Value: e.Arg("value"), As: e.As}
	case "Parse", "SafeParse":
		return &Parse{Step: step, Safe: el.Name == "SafeParse", Schema: schemaOf(e), As: e.As, Body: b.body(el, step, true)}
	case "Fetch":
		n := &Fetch{Step: step, URL: e.Arg("url"), Method: useOf(e.Arg("method")).Value, Headers: e.Arg("headers"), TimeoutMS: e.TimeoutMS,
			Timeout: e.Arg("timeout"), As: e.As}
		if n.Method == "" {
			n.Method = "GET"
		}
		return n
	case "Elicit":
		return &Elicit{Step: step, Schema: schemaOf(e), Choices: e.Arg("choices"), Default: e.Arg("default"), As: e.As, Body: b.body(el, step, true)}
	}
	return nil
}

// offer builds what is for the prompts behind it, and Conversation; nil: the element is something else.
func (b *builder) offer(el *syntax.Element, e *resolve.Element, step Step, l *level) Node {
	switch el.Name {
	case "Tool":
		s := schemaOf(e)
		return &Tool{Step: step, Name: e.Arg("name").Literal, Description: useOf(e.Arg("description")).Value, Schema: s.Schema, SchemaPath: s.Path,
			TimeoutMS: e.TimeoutMS, Body: b.body(el, step, true)}
	case "Mcp":
		return &Mcp{Step: step, Name: e.Arg("name"), URL: e.Arg("url"), Headers: e.Arg("headers"), Command: e.Arg("command"), Args: e.Arg("args"), Env: e.Arg("env")}
	case "Instructions":
		return &Instructions{Step: step, Body: b.body(el, step, true)}
	case "Conversation":
		n := &Conversation{Step: step, Name: e.Arg("name"), OnLost: useOf(e.Arg("onLost")).Value, Body: b.body(el, step, l.throws)}
		if n.OnLost == "" {
			n.OnLost = "fail"
		}
		return n
	}
	return nil
}

// blankNodes tells whether nodes are nothing but the author's white space.
func blankNodes(list []Node) bool {
	for _, n := range list {
		switch n := n.(type) {
		case *Text:
			if strings.TrimSpace(n.Value) != "" {
				return false
			}
		case *Line:
			if !blankNodes(n.Body) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func number(n int) string { return strconv.Itoa(n) }
