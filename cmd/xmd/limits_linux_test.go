package main

import (
	"strings"
	"testing"
)

// Whatever limit ends a run: it ends with 6, names what it waited for, and no process of it is left, however stubborn.
func TestLimitsLeaveNothing(t *testing.T) {
	const stubborn = "XMD_SIM_FAULT=grandchild=setsid+stubborn,ignore-term"
	for name, c := range map[string]struct {
		flag, env, doc, says string
	}{
		"the run":   {"--timeout", stubborn, `<Prompt agent="sim" session="s">SLEEP 60000</Prompt>`, "the run took longer than --timeout 400ms"},
		"a prompt":  {"--timeout-prompt", stubborn, `<Prompt agent="sim" session="s">SLEEP 60000</Prompt>`, "sim was not done within 400ms"},
		"a silence": {"--idle-timeout", stubborn + ",silence=start", `<Prompt agent="sim" session="s">SAY x</Prompt>`, "sim has shown nothing for 400ms"},
		"a block":   {"--timeout-exec", "X=", "```bash exec\nsetsid bash -c 'trap \"\" TERM; sleep 1000' &\nsleep 1000\n```", "it was not done within 400ms"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, c.doc)
			if o := h.xmd([]string{c.env}, "run", "doc.xmd", c.flag, "400ms"); o.code != 6 || !strings.Contains(o.stderr, c.says) || !strings.Contains(o.stderr, "[limit]") {
				t.Errorf("%+v", o)
			}
			h.check()
		})
	}
}
