package store_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"xmd/runtime/store"
)

var key = store.SessionKey{Agent: "codex", Session: "review", Root: "/home/ada/place"}

func route(generation int) store.Route {
	return store.Route{
		Key: key.Generation(generation), Transport: store.TransportACP, NativeSessionID: "0199-aa",
		Provenance: store.ProviderAsserted, CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 5000, time.UTC),
		Established: &store.Established{Version: "0.153.2", Digest: "ab"},
	}
}

func TestRouteForm(t *testing.T) {
	record, _, err := store.EncodeRoute(route(2))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"schema":"session-route.v1","agent":"codex","session":"review","root":"/home/ada/place","generation":2,` +
		`"transport":"acp","nativeSessionId":"0199-aa","provenance":"provider-asserted",` +
		`"createdAt":"2026-03-01T12:00:00.000005Z","established":{"version":"0.153.2","digest":"ab"}}`
	if record != want {
		t.Errorf("got  %s\nwant %s", record, want)
	}
	bare := route(1)
	bare.Established, bare.InstructionDigest = &store.Established{}, "cd"
	if record, _, _ := store.EncodeRoute(bare); strings.Contains(record, "established") || !strings.Contains(record, `"instructionDigest":"cd"`) {
		t.Error(record)
	}
}

func TestRouteCreateOnce(t *testing.T) {
	s := fresh(t)
	create := func(r store.Route) (winner store.Route, created bool) {
		do(t, s, func(tx *store.Tx) (err error) { winner, created, err = tx.CreateRoute(r); return err })
		return winner, created
	}
	if _, created := create(route(1)); !created {
		t.Fatal("the first was not created")
	}
	second := route(1)
	second.NativeSessionID, second.Transport = "other", store.TransportAppServer
	winner, created := create(second)
	if created || winner.NativeSessionID != "0199-aa" || winner.Transport != store.TransportACP {
		t.Fatalf("created %v, %+v", created, winner)
	}
	if *winner.Established != *route(1).Established || !winner.CreatedAt.Equal(route(1).CreatedAt) {
		t.Errorf("the winner came back as %+v", winner)
	}
}

func TestRouteTriggers(t *testing.T) {
	s := fresh(t)
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err })
	if err := s.BeginRun(ctx, store.Run{ID: "r"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(ctx, "r", store.Record{Kind: "k"}); err != nil {
		t.Fatal(err)
	}
	const values = ` INTO route SELECT agent, session, root, generation, 'x', 'x', 'x' FROM route`
	const upsert = `INSERT` + values + ` WHERE true ON CONFLICT DO UPDATE SET `
	for _, pragma := range []string{"recursive_triggers=OFF", "recursive_triggers=ON"} {
		if err := s.Raw(ctx, "PRAGMA "+pragma); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{
			`UPDATE route SET native_id = 'x'`, `UPDATE OR REPLACE route SET generation = 1`, `UPDATE OR REPLACE route SET record = 'x'`,
			`UPDATE OR IGNORE route SET sum = 'x'`, `UPDATE OR FAIL route SET root = '/x'`, `UPDATE OR ROLLBACK route SET agent = 'x'`,
			`UPDATE route SET sum = s.version FROM store AS s`,
			`DELETE FROM route`, `DELETE FROM route WHERE generation = 1 RETURNING *`,
			`INSERT` + values, `REPLACE` + values, `INSERT OR REPLACE` + values, `INSERT OR IGNORE` + values, `INSERT OR FAIL` + values,
			`INSERT OR ROLLBACK` + values, `INSERT` + values + ` WHERE true ON CONFLICT DO NOTHING`,
			upsert + `native_id = 'x'`, upsert + `record = excluded.record, sum = excluded.sum`,
			`UPDATE record SET data = 'x'`, `UPDATE OR REPLACE record SET seq = 1`, `REPLACE INTO record SELECT * FROM record`,
			`INSERT INTO record SELECT * FROM record WHERE true ON CONFLICT DO UPDATE SET data = 'x'`,
		} {
			if err := s.Raw(ctx, query); err == nil {
				t.Errorf("%s: %s was let through", pragma, query)
			}
		}
	}
	do(t, s, func(tx *store.Tx) error {
		r, found, err := tx.Current(key)
		if !found || r.NativeSessionID != "0199-aa" {
			t.Errorf("%v %+v", found, r)
		}
		return err
	})
}

func TestRouteReadStrictly(t *testing.T) {
	good, _, err := store.EncodeRoute(route(1))
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in %s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	tests := map[string]string{
		"unknown schema":      change("session-route.v1", "session-route.v2"),
		"unknown field":       change(`"agent"`, `"more":1,"agent"`),
		"another case":        change(`"agent"`, `"Agent"`),
		"twice":               change(`"agent":"codex"`, `"agent":"x","agent":"codex"`),
		"another key":         change("review", "other"),
		"another generation":  change(`"generation":1`, `"generation":3`),
		"no id":               change("0199-aa", ""),
		"unknown transport":   change(`"acp"`, `"telepathy"`),
		"unknown provenance":  change("provider-asserted", "guessed"),
		"no time":             change("2026-03-01T12:00:00.000005Z", "lately"),
		"space":               change(`,"transport"`, `, "transport"`),
		"cut":                 good[:len(good)-20],
		"something behind it": good + "{}",
		"null":                "null",
		"empty":               "",
	}
	for name, record := range tests {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			// The sum is right, so that the form alone is judged.
			insertRoute(t, s, record, store.SumOf(record))
			refuses(t, s)
		})
	}
	t.Run("wrong sum", func(t *testing.T) {
		s := fresh(t)
		insertRoute(t, s, change("0199-aa", "0199-ab"), store.SumOf(good))
		refuses(t, s)
	})
	t.Run("control", func(t *testing.T) {
		s := fresh(t)
		insertRoute(t, s, good, store.SumOf(good))
		do(t, s, func(tx *store.Tx) error { _, _, err := tx.Current(key); return err })
	})
}

func insertRoute(t *testing.T, s *store.Store, record, sum string) {
	t.Helper()
	err := s.Raw(ctx, `INSERT INTO route VALUES ('codex', 'review', '/home/ada/place', 1, '0199-aa', ?, ?)`, record, sum)
	if err != nil {
		t.Fatal(err)
	}
}

// refuses says that every way to the route is an error, and none an absence or a second creation.
func refuses(t *testing.T, s *store.Store) {
	t.Helper()
	for name, read := range map[string]func(tx *store.Tx) error{
		"current": func(tx *store.Tx) error { _, _, err := tx.Current(key); return err },
		"route":   func(tx *store.Tx) error { _, _, err := tx.Route(key.Generation(1)); return err },
		"list":    func(tx *store.Tx) error { _, err := tx.Routes(store.Filter{}); return err },
		"create":  func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err },
	} {
		err := s.Do(ctx, read)
		if !errors.Is(err, store.ErrUnaccountable) || store.KindOf(err) != store.KindUnaccountable {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "0199-") {
			t.Errorf("%s tells the record: %v", name, err)
		}
	}
}

func TestRouteUnmarshalErrorsMatch(t *testing.T) {
	var r store.Route
	if err := json.Unmarshal([]byte(`{"schema":"session-route.v9"}`), &r); !errors.Is(err, store.ErrUnaccountable) {
		t.Error(err)
	}
}

func TestRouteRefusedWhenWritten(t *testing.T) {
	s := fresh(t)
	for name, change := range map[string]func(r *store.Route){
		"relative root": func(r *store.Route) { r.Root = "x" },
		"unclean root":  func(r *store.Route) { r.Root = "/x/../y" },
		"generation 0":  func(r *store.Route) { r.Generation = 0 },
		"no agent":      func(r *store.Route) { r.Agent = "" },
		"bad name":      func(r *store.Route) { r.Session = "a@2" },
		"unnamed":       func(r *store.Route) { r.Session = store.Unnamed("r1", "top") },
		"no id":         func(r *store.Route) { r.NativeSessionID = "" },
		"transport":     func(r *store.Route) { r.Transport = "" },
		"provenance":    func(r *store.Route) { r.Provenance = "" },
	} {
		r := route(1)
		change(&r)
		if err := s.Do(ctx, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(r); return err }); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestNativeIDBelongsToOneSession(t *testing.T) {
	s := fresh(t)
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(route(1)); return err })
	other := route(1)
	other.Session = "second"
	var taken *store.NativeTakenError
	create := func(tx *store.Tx) error { _, _, err := tx.CreateRoute(other); return err }
	if err := s.Do(ctx, create); !errors.As(err, &taken) || taken.Holder != route(1).Key {
		t.Fatalf("got %v", err)
	}
	claude := other
	claude.Agent = "claude" // the same id of another agent is another conversation
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(claude); return err })
	do(t, s, func(tx *store.Tx) error { return tx.PutMark(store.Mark{Key: route(1).Key, Name: store.MarkForgotten}) })
	do(t, s, create)
}

func TestGenerations(t *testing.T) {
	s := fresh(t)
	create := func(gen int, session string) {
		r := route(gen)
		r.Session, r.NativeSessionID = session, session+string(rune('0'+gen))
		do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(r); return err })
	}
	create(2, "review") // written out of order, as after a clock that went back
	create(1, "review")
	create(1, "build")
	ids := func(f store.Filter) (all []string) {
		do(t, s, func(tx *store.Tx) error {
			routes, err := tx.Routes(f)
			for _, r := range routes {
				all = append(all, r.NativeSessionID)
			}
			return err
		})
		return all
	}
	select2 := store.Selector{Session: "review", Generation: 1}
	for _, tt := range []struct {
		f    store.Filter
		want string
	}{
		{store.Filter{}, "build1 review2"},
		{store.Filter{All: true}, "build1 review1 review2"},
		{store.Filter{Selector: select2}, "review1"},
		{store.Filter{Root: "/elsewhere"}, ""},
		{store.Filter{Root: key.Root, Selector: store.Selector{Agent: "codex", Session: "build"}}, "build1"},
		{store.Filter{Selector: store.Selector{Agent: "claude"}}, ""},
	} {
		if got := strings.Join(ids(tt.f), " "); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.f, got, tt.want)
		}
	}
	current := func() (got string, next int) {
		do(t, s, func(tx *store.Tx) error {
			r, _, err := tx.Current(key)
			if err != nil {
				return err
			}
			got = r.NativeSessionID
			next, err = tx.NextGeneration(key)
			return err
		})
		return got, next
	}
	if got, next := current(); got != "review2" || next != 3 {
		t.Errorf("current %s, next %d", got, next)
	}
	do(t, s, func(tx *store.Tx) error {
		return errors.Join(tx.PutMark(store.Mark{Key: key.Generation(1), Name: store.MarkForgotten}),
			tx.PutMark(store.Mark{Key: key.Generation(2), Name: store.MarkForgotten}))
	})
	if got, next := current(); got != "" || next != 3 {
		t.Errorf("after forget: current %q, next %d", got, next)
	}
	if got := strings.Join(ids(store.Filter{All: true, Forgotten: true}), " "); got != "build1 review1 review2" {
		t.Errorf("forgotten rows are gone: %s", got)
	}
}

// One damaged route does not hide the others.
func TestRoutesTellsDamageBesideTheRest(t *testing.T) {
	s := fresh(t)
	r := route(1)
	r.Session, r.NativeSessionID = "good", "id-good"
	do(t, s, func(tx *store.Tx) error { _, _, err := tx.CreateRoute(r); return err })
	insertRoute(t, s, "{}", store.SumOf("{}"))
	err := s.View(ctx, func(tx *store.Tx) error {
		routes, err := tx.Routes(store.Filter{})
		if len(routes) != 1 || routes[0].NativeSessionID != "id-good" {
			t.Errorf("%+v", routes)
		}
		return err
	})
	if !errors.Is(err, store.ErrUnaccountable) {
		t.Error(err)
	}
}

func TestParseSelector(t *testing.T) {
	for text, want := range map[string]store.Selector{
		"review":          {Session: "review"},
		"codex:review":    {Agent: "codex", Session: "review"},
		"review@2":        {Session: "review", Generation: 2},
		"codex:a b/c.d@3": {Agent: "codex", Session: "a b/c.d", Generation: 3},
	} {
		if got, err := store.ParseSelector(text); err != nil || got != want {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"", ":x", "x@", "x@0", "x@-1", "x@y", "a:", "a:b:c", "@1", "x@1@2"} {
		if got, err := store.ParseSelector(text); err == nil {
			t.Errorf("%q gave %+v", text, got)
		}
	}
}
