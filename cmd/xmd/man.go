package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

func manCommand() *command {
	return &command{name: "man", usage: "print the manual page: xmd man | man -l -", run: func(p *program, _ *call) error {
		return writeMan(p.stdout)
	}}
}

// exitTable is what the exit codes mean, for the manual page.
var exitTable = [][2]string{
	{"0", "done"}, {"1", "a step failed; the kind in brackets says how"}, {"2", "usage, or an invalid document or props: nothing ran"},
	{"3", "waiting for an answer of a person"}, {"4", "an agent is missing, cannot be launched, or is not signed in"},
	{"5", "a session cannot be continued, is busy or needs recovery"}, {"6", "a limit of the run"}, {"7", "a permission was refused and the step did not finish"},
	{"130, 143, 141", "SIGINT, SIGTERM, a closed stdout"},
}

// manFiles are the files that the manual page tells of.
var manFiles = [][2]string{
	{"xmd.toml", "the project's configuration, found upward from the run's directory; xmd schema config is its schema"},
	{"$XDG_CONFIG_HOME/xmd/config.toml", "the person's own configuration"},
	{"$XDG_STATE_HOME/xmd", "sessions, runs and their journals; XMD_STATE_DIR or --state-dir chooses another folder"},
}

// writeMan writes xmd(1), made of the commands and their flags. It has no date and no version, so that it changes when they do.
func writeMan(w io.Writer) error {
	var b strings.Builder
	b.WriteString(".TH XMD 1\n.SH NAME\nxmd \\- run workflow documents that drive coding agents\n" +
		".SH SYNOPSIS\n.B xmd\n.I COMMAND\n[\\fIARGUMENTS\\fR]\n.br\n.B xmd\n.I FILE.xmd\n" +
		".SH DESCRIPTION\nxmd runs workflow documents: Markdown with components that drive coding agents. The document's text is written to stdout, everything else to stderr.\n" +
		"Flags stand before or after the arguments; a first word that is no command is a document to run.\n.SH COMMANDS\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, ".SS xmd %s\n%s\n", roff(strings.TrimSpace(c.name+" "+c.args)), roffLine(c.usage))
		for _, f := range c.flags {
			manFlag(&b, f)
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	manTerms(&b, exitTable)
	b.WriteString(".SH FILES\n")
	manTerms(&b, manFiles)
	b.WriteString(".SH ENVIRONMENT\nXMD_AGENT, XMD_POLICY, XMD_TIMEOUT, XMD_TIMEOUT_PROMPT, XMD_TIMEOUT_EXEC, XMD_IDLE_TIMEOUT, XMD_SECRETS and XMD_STATE_DIR stand between the flags of these names and the configuration. " +
		"NO_COLOR, CLICOLOR_FORCE, TERM and CI are honoured.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func manFlag(b *strings.Builder, f cli.Flag) {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return
	}
	var names []string
	for _, n := range f.Names() {
		dashes := "--"
		if len(n) == 1 {
			dashes = "-"
		}
		names = append(names, `\fB`+roff(dashes+n)+`\fR`)
	}
	if d.TakesValue() {
		names[0] += ` \fIVALUE\fR`
	}
	fmt.Fprintf(b, ".TP\n%s\n%s\n", strings.Join(names, ", "), roffLine(strings.ReplaceAll(d.GetUsage(), "`", "")))
}

func manTerms(b *strings.Builder, list [][2]string) {
	for _, one := range list {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(one[0]), roffLine(one[1]))
	}
}

// roff is text in which nothing is markup.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(s)
}

// roffLine is roff for a whole line, whose first character is no request either.
func roffLine(s string) string {
	s = roff(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}
