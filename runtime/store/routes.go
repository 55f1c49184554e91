package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
)

// Filter chooses routes. Its zero value chooses the current generation of every session.
type Filter struct {
	Selector
	Root      string // empty: every root. Where the sessions live now
	All       bool   // older generations too; a Selector with a generation implies it
	Forgotten bool   // forgotten ones too
}

// Routes lists routes by agent, session, root and generation. Those that cannot be read are told in the error, beside
// those that can.
func (tx *Tx) Routes(f Filter) ([]Route, error) {
	stored, err := tx.storedRoutes(f)
	if err != nil {
		return nil, err
	}
	var routes []Route
	var bad []error
	for _, s := range stored {
		r, err := tx.decode(s.home, s.key, s.Record, s.Sum)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if n := len(routes); n > 0 && !f.All && f.Generation == 0 && routes[n-1].SessionKey() == r.SessionKey() {
			routes[n-1] = r // a later generation of the same session
			continue
		}
		routes = append(routes, r)
	}
	return routes, errors.Join(bad...)
}

// StoredRoute is a route as it stands in the store.
type StoredRoute struct {
	Generation int
	Record     string // its exact text
	Sum        string // hex SHA-256 of it

	home, key Key // where it is recorded, and where it lives
}

// StoredRoutes lists the routes of one session as they are stored, oldest generation first, without judging them.
func (tx *Tx) StoredRoutes(s SessionKey) ([]StoredRoute, error) {
	return tx.storedRoutes(Filter{Selector: Selector{Agent: s.Agent, Session: s.Session}, Root: s.Root, Forgotten: true})
}

// storedRoutes lists every generation that f's selector and root choose, by agent, session, root and generation.
func (tx *Tx) storedRoutes(f Filter) ([]StoredRoute, error) {
	var all []StoredRoute
	err := tx.rows("list routes",
		`SELECT agent, session, root, generation, record, sum, EXISTS (SELECT 1 FROM mark AS m WHERE m.agent = r.agent
			AND m.session = r.session AND m.root = r.root AND m.generation = r.generation AND m.name = 'forgotten')
		FROM route AS r WHERE ?1 IN ('', agent) AND ?2 IN ('', session) AND ?3 IN (0, generation)`,
		[]any{f.Agent, f.Session, f.Generation}, func(scan func(...any) error) error {
			var s StoredRoute
			var forgotten bool
			err := scan(&s.home.Agent, &s.home.Session, &s.home.Root, &s.home.Generation, &s.Record, &s.Sum, &forgotten)
			if err == nil && (!forgotten || f.Forgotten) {
				s.Generation = s.home.Generation
				all = append(all, s)
			}
			return err
		})
	if err != nil {
		return nil, err
	}
	if err := tx.placeAll(all); err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s StoredRoute) bool { return f.Root != "" && s.key.Root != f.Root })
	slices.SortFunc(all, func(a, b StoredRoute) int {
		return cmp.Or(cmp.Compare(a.key.Agent, b.key.Agent), cmp.Compare(a.key.Session, b.key.Session),
			cmp.Compare(a.key.Root, b.key.Root), cmp.Compare(a.key.Generation, b.key.Generation))
	})
	return all, nil
}

// placeAll finds out where the listed generations live.
func (tx *Tx) placeAll(all []StoredRoute) error {
	type name struct{ agent, session string }
	known := map[name]moves{}
	for i := range all {
		n := name{all[i].home.Agent, all[i].home.Session}
		m, ok := known[n]
		if !ok {
			var err error
			if m, err = tx.moves(n.agent, n.session); err != nil {
				return err
			}
			known[n] = m
		}
		all[i].key = m.place(all[i].home)
	}
	return nil
}

// RunsOf lists the runs that used a session, by id: that opened a conversation of it or had a turn on it. Pruned ones are among them.
func (tx *Tx) RunsOf(s SessionKey) ([]string, error) {
	all, err := tx.kept(s.Agent, s.Session)
	var runs []string
	for _, g := range all {
		if err != nil || g.place.Root != s.Root {
			continue
		}
		err = tx.rows("list runs",
			`SELECT run FROM opened WHERE agent = ?1 AND session = ?2 AND root = ?3 AND generation = ?4
			UNION SELECT run FROM turn WHERE agent = ?1 AND session = ?2 AND root = ?3 AND generation = ?4`,
			[]any{g.home.Agent, g.home.Session, g.home.Root, g.home.Generation}, func(scan func(...any) error) error {
				var run string
				err := scan(&run)
				if run != "" && !slices.Contains(runs, run) {
					runs = append(runs, run)
				}
				return err
			})
	}
	slices.Sort(runs)
	return runs, err
}

// absent makes sure that a session which was not found is not merely out of sight: the table is whole, and no record that names the
// session stands under another key. A key has no sum of its own, its record has.
func (tx *Tx) absent(agent, session string) error {
	if err := tx.checkTable("route"); err != nil {
		return err
	}
	quoted, err := json.Marshal(session)
	if err != nil {
		return err
	}
	return tx.rows("read route",
		`SELECT agent, session, root, generation, record FROM route WHERE instr(record, '"session":' || ?) > 0`, []any{string(quoted)},
		func(scan func(...any) error) error {
			var at, says Key
			var record string
			if err := scan(&at.Agent, &at.Session, &at.Root, &at.Generation, &record); err != nil {
				return err
			}
			if json.Unmarshal([]byte(record), &says) != nil || says.Agent != agent || says.Session != session || says == at {
				return nil
			}
			return tx.s.unaccountable("read route", "the route of session "+says.String(),
				errors.New("the record stands under another key"))
		})
}
