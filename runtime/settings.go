package runtime

import (
	"context"
	"fmt"

	"xmd/lang/layout"
	"xmd/lang/plan"
	"xmd/runtime/event"
)

// pinAgent runs one <Agent>: it holds for its body, or only looks whether the agent is there. An Agent of the same name around it
// gives what it leaves open.
func (r *Runner) pinAgent(ctx context.Context, n *plan.Agent, at place, out layout.Sink) error {
	pin, err := at.pin(n)
	if err != nil {
		return err
	}
	_, err = r.decide(ctx, at, n.Step, "agent", r.inputOf(pin.name), func() (any, error) {
		if r.o.Offline {
			return nil, nil
		}
		_, err := r.agents(at).Lookup(pin.name)
		return nil, err
	})
	if err != nil {
		return thrown(err, at.where(n.Step))
	}
	if n.Self {
		return nil
	}
	at.agent = pin
	return r.render(ctx, n.Body, at, out)
}

func (at place) pin(n *plan.Agent) (agentPin, error) {
	pin := at.agent
	name, err := at.text(n.Name, n.Step, "name")
	if err != nil {
		return pin, err
	}
	if name != pin.name {
		pin = agentPin{name: name}
	}
	for _, one := range []struct {
		arg  plan.Arg
		what string
		to   *string
	}{{n.Model, "model", &pin.model}, {n.Effort, "effort", &pin.effort}, {n.Mode, "mode", &pin.mode}} {
		if !one.arg.Given {
			continue
		}
		text, err := at.text(one.arg, n.Step, one.what)
		if err != nil {
			return pin, err
		}
		*one.to = text
	}
	return pin, nil
}

// settings are what the Agents around a prompt chose for that agent, and what it is configured with where they chose nothing.
func (at place) settings(agent AgentInfo) Settings {
	want := agent.Defaults
	if at.agent.name != agent.Name {
		return want
	}
	for _, one := range []struct{ to, from *string }{{&want.Model, &at.agent.model}, {&want.Effort, &at.agent.effort}, {&want.Mode, &at.agent.mode}} {
		if *one.from != "" {
			*one.to = *one.from
		}
	}
	return want
}

// configure makes an attached session work as its next prompt wants it. What the one before wanted and this one does not is taken back.
func (r *Runner) configure(ctx context.Context, s *session, want Settings, at event.At) error {
	if want == s.applied && !s.unsettled {
		return nil
	}
	c, ok := s.conn.(Configurer)
	if !ok {
		return s.fail(Errorf(KindUnsupported, "%s lets nobody choose its model, effort or mode; leave them out of <Agent>", s.info.Shown))
	}
	if want.Mode != "" && want.Mode != s.info.AskMode && r.once("mode/"+s.info.Name+"/"+want.Mode) {
		who := "<Agent mode>"
		if want.Mode == s.info.Defaults.Mode {
			who = "the configuration"
		}
		r.warn("mode", fmt.Sprintf("%s works in its mode %q, as %s says: the permission policy cannot see what it does unasked in it.", s.info.Shown, want.Mode, who), s.at(at))
	}
	s.unsettled = true // until all of it is taken: a part may have been
	if err := c.Configure(ctx, want); err != nil {
		return s.fail(err)
	}
	s.applied, s.unsettled = want, false
	return nil
}

// once says whether something is said for the first time in this invocation.
func (r *Runner) once(what string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said == nil {
		r.said = map[string]bool{}
	}
	first := !r.said[what]
	r.said[what] = true
	return first
}
