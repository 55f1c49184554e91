package main

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

//go:embed completion
var completionScripts embed.FS

func completionCommand() *command {
	return &command{
		name: "completion", args: "bash|zsh|fish", usage: "print what makes a shell complete the words of xmd",
		run: func(p *program, c *call) error {
			if len(c.args) != 1 || !slices.Contains([]string{"bash", "zsh", "fish"}, c.args[0]) {
				return &usageError{message: fmt.Sprintf("completion takes one of bash, zsh, fish; got %q", strings.Join(c.args, " "))}
			}
			text, err := completionScripts.ReadFile("completion/xmd." + c.args[0])
			if err == nil {
				_, err = p.stdout.Write(text)
			}
			return err
		},
	}
}

// completeVerb is the hidden command that the scripts call: __complete SHELL WORD… with the words behind xmd, the last being the one that is
// typed; bash gives its line up to the cursor and what it takes for the last word.
const completeVerb = "__complete"

// candidate is one thing that the typed word may become.
type candidate struct{ text, about string }

// complete prints what the typed word may become, one a line; zsh and fish get a word about it behind a tab. What cannot be found out is left
// out: a completion never fails.
func (p *program) complete(args []string) {
	if len(args) < 2 {
		return
	}
	shell, words := args[0], args[1:]
	if shell == "bash" && len(args) == 3 {
		words = shellWords(args[1])
	}
	if len(words) == 0 {
		return
	}
	c := &completer{p: p, word: words[len(words)-1], before: words[:len(words)-1]}
	for _, one := range c.candidates() {
		switch {
		case !strings.HasPrefix(one.text, c.word) || strings.ContainsAny(one.text, "\n\t"):
		case shell == "bash" && len(args) == 3:
			_, _ = fmt.Fprintln(p.stdout, bashPiece(one.text, c.word, args[2]))
		case one.about == "" || shell == "bash":
			_, _ = fmt.Fprintln(p.stdout, one.text)
		default:
			_, _ = fmt.Fprintf(p.stdout, "%s\t%s\n", one.text, printable(strings.Join(strings.Fields(one.about), " ")))
		}
	}
}

// completer knows what is typed: word, and the words before it.
type completer struct {
	p       *program
	word    string
	before  []string
	command *command
	table   flagTable
	args    []string          // of the command, without its flags
	given   map[string]string // flags with their values, the last of each
}

func (c *completer) candidates() []candidate {
	if len(c.before) == 0 && !looksTyped(c.word) {
		return append(c.commands(), c.files(namesDocument)...)
	}
	rest := c.before
	c.command = runCommand()
	for _, one := range commands() {
		if len(rest) > 0 && one.name == rest[0] {
			c.command, rest = one, rest[1:]
			break
		}
	}
	c.table = newFlagTable(c.command.flags)
	flag := c.read(rest)
	switch name, value, ok := strings.Cut(c.word, "="); {
	case flag != "":
		return c.values(flag, "")
	case ok && strings.HasPrefix(name, "-"):
		c.word = value
		defer func() { c.word = name + "=" + value }()
		return c.values(c.table[name].name, name+"=")
	case strings.HasPrefix(c.word, "-"):
		return c.flags()
	}
	return c.arguments()
}

// looksTyped says whether the first word is a document with a target, which no command begins like.
func looksTyped(word string) bool { return strings.Contains(word, "#") }

// read takes the words before apart; the flag that waits for its value, or "".
func (c *completer) read(words []string) (waits string) {
	c.given = map[string]string{}
	for i := 0; i < len(words); i++ {
		name, value, has := strings.Cut(words[i], "=")
		form, known := c.table[name]
		switch {
		case !strings.HasPrefix(words[i], "-") || words[i] == "-":
			c.args = append(c.args, words[i])
		case has:
			c.given[form.name] = value
		case known && form.value:
			if i+1 == len(words) {
				return form.name
			}
			i++
			c.given[form.name] = words[i]
		}
	}
	return ""
}

func (c *completer) commands() []candidate {
	var list []candidate
	for _, one := range commands() {
		list = append(list, candidate{one.name, one.usage})
	}
	return list
}

// flags are those of the command, and the props of its document.
func (c *completer) flags() []candidate {
	var list []candidate
	for _, f := range c.command.flags {
		about := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			about = d.GetUsage()
		}
		for _, n := range f.Names() {
			if len(n) > 1 {
				list = append(list, candidate{"--" + n, about})
			} else {
				list = append(list, candidate{"-" + n, about})
			}
		}
	}
	list = append(list, candidate{"--help", "say more"})
	if !c.command.props {
		return list
	}
	if compiled := quickPlan(c.p, &arguments{positional: c.args}); compiled != nil {
		for _, prop := range compiled.Inputs.Props {
			end := "="
			if prop.IsFlag() {
				end = ""
			}
			list = append(list, candidate{propsPrefix + prop.Name + end, prop.Description})
		}
	}
	return list
}

