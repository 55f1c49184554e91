package door

import (
	"encoding/json"
	"errors"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"xmd/runtime"
)

func TestWaysIn(t *testing.T) {
	o := open(t, echo, review, ask)
	second, err := o.door.Admit(runtime.Admission{Call: echo})
	if err != nil {
		t.Fatal(err)
	}
	s, shim := o.pass.Server(), o.pass.Shim()
	if s.Name != "xmd" || !s.Own || s.Timeout != 7*time.Minute || !regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+/mcp$`).MatchString(s.URL) {
		t.Errorf("by address: %+v", s)
	}
	if shim.Name != "xmd" || !shim.Own || shim.Command != "/opt/xmd" || len(shim.Args) != 1 || shim.Args[0] != "door-shim" || shim.Timeout != 7*time.Minute {
		t.Errorf("by command: %+v", shim)
	}
	key := shim.Env[1].Value
	if len(s.Headers) != 1 || s.Headers[0].Value != "Bearer "+key || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(key) || shim.Env[0].Value != s.URL {
		t.Errorf("the key: %+v %+v", s.Headers, shim.Env)
	}
	if second.Server().URL != s.URL || second.Server().Headers[0].Value == s.Headers[0].Value {
		t.Error("a second pass shares the address and has a key of its own")
	}
}

func TestAdmitRefuses(t *testing.T) {
	object := json.RawMessage(`{"type":"object"}`)
	for name, tools := range map[string][]runtime.Tool{
		"no name":      {{Schema: object}},
		"twice":        {{Name: "a"}, {Name: "a"}},
		"no JSON":      {{Name: "a", Schema: json.RawMessage(`{`)}},
		"no object":    {{Name: "a", Schema: json.RawMessage(`{"type":"string"}`)}},
		"true":         {{Name: "a", Schema: json.RawMessage(`true`)}},
		"wrong schema": {{Name: "a", Schema: json.RawMessage(`{"type":"object","required":"x"}`)}},
	} {
		d := New(Options{})
		_, err := d.Admit(runtime.Admission{Tools: tools})
		var e *runtime.Error
		if !errors.As(err, &e) || e.Kind != runtime.KindFailed || !strings.Contains(e.Message, "cannot be offered") {
			t.Errorf("%s: %v", name, err)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestClosedDoor(t *testing.T) {
	o := open(t, echo, review)
	address := o.pass.host
	for range 2 {
		if err := o.door.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if _, err := o.door.Admit(runtime.Admission{}); err == nil {
		t.Error("a closed door admits")
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("the address is still taken")
	}
}
