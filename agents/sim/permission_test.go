package sim

import (
	"encoding/json"
	"strings"
	"testing"
)

// By the protocol the outcome cancelled says that the turn was cancelled: the tool did not run, and the turn ends so.
func TestPermissionOutcomeCancelled(t *testing.T) {
	bubble(func(t *testing.T) {
		c := start(t, t.TempDir())
		c.answer = func(f frame) any { return choose(f, "cancelled") }
		id := c.session()
		from := len(c.quiet())
		if f := c.reply(c.send("session/prompt", words(id, "PERM execute"))); !strings.Contains(string(f.Result), `"cancelled"`) {
			t.Errorf("ended with %s", f.Result)
		}
		if got := statuses(updates(c.seen()[from:])); got != "pending failed" {
			t.Errorf("the tool call went %q", got)
		}
	})(t)
}

func TestPermission(t *testing.T) {
	for kind, want := range map[string]string{
		"allow_once": "completed", "allow_always": "completed", "reject_once": "failed", "reject_always": "failed",
	} {
		t.Run(kind, bubble(func(t *testing.T) {
			c := start(t, t.TempDir())
			asked := 0
			c.answer = func(f frame) any { asked++; return choose(f, kind) }
			id := c.session()
			from := len(c.quiet())
			c.says(id, "PERM execute", "permission: "+kind)
			all := updates(c.seen()[from:])
			if got := statuses(all); got != "pending "+want {
				t.Errorf("the tool call went %q, want pending %s", got, want)
			}
			c.says(id, "PERM execute", "permission: "+kind)
			if again := asked == 2; again == strings.HasSuffix(kind, "_always") {
				t.Errorf("asked %d times in two turns", asked)
			}
			c.must("session/set_mode", object{"sessionId": id, "modeId": "auto"})
			before := asked
			c.says(id, "PERM fetch", "permission: not asked")
			if asked != before {
				t.Error("mode auto asked")
			}
			c.must("session/set_config_option", object{"sessionId": id, "configId": "mode", "value": "ask"})
			c.says(id, "PERM fetch", "permission: "+kind)
			c.fails("session/set_mode", object{"sessionId": id, "modeId": "nonsense"}, -32602)
		}))
	}
}

// choose selects the option of a kind by the request's own list.
func choose(f frame, kind string) any {
	var p struct {
		Options []struct{ OptionID, Kind string }
	}
	_ = json.Unmarshal(f.Params, &p)
	for _, o := range p.Options {
		if o.Kind == kind {
			return object{"outcome": object{"outcome": "selected", "optionId": o.OptionID}}
		}
	}
	return object{"outcome": object{"outcome": "cancelled"}}
}

func statuses(all []update) string {
	var s []string
	for _, u := range all {
		if strings.HasPrefix(u.Kind, "tool_call") {
			s = append(s, u.Status)
		}
	}
	return strings.Join(s, " ")
}