// values are what a flag may be given; lead stands before each.
func (c *completer) values(flag, lead string) []candidate {
	var list []candidate
	switch flag {
	case "agent", "to":
		list = c.agents()
	case "format":
		list = words(c.formats()...)
	case "report":
		list = words("junit=", "html=")
	case "answer":
		list = c.questions()
	case "secret":
		for _, kv := range c.p.env {
			name, _, _ := strings.Cut(kv, "=")
			list = append(list, candidate{name, ""})
		}
	case "C", "include", "state-dir", "root":
		list = c.files(func(string) bool { return false })
	case "props":
		at, _ := strings.CutPrefix(c.word, "@")
		if at != c.word {
			list = prefixed("@", filesOfPrefix(at, func(string) bool { return true }))
		}
	case "answers", "trace-acp":
		list = c.files(func(string) bool { return true })
	}
	return prefixed(lead, list)
}

// formats are the words that the usage of --format lists.
func (c *completer) formats() []string {
	for _, f := range c.command.flags {
		if d, ok := f.(cli.DocGenerationFlag); ok && f.Names()[0] == "format" {
			return slices.DeleteFunc(strings.FieldsFunc(d.GetUsage(), func(r rune) bool { return r < 'a' || r > 'z' }), func(w string) bool {
				return !slices.Contains([]string{"text", "json", "ndjson", "sarif", "mermaid", "dot"}, w)
			})
		}
	}
	return nil
}

// arguments are what may stand in the next place, by what the command's usage says of it.
func (c *completer) arguments() []candidate {
	usage := c.command.args
	if c.command.name == "sessions" && len(c.args) > 0 {
		usage = "SESSION"
		if c.args[0] == "import" {
			return c.files(func(string) bool { return true })
		}
	}
	many := strings.Contains(usage, "…")
	switch {
	case len(c.args) > 0 && !many && usage != "SESSION":
		return nil
	case strings.HasPrefix(usage, "FILE"):
		if name, _, ok := strings.Cut(c.word, "#"); ok {
			return c.targets(name)
		}
		return c.files(namesDocument)
	case strings.HasPrefix(usage, "RUN"):
		return c.runs()
	case strings.HasPrefix(usage, "SESSION"):
		return c.sessions()
	case strings.HasPrefix(usage, "[AGENT"):
		return c.agents()
	case len(c.args) > 0:
		return nil
	}
	return words(strings.FieldsFunc(usage, func(r rune) bool { return r < 'a' || r > 'z' })...)
}

func namesDocument(name string) bool {
	return strings.HasSuffix(name, ".xmd") || strings.HasSuffix(name, ".md")
}

// files are folders and those files that fit, below the run's directory where one is given.
func (c *completer) files(fits func(name string) bool) []candidate {
	return filesOfPrefix(c.word, fits)
}

func filesOfPrefix(prefix string, fits func(name string) bool) []candidate {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(first(dir, "."))
	if err != nil {
		return nil
	}
	var list []candidate
	for _, e := range entries {
		name := e.Name()
		switch info, err := os.Stat(filepath.Join(dir, name)); {
		case strings.HasPrefix(name, ".") && !strings.HasPrefix(base, "."), err != nil:
		case info.IsDir():
			list = append(list, candidate{dir + name + "/", ""})
		case fits(name):
			list = append(list, candidate{dir + name, ""})
		}
	}
	return list
}

func words(list ...string) []candidate {
	var out []candidate
	for _, w := range list {
		out = append(out, candidate{w, ""})
	}
	return out
}

func prefixed(lead string, list []candidate) []candidate {
	for i := range list {
		list[i].text = lead + list[i].text
	}
	return list
}

// shellWords splits a line as a shell does, quotes and backslashes taken away; the last word may be empty. The first, the program, is left out.
func shellWords(line string) []string {
	var list []string
	var word strings.Builder
	quote, any := rune(0), false
	rest := []rune(line)
	for i := 0; i < len(rest); i++ {
		switch r := rest[i]; {
		case quote == 0 && (r == ' ' || r == '\t'):
			if any {
				list = append(list, word.String())
			}
			word.Reset()
			any = false
			continue
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote != 0 && r == quote:
			quote = 0
		case r == '\\' && quote != '\'' && i+1 < len(rest):
			i++
			word.WriteRune(rest[i])
		default:
			word.WriteRune(r)
		}
		any = true
	}
	list = append(list, word.String())
	return list[1:]
}

// bashBreaks are the characters at which bash ends a word by itself: it puts what it is given behind the last of them.
const bashBreaks = "=:"

// bashPiece is what bash is to put in place of what it takes for the last word, so that the whole word becomes text.
func bashPiece(text, word, taken string) string {
	quoted := strings.HasPrefix(taken, `"`) || strings.HasPrefix(taken, "'")
	typed := ""
	if list := shellWords("x " + taken); strings.Trim(taken, bashBreaks) != "" {
		typed = list[len(list)-1]
	}
	piece := text[max(0, len(word)-len(typed)):]
	if quoted {
		return piece
	}
	var b strings.Builder
	for _, r := range piece {
		if strings.ContainsRune(" \t\\'\"`$&|;<>()[]{}*?!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// sortedNames are the keys of a map as candidates.
func sortedNames[V any](m map[string]V) []candidate { return words(slices.Sorted(maps.Keys(m))...) }
