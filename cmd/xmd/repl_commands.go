package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"xmd/lang/diag"
	"xmd/lang/expr"
	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/event"
)

// replCommandForm is one line that begins with a colon. What it prints is for the person, so it goes to stderr.
type replCommandForm struct {
	name, args, does string
	run              func(r *repl, ctx context.Context, arg string) error
}

// errLeave makes the REPL end.
var errLeave = errors.New("leave")

// replCommands are the commands, in the order of :help.
func replCommands() []replCommandForm {
	return []replCommandForm{
		{":help", "", "this list", (*repl).help},
		{":agent", "NAME", "the agent of prompts that name none, in this REPL", (*repl).chooseAgent},
		{":agents", "", "the agents that this machine has", func(r *repl, _ context.Context, _ string) error { return r.sub("agents", "-C", r.h.dir) }},
		{":sessions", "", "the named sessions", func(r *repl, _ context.Context, _ string) error { return r.sub("sessions", "-C", r.h.dir) }},
		{":runs", "", "the runs on record", func(r *repl, _ context.Context, _ string) error { return r.sub("runs") }},
		{":vars", "", "the names that are bound, with their values", (*repl).vars},
		{":load", "FILE", "run a file; one with frontmatter, Return or Output has names of its own", (*repl).load},
		{":check", "", "check the entries so far as one document", (*repl).check},
		{":plan", "", "the plan of the entries so far", (*repl).plan},
		{":open", "SESSION", "go on with a session in the agent's own interface; [AGENT:]NAME", (*repl).open},
		{":save", "FILE", "write the entries so far as a document", (*repl).save},
		{":quit", "", "leave", func(*repl, context.Context, string) error { return errLeave }},
	}
}

// command obeys a line that begins with a colon; true means leave.
func (r *repl) command(ctx context.Context, line string) bool {
	name, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
	arg = strings.TrimSpace(arg)
	if name == ":q" {
		name = ":quit"
	}
	var names []string
	for _, c := range replCommands() {
		names = append(names, c.name)
		if c.name != name {
			continue
		}
		if (c.args == "") != (arg == "") {
			r.say("write %s", strings.TrimSpace(c.name+" "+c.args))
			r.code = 2
			return false
		}
		err := c.run(r, ctx, arg)
		if errors.Is(err, errLeave) {
			return true
		}
		if err != nil {
			r.code = r.p.finish(err)
		}
		return false
	}
	hint := ":help lists what there is"
	if near := diag.Nearest(name, names); near != "" {
		hint = "did you mean " + near + "?"
	}
	r.say("unknown: %s; %s", name, hint)
	r.code = 2
	return false
}

func (r *repl) say(format string, args ...any) {
	_, _ = fmt.Fprintln(r.p.stderr, printable(r.secrets.Mask(fmt.Sprintf(format, args...))))
}

func (r *repl) help(context.Context, string) error {
	r.say("An entry is a piece of a document; it runs when its tags, fences and braces are closed. Names bound by an entry stay, sessions continue.\n" +
		"Tab completes, Ctrl-R searches, Ctrl-C cancels, Ctrl-D leaves. In a line ⏎ stands for a line end.")
	for _, c := range replCommands() {
		r.say("  %-16s %s", strings.TrimSpace(c.name+" "+c.args), c.does)
	}
	return nil
}

// sub runs another command of xmd, on the same store.
func (r *repl) sub(name string, args ...string) error {
	p := *r.p
	p.stdout = r.p.stderr
	args = append(args, "--state-dir", r.h.stateDir)
	for _, c := range commands() {
		if c.name == name {
			if name == "agents" {
				args = args[:len(args)-2] // it has no store
			}
			return c.invoke(&p, args)
		}
	}
	return fmt.Errorf("there is no command %s", name)
}

func (r *repl) chooseAgent(_ context.Context, name string) error {
	if _, err := r.h.agents.Lookup(name); err != nil {
		return err
	}
	r.agent = name
	r.live.runner.SetDefaultAgent(name)
	return nil
}

// mostShown bounds how much of a value :vars shows.
const mostShown = 200

