package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/urfave/cli/v2"

	"xmd/lang/diag"
)

// propsPrefix begins the flags that a document's own props make.
const propsPrefix = "--props-"

// arguments is a command line taken apart: urfave/cli stops reading flags at the first argument, people do not.
type arguments struct {
	flags      []string  // "--name=value" or "--name", as urfave takes them
	positional []string  // everything that is no flag
	props      []propArg // --props-NAME, in order
	help       bool
}

// values are the values given for a flag, by its main name.
func (a *arguments) values(name string) []string {
	var list []string
	for _, f := range a.flags {
		if v, ok := strings.CutPrefix(f, "--"+name+"="); ok {
			list = append(list, v)
		}
	}
	return list
}

// propArg is one --props-NAME.
type propArg struct {
	name     string
	value    string
	hasValue bool
}

// usageError is a mistake in the command line.
type usageError struct {
	message string
	hint    string
}

func (e *usageError) Error() string { return e.message }

// flagTable maps each spelling of a flag ("--agent", "-C") to its main name and whether it takes a value.
type flagTable map[string]flagForm

type flagForm struct {
	name  string
	value bool
}

func newFlagTable(flags []cli.Flag) flagTable {
	t := flagTable{"--help": {"help", false}, "-h": {"help", false}}
	for _, f := range flags {
		names := f.Names()
		_, isBool := f.(*cli.BoolFlag)
		for _, n := range names {
			dashes := "--"
			if len(n) == 1 {
				dashes = "-"
			}
			t[dashes+n] = flagForm{names[0], !isBool}
		}
	}
	return t
}

// split takes args apart. plainProp says whether --props-NAME without "=" stands alone (a boolean prop); it may be nil when
// the command takes no props.
func (t flagTable) split(args []string, plainProp func(name string) bool) (*arguments, error) {
	out := &arguments{}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			out.positional = append(out.positional, args[i+1:]...)
			return out, nil
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			out.positional = append(out.positional, arg)
		case strings.HasPrefix(arg, propsPrefix) && plainProp != nil:
			p := propOf(arg)
			if !p.hasValue && !plainProp(p.name) && i+1 < len(args) {
				i++
				p.value, p.hasValue = args[i], true
			}
			out.props = append(out.props, p)
		default:
			n, err := t.flag(out, arg, args[i+1:])
			if err != nil {
				return nil, err
			}
			i += n
		}
	}
	return out, nil
}

func propOf(arg string) propArg {
	name, value, has := strings.Cut(strings.TrimPrefix(arg, propsPrefix), "=")
	return propArg{name: name, value: value, hasValue: has}
}

// flag adds one flag and returns how many of the following arguments it took.
func (t flagTable) flag(out *arguments, arg string, rest []string) (int, error) {
	spelled, value, has := strings.Cut(arg, "=")
	form, ok := t[spelled]
	if !ok {
		return 0, t.unknown(spelled)
	}
	if form.name == "help" {
		out.help = true
		return 0, nil
	}
	name := "--" + form.name
	switch {
	case !form.value && has:
		return 0, &usageError{message: fmt.Sprintf("flag %s takes no value", spelled)}
	case !form.value:
		out.flags = append(out.flags, name)
		return 0, nil
	case has:
		out.flags = append(out.flags, name+"="+value)
		return 0, nil
	case len(rest) == 0:
		return 0, &usageError{message: fmt.Sprintf("flag %s needs a value", spelled)}
	}
	out.flags = append(out.flags, name+"="+rest[0])
	return 1, nil
}

func (t flagTable) unknown(spelled string) error {
	names := make([]string, 0, len(t))
	for n := range t {
		names = append(names, n)
	}
	sort.Strings(names)
	e := &usageError{message: fmt.Sprintf("unknown flag %s", spelled)}
	if near := diag.Nearest(spelled, names); near != "" {
		e.hint = fmt.Sprintf("did you mean %s?", near)
	}
	return e
}
