//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"xmd/runtime/store"
)

// course is one document from its first start to its end.
type course struct {
	*life
	doc     *document
	strikes []strike
	run_    store.Run
	records []store.Record // on record so far
	asked   map[string]int // steps that a person had sent or run again
	words   int            // how often a reply was adopted or skipped
}

// run runs the document until it is done; false when it cannot be brought to its end.
func (c *course) run(ctx context.Context) bool {
	c.asked = map[string]int{}
	args := []string{"run", c.doc.name}
	for range maxCalls {
		one := c.call(ctx, c.nextStrike(), func() []store.Record { return c.look(ctx) }, args...)
		if ctx.Err() != nil {
			return false
		}
		if args[0] == "resume" {
			c.w.count("resumes")
		}
		if !c.after(ctx, one) {
			return false
		}
		if c.run_.ID != "" && c.run_.Outcome == "done" && !c.run_.Ended.IsZero() {
			return c.ended(ctx, one)
		}
		if args = c.next(one); args == nil {
			return false
		}
	}
	c.find(c.run_.ID, "it comes to no end in %d calls", maxCalls)
	return false
}

// nextStrike takes the next of the strikes; none when they are used up.
func (c *course) nextStrike() strike {
	if len(c.strikes) == 0 {
		return strike{kind: noStrike}
	}
	s := c.strikes[0]
	c.strikes = c.strikes[1:]
	return s
}

// look reads the newest run of the document and its journal.
func (c *course) look(ctx context.Context) []store.Record {
	run, err := c.w.newest(ctx, c.dir, c.doc.name)
	if err == nil && run.ID != "" {
		c.run_ = run
		var records []store.Record
		if records, err = c.w.journal(ctx, run.ID); err == nil {
			return records
		}
	}
	if err != nil {
		c.find(run.ID, "the store cannot be read: %v", err)
	}
	return nil
}

// after looks at what a call left: its own words, and the journal, which begins with all that was there before.
func (c *course) after(ctx context.Context, one call) bool {
	before := c.run_.ID
	now := c.look(ctx)
	sound := true
	if what := badEnd(one); what != "" {
		c.find(c.run_.ID, "%s\n%s", what, one.says())
		sound = false
	}
	for _, earlier := range [][]store.Record{c.records, one.seen} {
		if what := lost(earlier, now); what != "" && (before == "" || before == c.run_.ID) {
			c.find(c.run_.ID, "%s\n%s", what, one.says())
			sound = false
		}
	}
	c.records = now
	return sound
}

var (
	resendHint = regexp.MustCompile(`(?m)^xmd resume \S+ --resend (\S+)`)
	retryHint  = regexp.MustCompile(`xmd resume \S+ --retry (\S+)`)
)

// next is what a person would type then: a resume, with the decisions that xmd asks for. nil: there is nothing to do, which is a finding.
func (c *course) next(one call) []string {
	switch {
	case c.run_.ID == "" && (one.struck || one.code == 0):
		return []string{"run", c.doc.name} // it died before it was anything
	case c.run_.ID == "":
		c.find("", "it did not begin, and nothing was killed\n%s", one.says())
		return nil
	case len(c.records) == 0 && one.args[0] == "resume": // nothing of it is on record but its name
		c.run_ = store.Run{}
		return []string{"run", c.doc.name}
	}
	args := []string{"resume", c.run_.ID}
	if m := retryHint.FindStringSubmatch(one.stderr); m != nil {
		c.w.count("decision: retry")
		c.asked[m[1]]++
		return append(args, "--retry", m[1], "--yes")
	}
	hints := resendHint.FindAllStringSubmatch(one.stderr, -1)
	for _, m := range hints {
		word := c.decide(one.stderr, m[1])
		c.w.count("decision: " + word)
		args = append(args, "--"+word, m[1])
	}
	if len(hints) == 0 && one.args[0] == "resume" && !one.struck {
		c.find(c.run_.ID, "a resume that nothing disturbed went wrong\n%s", one.says())
		return nil
	}
	return args
}

// decide is the word for one step: mostly to send it again. What tells the codeword is never gone past.
func (c *course) decide(stderr, step string) string {
	n := c.rng.IntN(10)
	switch {
	case n < 2 && strings.Contains(stderr, "--adopt "+step+" "):
		c.words++
		return "adopt"
	case n < 4 && c.doc.name != "doc1.xmd" && c.doc.word == "":
		c.words++
		return "skip"
	}
	c.asked[step]++
	return "resend"
}

// ended holds a run that is done to what was promised.
func (c *course) ended(ctx context.Context, last call) bool {
	var bad []string
	bad = append(bad, again(c.records, c.asked)...)
	sent, err := delivered(filepath.Join(c.dir, "sim"), filepath.Join(c.dir, "two"))
	if err != nil {
		bad = append(bad, err.Error())
	}
	bad = append(bad, twice(c.records, sent, c.asked)...)
	ran, _ := os.ReadFile(filepath.Join(c.dir, "ran.txt"))
	bad = append(bad, ranTwice(c.records, c.doc.execs, string(ran))...)
	if c.words == 0 {
		bad = append(bad, inOrder(c.doc.want, last.stdout)...)
	}
	if c.doc.word != "" && !strings.Contains(last.stdout, c.doc.word) {
		bad = append(bad, "the codeword is forgotten")
	}
	for range 2 {
		r := c.call(ctx, strike{kind: noStrike}, nil, "replay", c.run_.ID)
		c.w.count("replays")
		if r.code != 0 || r.stdout != last.stdout || r.stderr != "" {
			bad = append(bad, "the replay is not what was printed: "+r.says())
		}
	}
	if busy, err := c.w.st.Locked(store.LockRun, c.run_.ID); err != nil || busy != nil {
		if len(gone(c.mark, goneLimit)) == 0 {
			if busy, err = c.w.st.Locked(store.LockRun, c.run_.ID); err != nil || busy != nil {
				bad = append(bad, "the lock of the run is held when nothing runs")
			}
		}
	}
	for _, what := range bad {
		c.find(c.run_.ID, "%s\n%s", what, last.says())
	}
	return len(bad) == 0
}
