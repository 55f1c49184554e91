package door

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"xmd/lang/expr"
	"xmd/lang/schema"
	"xmd/runtime"
)

// faultLimit is how many faults of arguments an agent is told at once.
const faultLimit = 10

// noArguments is the schema of a tool without one.
var noArguments = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// toolset is what one attachment is shown. It is immutable.
type toolset struct {
	list    []*mcp.Tool // in the order given; never nil: the protocol wants a list
	schemas map[string]*schema.Schema
	timeout time.Duration
}

func newToolset(tools []runtime.Tool) (*toolset, error) {
	s := &toolset{list: []*mcp.Tool{}, schemas: map[string]*schema.Schema{}, timeout: longest(tools)}
	for _, t := range tools {
		if err := s.add(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *toolset) add(t runtime.Tool) error {
	refuse := func(format string, args ...any) error {
		return runtime.Errorf(runtime.KindFailed, "the tool %q cannot be offered: "+format, append([]any{t.Name}, args...)...)
	}
	if t.Name == "" {
		return refuse("it has no name")
	}
	if s.schemas[t.Name] != nil {
		return refuse("there are two of that name")
	}
	raw := t.Schema
	if len(raw) == 0 {
		raw = noArguments
	}
	value, err := expr.ParseJSON(string(raw))
	if err != nil {
		return refuse("its schema %w", err)
	}
	if object, ok := value.(map[string]any); !ok || object["type"] != "object" {
		return refuse(`its schema is not that of an object; write "type": "object"`)
	}
	compiled, faults := schema.Compile(value)
	if len(faults) > 0 {
		return refuse("its schema is wrong: %s", schema.Lines(faults, faultLimit))
	}
	s.schemas[t.Name] = compiled
	s.list = append(s.list, &mcp.Tool{Name: t.Name, Description: t.Description, InputSchema: raw})
	return nil
}

// check gives the arguments of a call as an object that fits the schema, or says what is wrong with them.
func (s *toolset) check(name string, args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	value, err := expr.ParseJSON(string(args))
	if err != nil {
		return nil, fmt.Errorf("the arguments of %s: the text %w", name, err)
	}
	if faults := s.schemas[name].Validate(value); len(faults) > 0 {
		return nil, fmt.Errorf("the arguments do not fit the schema of %s; correct them and call it again:\n%s", name, schema.Lines(faults, faultLimit))
	}
	return args, nil
}
