package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"xmd/agents/door"
	"xmd/lang/diag"
	"xmd/runtime"
)

// command is one command of xmd: its urfave description and what it does with arguments that were already taken apart.
type command struct {
	name  string
	usage string // one line
	args  string // "FILE"
	flags []cli.Flag
	props bool // --props-NAME are flags of the document
	run   func(p *program, c *call) error
	raw   func(p *program, args []string) int // takes its arguments itself (sim)
}

// call is one invocation of a command.
type call struct {
	*cli.Context
	verb  string // the command's name
	args  []string
	props []propArg
}

// commands are all commands, in the order of --help.
func commands() []*command {
	return []*command{
		runCommand(), checkCommand(), fmtCommand(), planCommand(), replCommand(), resumeCommand(), replayCommand(), runsCommand(),
		showCommand(), exportCommand(), sessionsCommand(), openCommand(), handoffCommand(), agentsCommand(), doctorCommand(), simCommand(), testCommand(),
		schemaCommand(), completionCommand(), manCommand(), versionCommand(),
	}
}

// run is xmd without os.Exit: it returns the exit code.
func run(p *program) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			code = p.crashed(fault)
		}
	}()
	err := dispatch(p)
	p.face.screen.Close()
	return p.finish(err)
}

// exitCode is an error that has already been said and only carries the code.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// finish says an error on stderr and chooses the exit code.
func (p *program) finish(err error) int {
	var code exitCode
	var usage *usageError
	var e *runtime.Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(p.stderr, "xmd: %s\n", p.shown(usage.message))
		if usage.hint != "" {
			fmt.Fprintf(p.stderr, "hint: %s\n", p.shown(usage.hint))
		}
		fmt.Fprintln(p.stderr, "usage: xmd COMMAND [ARGUMENTS] (xmd --help) [usage]")
		return 2
	case errors.As(err, &e):
		fmt.Fprintln(p.stderr, p.shown(errorLine(e)))
		return e.Kind.ExitCode()
	}
	fmt.Fprintf(p.stderr, "xmd: %s [failed]\n", p.shown(err.Error()))
	return 1
}

// shown is a text as it may be shown beside the result.
func (p *program) shown(text string) string {
	if p.mask != nil {
		text = p.mask(text)
	}
	return printable(text)
}

// errorLine is how an error is printed: message first, kind last.
func errorLine(e *runtime.Error) string {
	kind := string(e.Kind)
	if e.Retryable {
		kind += ", retryable"
	}
	return fmt.Sprintf("%s [%s]", e.Error(), kind)
}

// dispatch finds the command: the first word if it is one, else run when it looks like a file.
func dispatch(p *program) error {
	if len(p.args) == 0 {
		help(p.stderr)
		return &usageError{message: "no command was given"}
	}
	first, rest := p.args[0], p.args[1:]
	switch first {
	case door.ShimCommand:
		return codeError(doorShim(p, rest))
	case "--help", "-h", "help":
		help(p.stdout)
		return nil
	case completeVerb:
		p.complete(rest)
		return nil
	case "--version":
		first = "version"
	}
	for _, c := range commands() {
		if c.name == first {
			return c.invoke(p, rest)
		}
	}
	if looksLikeFile(first) {
		return runCommand().invoke(p, p.args)
	}
	e := &usageError{message: fmt.Sprintf("unknown command %q", first)}
	if near := diag.Nearest(first, commandNames()); near != "" {
		e.hint = fmt.Sprintf("did you mean %s?", near)
	}
	return e
}

func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// invoke takes the arguments apart, lets urfave/cli read the flags, and runs the command.
func (c *command) invoke(p *program, args []string) error {
	if c.raw != nil {
		return codeError(c.raw(p, args))
	}
	table := newFlagTable(c.flags)
	split, err := c.split(p, table, args)
	if err != nil {
		return p.invalid(c.machineFormat(args), err)
	}
	if split.help {
		return c.help(p, split)
	}
	app := &cli.App{
		Name: "xmd", HideHelp: true, HideVersion: true, Writer: p.stderr, ErrWriter: p.stderr,
		Flags: c.flags, DisableSliceFlagSeparator: true,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   func(_ *cli.Context, err error, _ bool) error { return &usageError{message: err.Error()} },
		Action:         func(ctx *cli.Context) error { return c.run(p, &call{ctx, c.name, split.positional, split.props}) },
	}
	return app.Run(append([]string{"xmd " + c.name}, split.flags...))
}

// machineFormat is the machine format that arguments ask for which could not be taken apart, of a command that owes an end in it.
func (c *command) machineFormat(args []string) string {
	format := "text"
	if !c.props {
		return format
	}
	for i, arg := range args {
		if v, ok := strings.CutPrefix(arg, "--format="); ok {
			format = v
		} else if arg == "--format" && i+1 < len(args) {
			format = args[i+1]
		}
	}
	return format
}

// split reads the arguments. With props it needs the document to know which props stand alone, and the document's name stands
// among the arguments: first every --props-NAME is taken to have a value; if that leaves no file, none is.
func (c *command) split(p *program, table flagTable, args []string) (*arguments, error) {
	if !c.props {
		return table.split(args, nil)
	}
	for _, plain := range []bool{false, true} {
		split, err := table.split(args, func(string) bool { return plain })
		if err != nil {
			return nil, err
		}
		if len(split.positional) > 0 {
			booleans := booleanProps(p, split)
			return table.split(args, func(name string) bool { return booleans[name] })
		}
	}
	return table.split(args, func(string) bool { return false })
}

func codeError(code int) error {
	if code == 0 {
		return nil
	}
	return exitCode(code)
}

// help prints the list of commands.
func help(w io.Writer) {
	fmt.Fprint(w, "xmd runs workflow documents: Markdown with components that drive coding agents.\n\nusage: xmd COMMAND [ARGUMENTS]\n       xmd FILE.xmd\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-28s %s\n", strings.TrimSpace(c.name+" "+c.args), c.usage)
	}
	fmt.Fprint(w, "\nxmd COMMAND --help says more. Exit codes: 0 done, 1 a step failed, 2 usage or invalid document,\n3 waiting for an answer, 4 an agent is missing, 5 a session cannot be continued, 6 a limit of the run,\n7 a permission was refused, 130 and 143 signals, 141 stdout was closed.\n")
}

// help prints a command's flags, and for a document its props.
func (c *command) help(p *program, split *arguments) error {
	fmt.Fprintf(p.stdout, "usage: xmd %s\n\n%s\n", strings.TrimSpace(c.name+" "+c.args), c.usage)
	if len(c.flags) > 0 {
		fmt.Fprintln(p.stdout, "\nflags (before or after the arguments):")
	}
	for _, f := range c.flags {
		fmt.Fprintf(p.stdout, "  %s\n", flagHelp(f))
	}
	if c.props && len(split.positional) > 0 {
		return propsHelp(p, split)
	}
	return nil
}

// flagHelp is one line about a flag.
func flagHelp(f cli.Flag) string {
	var names []string
	for _, n := range f.Names() {
		dashes := "--"
		if len(n) == 1 {
			dashes = "-"
		}
		names = append(names, dashes+n)
	}
	usage := ""
	if d, ok := f.(cli.DocGenerationFlag); ok {
		usage = d.GetUsage()
		if d.TakesValue() {
			names[0] += " VALUE"
		}
	}
	return fmt.Sprintf("%-28s %s", strings.Join(names, ", "), usage)
}