func (r *repl) vars(context.Context, string) error {
	values := r.live.runner.Bound()
	var names []string
	for name := range values {
		if _, known := r.bound[name]; known {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		text := []rune(r.secrets.Mask(expr.JSON(values[name])))
		if len(text) > mostShown {
			text = append(text[:mostShown], '…')
		}
		r.say("%s = %s", name, string(text))
	}
	return nil
}

// load runs a file. One that is no more than a piece of a document is an entry; another is a document of its own, and what it binds ends
// with it.
func (r *repl) load(ctx context.Context, path string) error {
	doc, err := r.p.load(path, r.include)
	if err != nil {
		return err
	}
	compiled, src, list, err := compile(doc)
	if err != nil {
		return err
	}
	if compiled != nil && !isDocument(compiled) && doc.target == "" || compiled == nil && len(r.bound) > 0 {
		r.entries++
		r.compileAndRun(ctx, doc.name, doc.text, doc.files) // it may use names of earlier entries
		return nil
	}
	list = append(list, r.h.checkAgents(compiled)...)
	if len(list) > 0 {
		r.p.say(src, list)
	}
	if list.HasErrors() {
		r.code = 2
		return nil
	}
	if err := r.p.undeclared(compiled, r.secrets); err != nil {
		return err
	}
	props, err := r.p.bindProps(r.c, compiled)
	if err != nil {
		return err
	}
	env, err := documentEnv(compiled, r.p.variablesOf(compiled))
	if err != nil {
		return err
	}
	r.entries++
	r.execute(ctx, event.Entry{Name: doc.name, Text: doc.text, Apart: true}, func(ctx context.Context) { _ = r.live.runner.ExecuteApart(ctx, compiled, props, env) })
	return nil
}

// isDocument says whether a plan is more than a piece of a document.
func isDocument(p *plan.Plan) bool {
	in := p.Inputs
	return p.Returns != nil || p.Regions || in.Object != nil || len(in.Props)+len(in.Env)+len(in.Meta) > 0
}

// document is the entries so far as one document.
func (r *repl) document() document {
	return document{name: "repl", text: strings.Join(r.accepted, ""), files: filesOf("repl", r.include)}
}

// compiled is its plan; nil: what is wrong has been said.
func (r *repl) compiled() (*plan.Plan, error) {
	compiled, src, list, err := compile(r.document())
	if err != nil {
		return nil, err
	}
	list = append(list, r.h.checkAgents(compiled)...)
	if len(list) > 0 {
		r.p.say(src, list)
	}
	if list.HasErrors() {
		r.code = 2
		return nil, nil
	}
	return compiled, nil
}

func (r *repl) check(context.Context, string) error {
	compiled, err := r.compiled()
	if compiled != nil {
		r.say("nothing is wrong in %d entries", len(r.accepted))
	}
	return err
}

func (r *repl) plan(context.Context, string) error {
	compiled, err := r.compiled()
	if compiled == nil {
		return err
	}
	var b strings.Builder
	if err := compiled.WriteText(&b); err != nil {
		return err
	}
	_, err = io.WriteString(r.p.stderr, printable(b.String()))
	return err
}

// open makes of a session's name what a document would have.
func (r *repl) open(ctx context.Context, name string) error {
	agent, session, named := strings.Cut(name, ":")
	if !named {
		agent, session = "", name
	}
	tag := "<Session.Launch session=" + quoteAttr(session)
	if agent != "" {
		tag += " agent=" + quoteAttr(agent)
	}
	r.entries++
	r.compileAndRun(ctx, fmt.Sprintf("repl[%d]", r.entries), tag+"/>\n", filesOf("repl", r.include))
	return nil
}

// quoteAttr writes a text as the value of an attribute.
func quoteAttr(s string) string {
	return `"` + strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;").Replace(s) + `"`
}

func (r *repl) save(_ context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, os.ErrExist) {
		return runtime.Errorf(runtime.KindUsage, "%s is there already; choose another name", path)
	}
	if err == nil {
		_, err = io.WriteString(f, strings.Join(r.accepted, ""))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return runtime.Errorf(runtime.KindFailed, "%s could not be written: %w", path, plainError(err))
	}
	r.say("%d entries are in %s", len(r.accepted), path)
	return nil
}
