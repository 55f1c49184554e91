package main

import (
	"context"
	"fmt"
	"path/filepath"

	"xmd/agents"
	"xmd/lang"
	"xmd/lang/plan"
	"xmd/lang/target"
	"xmd/runtime/store"
)

// targets are the parts of a document, FILE#TARGET.
func (c *completer) targets(name string) []candidate {
	doc, err := c.p.load(name, nil)
	if err != nil {
		return nil
	}
	tree, _ := lang.Parse(doc.name, doc.text)
	var list []candidate
	for _, t := range target.List(tree) {
		list = append(list, candidate{name + "#" + t.Path, ""})
	}
	return list
}

// agents are those that are built in or configured.
func (c *completer) agents() []candidate {
	dir, err := runDir(first(c.given["C"], "."))
	if err != nil {
		return nil
	}
	cfg, _ := loadConfig(dir, c.p.env) // of a faulty one the agents are unknown, the built-in ones are not
	return words(agents.New(agents.Options{Env: c.p.env, Config: cfg.custom(), Self: self(), Native: nativeProgram}).Names()...)
}

// questions are the names that --answer takes for the document.
func (c *completer) questions() []candidate {
	compiled := quickPlan(c.p, &arguments{positional: c.args})
	if compiled == nil {
		return nil
	}
	names := map[string]bool{}
	for _, doc := range compiled.Documents() {
		for _, item := range doc.Items() {
			if n, ok := item.Node.(*plan.Elicit); ok {
				names[first(n.As, n.ID)+"="] = true
			}
		}
	}
	return sortedNames(names)
}

// mostRuns bounds the runs that are offered.
const mostRuns = 50

// runs are the last ones, newest first.
func (c *completer) runs() []candidate {
	list := []candidate{{"last", "the run that began last"}}
	c.look(func(tx *store.Tx) error {
		all, err := tx.Runs(mostRuns)
		for _, r := range all {
			list = append(list, candidate{r.ID, fmt.Sprintf("%s, %s", filepath.Base(r.Document), first(r.Outcome, "no end"))})
		}
		return err
	})
	return list
}

// sessions are the named ones, AGENT:NAME, and NAME alone.
func (c *completer) sessions() []candidate {
	var list []candidate
	seen := map[string]bool{}
	c.look(func(tx *store.Tx) error {
		all, err := tx.Routes(store.Filter{})
		for _, s := range all {
			for _, name := range []string{s.Agent + ":" + s.Session, s.Session} {
				if !seen[name] {
					seen[name] = true
					list = append(list, candidate{name, s.Root})
				}
			}
		}
		return err
	})
	return list
}

// look reads the store, not for long; nothing of it is changed, and a store that is not there is not made.
func (c *completer) look(read func(*store.Tx) error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	dir, err := c.p.stateDirOf(c.given["state-dir"])
	if err != nil {
		return
	}
	s, err := c.p.storeIn(ctx, store.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return
	}
	defer func() { _ = s.Close() }()
	_ = s.View(ctx, read) // what cannot be read is not offered
}
