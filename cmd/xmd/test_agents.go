package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"xmd/agents"
	"xmd/agents/sim"
	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
)

// simAgent is the scripted agent's own name.
const simAgent = "sim"

// nobody is the Agents of what runs in a test outside of a TestAgent.
type nobody struct{}

// Lookup refuses every agent.
func (nobody) Lookup(string) (runtime.Agent, error) {
	return nil, runtime.Errorf(runtime.KindUnavailable, "a test reaches no real agent: put what prompts into <TestAgent>")
}

// Names are none.
func (nobody) Names() []string { return nil }

// scripted is the Agents of a TestAgent: one program under all names.
type scripted struct{ sim runtime.Agent }

// Lookup finds the scripted agent, whatever it is called.
func (s scripted) Lookup(name string) (runtime.Agent, error) { return castAs{s.sim, name}, nil }

// Names are those of which it is known that they would be found.
func (s scripted) Names() []string { return []string{simAgent} }

// castAs is the scripted agent under another agent's name.
type castAs struct {
	runtime.Agent
	name string
}

// Info is that of the scripted agent with the name by which it was looked up.
func (c castAs) Info() runtime.AgentInfo {
	info := c.Agent.Info()
	if c.name != simAgent {
		info.Name, info.Shown = c.name, c.name
	}
	return info
}

// Agents makes those of a TestAgent.
func (o *oneTest) Agents(doc *plan.Plan, n *plan.TestAgent, script string) (runtime.Agents, error) {
	path, err := o.script(doc, n, script)
	if err != nil {
		return nil, err
	}
	env := append(slices.Clip(o.env), "XMD_SIM_HOME="+filepath.Join(o.dir, stateFolder, simAgent))
	if path != "" {
		env = append(env, "XMD_SIM_SCRIPT="+path)
	}
	found, err := agents.New(agents.Options{Env: env, Self: self(), Native: nativeProgram}).Lookup(simAgent)
	if err != nil {
		return nil, err
	}
	return scripted{found}, nil
}

// script is the path of the script that a TestAgent means; "": it has none.
func (o *oneTest) script(doc *plan.Plan, n *plan.TestAgent, script string) (string, error) {
	switch {
	case n.Script.Given:
		path, err := filepath.Abs(beside(doc.Source.Name, script))
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", runtime.Errorf(runtime.KindInvalid, "there is no script %s", beside(doc.Source.Name, script))
		case err != nil:
			return "", runtime.Errorf(runtime.KindInvalid, "the script %s cannot be read: %w", script, plainError(err))
		}
		if src, list := sim.CheckScript(beside(doc.Source.Name, script), string(text)); list.HasErrors() {
			var b strings.Builder
			_ = diag.WriteText(&b, src, list) // a Builder does not fail
			return "", runtime.Errorf(runtime.KindInvalid, "the script %s is invalid:\n%s", script, strings.TrimSpace(b.String()))
		}
		return path, nil
	case len(n.Rules) > 0:
		path := o.name("script.xmd")
		if err := os.WriteFile(path, []byte(placed(doc.Source.Text, n.Rules)), 0o600); err != nil {
			return "", runtime.Errorf(runtime.KindFailed, "the script cannot be kept: %w", plainError(err))
		}
		return path, nil
	}
	return "", nil
}

// Run runs a document as the command run does, in the folders of the test.
func (o *oneTest) Run(ctx context.Context, given runtime.TestRun) (runtime.Ran, error) {
	args, err := o.runArgs(given)
	if err != nil {
		return runtime.Ran{}, err
	}
	var told bytes.Buffer
	open := &openSteps{}
	p, err := o.program(ctx, &event.NDJSONSink{W: &told}, open)
	if err != nil {
		return runtime.Ran{}, err
	}
	p.args = args
	if p.agents = given.Agents; p.agents == nil {
		p.agents = nobody{}
	}
	o.working(open, true)
	code := run(p)
	o.working(open, false)
	stdout, stderr := p.wrote()
	if ctx.Err() != nil {
		return runtime.Ran{}, context.Cause(ctx)
	}
	ran := runtime.Ran{ExitCode: code, Stdout: stdout, Stderr: stderr, Events: []any{}}
	for line := range strings.Lines(told.String()) {
		v, err := expr.ParseJSON(line)
		if err != nil {
			return ran, runtime.Errorf(runtime.KindFailed, "an event of the run cannot be read: %w", err)
		}
		ran.Events = append(ran.Events, v)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.runs = append(o.runs, testRan{given.Src, code, stderr[max(0, len(stderr)-mostStderr):]})
	return ran, nil
}

// working notes that a document runs, or runs no more.
func (o *oneTest) working(open *openSteps, on bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if on {
		o.busy = append(o.busy, open)
		return
	}
	o.busy = slices.DeleteFunc(o.busy, func(b *openSteps) bool { return b == open })
}

// runArgs is the command line of a run.
func (o *oneTest) runArgs(run runtime.TestRun) ([]string, error) {
	path := beside(run.From, run.Src)
	name, _, err := splitTarget(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, runtime.Errorf(runtime.KindInvalid, "there is no document %s", name)
	}
	args := append([]string{"run", path}, o.flags()...)
	for _, given := range []struct {
		flag   string
		object map[string]any
	}{{"--props=@", run.Props}, {"--answers=", run.Answers}} {
		if given.object == nil {
			continue
		}
		file := o.name("given.json")
		if err := os.WriteFile(file, []byte(expr.JSON(given.object)), 0o600); err != nil {
			return nil, runtime.Errorf(runtime.KindFailed, "what the run is given cannot be kept: %w", plainError(err))
		}
		args = append(args, given.flag+file)
	}
	return args, nil
}
