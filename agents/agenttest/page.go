package agenttest

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// acceptancePage lists what was asked for and the tests that show it.
//
//go:embed acceptance.md
var acceptancePage string

// Page is the page of the evidence of a run, in Markdown: the table of cells, what differs from what was said of the agents, and what
// was shown besides.
func (r RunEvidence) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Evidence

Written by `+"`make real`"+` on %s (%s); not edited by hand. Real programs of these versions, each with a scripted model on loopback that
knows a codeword only from the conversation it is given. These are the versions that were run, not a list of what is allowed.

Each cell comes from tests that ran: *passed*; *differs*: passed, and what was seen is not what most agents do; *not run* and why. Where
versions of a row differ, each is named.

`, r.when, r.on)
	r.table(&b)
	r.claims(&b)
	r.list(&b)
	b.WriteString(acceptancePage)
	return b.String()
}

func (r RunEvidence) table(b *strings.Builder) {
	b.WriteString("| agent | versions |")
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, k := range r.rows() {
		fmt.Fprintf(b, "| %s, %s | %s |", k.Agent, k.Over, strings.Join(r.versions(k), ", "))
		for _, c := range columns {
			fmt.Fprintf(b, " %s |", r.cell(k, c))
		}
		b.WriteString("\n")
	}
}

// rows are all kinds of agents, and what was found on PATH and is of none of them.
func (r RunEvidence) rows() []kind {
	rows := slices.Clone(kinds)
	for _, c := range r.cells {
		if !slices.ContainsFunc(rows, func(k kind) bool { return k.Row == c.Row }) {
			rows = append(rows, kind{Row: c.Row})
		}
	}
	return rows
}

// versions are those of a row that was found on PATH, else those that are pinned.
func (r RunEvidence) versions(k kind) []string {
	for _, c := range r.cells {
		if c.Row == k.Row && strings.HasPrefix(c.Test, installedTest+"/") {
			return []string{c.Version}
		}
	}
	return k.versions
}

// installedTest is the test of what is on PATH.
const installedTest = "TestRealInstalled"

// arrow is between the versions of a conversation that goes through several.
const arrow = " → "

// cell is the text of a cell.
func (r RunEvidence) cell(k kind, c column) string {
	of := r.versions(k)
	if c == colUpgrade || c == colDowngrade {
		of = []string{strings.Join(k.chain(c), arrow)}
		if one := r.versions(k); len(k.versions) == 0 || len(one) == 1 {
			return strings.Replace(r.text(k.Row, one[0], c), unseen, "not run: one version is installed", 1)
		}
	}
	var texts []string
	by := map[string][]string{}
	for _, v := range of {
		text := r.text(k.Row, v, c)
		if by[text] == nil {
			texts = append(texts, text)
		}
		by[text] = append(by[text], v)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	for i, text := range texts {
		texts[i] = strings.Join(by[text], ", ") + ": " + text
	}
	return strings.Join(texts, "<br>")
}

// text is what all tests of a cell say together for one version: one that failed makes it failed, and one that passed is needed.
func (r RunEvidence) text(row Row, version string, c column) string {
	var by = map[result][]cell{}
	var how []string
	for _, one := range r.cells {
		if one.Row == row && one.Version == version && one.Column == c {
			by[one.Result] = append(by[one.Result], one)
			how = append(how, one.Differs...)
		}
	}
	slices.Sort(how)
	how = slices.Compact(how)
	switch {
	case by[failed] != nil:
		return "**failed**: `" + by[failed][0].Test + "`"
	case by[passed] != nil && how != nil:
		return "differs: " + plain(strings.Join(how, "; "))
	case by[passed] != nil:
		return string(passed)
	case by[skipped] != nil:
		return "not run: " + plain(by[skipped][0].Why)
	}
	return unseen
}

// unseen is in a cell of which no test says anything.
const unseen = "not run: no test of it in this run"

// plain is text for a cell of a table.
func plain(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

// claims lists what was said of the agents and differs from what was seen, as far as the tests that show it passed in this run.
func (r RunEvidence) claims(b *strings.Builder) {
	b.WriteString("\n## Where this differs from what was said of the agents\n\n" +
		"The two documents that this project began with say these things; the tests that are named saw the other.\n\n")
	n := 0
	for _, c := range claims {
		if versions := r.seen(c); versions != nil {
			fmt.Fprintf(b, "* **%s %s**, %s, %s: %s. Said was: %s. (`%s`)\n", c.Agent, strings.Join(versions, ", "), c.Over, c.column, c.seen, c.said, c.test)
			n++
		}
	}
	if n == 0 {
		b.WriteString("None of these tests ran.\n")
	}
}

// seen are the versions for which the test of a claim passed.
func (r RunEvidence) seen(c differing) []string {
	var versions []string
	add := func(row Row, version, test string, res result) {
		if row == c.Row && strings.HasPrefix(test, c.test+"/") && strings.HasSuffix(test, c.within) && slices.Contains(c.versions, version) && res == passed {
			versions = append(versions, version)
		}
	}
	for _, one := range r.cells {
		add(one.Row, one.Version, one.Test, one.Result)
	}
	for _, e := range r.Shown {
		add(Row{e.Agent, e.Over}, e.Versions, e.Test, e.Result)
	}
	slices.SortFunc(versions, func(a, b string) int { return slices.Index(c.versions, a) - slices.Index(c.versions, b) })
	return slices.Compact(versions)
}

// list writes what each test shows, a line for all that say the same.
func (r RunEvidence) list(b *strings.Builder) {
	b.WriteString("\n## What was shown\n\n| agent | over | shown | passed with | not passed |\n|---|---|---|---|---|\n")
	type key struct{ agent, over, shown string }
	var keys []key
	good, bad := map[key][]string{}, map[key][]string{}
	for _, e := range r.Shown {
		k := key{e.Agent, e.Over, e.Shown}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
		switch {
		case e.Result == passed:
			good[k] = append(good[k], e.Versions)
		case e.Result == skipped:
			bad[k] = append(bad[k], e.Versions+" not run: "+e.Why)
		default:
			bad[k] = append(bad[k], e.Versions+" **failed**")
		}
	}
	for _, k := range keys {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", k.agent, k.over, plain(k.shown), strings.Join(good[k], "; "), plain(strings.Join(bad[k], "; ")))
	}
}
