package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/runtime/store"
)

// What is in testdata was written once and is read for ever: it is added to, and never rewritten to please a reader.
func TestFixturesAreNeverRewritten(t *testing.T) {
	list, err := os.ReadFile("testdata/SHA256SUMS")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(list)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		want[name] = sum
	}
	if len(want) < 13 {
		t.Errorf("the list has only %d files", len(want))
	}
	err = filepath.WalkDir("testdata", func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), "testdata/")
		if err == nil && name == "fuzz" {
			return filepath.SkipDir // what the fuzz targets found is no fixture
		}
		if err != nil || d.IsDir() || name == "SHA256SUMS" {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		if got := hex.EncodeToString(sum[:]); got != want[name] {
			t.Errorf("%s has the digest %s, listed is %q", name, got, want[name])
		}
		delete(want, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		t.Errorf("%s is gone", name)
	}
}

const oldDigest = "0b9f6c1d2e3a4f5061728394a5b6c7d8e9f00112233445566778899aabbccdde"

// oldRoutes are the fixtures with what is read from them.
var oldRoutes = map[string]*store.Established{
	"bare": nil, "version": {Version: "0.153.2"}, "digest": {Digest: oldDigest}, "both": {Version: "2.1.210", Digest: oldDigest},
	"instructions": {Version: "2.1.210"}, "person": nil,
	"binding": {Version: "2.1.241", Digest: oldDigest}, "binding-version": {Version: "0.153.2"},
	"binding-digest": {Digest: oldDigest}, "binding-empty": nil, "binding-object": {Version: "0.153.2", Digest: oldDigest},
}

func oldRoute(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/routes/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// keyOf reads a record's key without the reader that is tested.
func keyOf(t *testing.T, record string) store.Key {
	t.Helper()
	var k store.Key
	if err := json.Unmarshal([]byte(record), &k); err != nil {
		t.Fatal(err)
	}
	return k
}

// putRaw stores a record as an older build did.
func putRaw(t *testing.T, s *store.Store, k store.Key, record string) {
	t.Helper()
	var id struct{ NativeSessionID string }
	if err := json.Unmarshal([]byte(record), &id); err != nil {
		t.Fatal(err)
	}
	err := s.Raw(ctx, `INSERT INTO route VALUES (?, ?, ?, ?, ?, ?, ?)`, k.Agent, k.Session, k.Root, k.Generation, id.NativeSessionID, record, store.SumOf(record))
	if err != nil {
		t.Fatal(err)
	}
}

// Every form that was ever written is read, continued from and left as it is.
func TestOldRoutesContinue(t *testing.T) {
	files, err := filepath.Glob("testdata/routes/*.json")
	if err != nil || len(files) != len(oldRoutes) {
		t.Fatalf("%d files, %d forms, %v", len(files), len(oldRoutes), err)
	}
	s := fresh(t)
	for name, want := range oldRoutes {
		t.Run(name, func(t *testing.T) {
			record := oldRoute(t, name)
			k := keyOf(t, record)
			putRaw(t, s, k, record)
			do(t, s, func(tx *store.Tx) error {
				r, found, err := tx.Current(k.SessionKey())
				if err != nil || !found || r.Key != k {
					t.Fatalf("%v %+v %v", found, r, err)
				}
				if (r.Established == nil) != (want == nil) || want != nil && *r.Established != *want {
					t.Errorf("established is %+v, want %+v", r.Established, want)
				}
				next := store.Route{Key: k.SessionKey().Generation(k.Generation + 1), Transport: store.TransportACP, NativeSessionID: "next-" + name, Provenance: store.ProviderAsserted}
				if _, created, err := tx.CreateRoute(next); err != nil || !created {
					t.Fatalf("the next generation: %v %v", created, err)
				}
				if _, created, err := tx.CreateRoute(store.Route{Key: k, Transport: store.TransportACP, NativeSessionID: "x", Provenance: store.ProviderAsserted}); err != nil || created {
					t.Fatalf("it was constructed again: %v %v", created, err)
				}
				stored, err := tx.StoredRoutes(k.SessionKey())
				if err != nil || len(stored) != 2 || stored[0].Record != record || stored[0].Sum != store.SumOf(record) {
					t.Errorf("%+v %v", stored, err)
				}
				return err
			})
		})
	}
}

func TestOldRoutesReadStrictly(t *testing.T) {
	good := oldRoute(t, "binding-object")
	plain := oldRoute(t, "binding")
	change := func(from, old, new string) string {
		if !strings.Contains(from, old) {
			t.Fatalf("%q is not in %s", old, from)
		}
		return strings.Replace(from, old, new, 1)
	}
	for name, record := range map[string]string{
		"binding of another schema":  change(good, "executable-build.v1", "executable-build.v2"),
		"unknown member":             change(good, `"reportedVersion"`, `"path":"/x","reportedVersion"`),
		"unknown member of a digest": change(good, `"algorithm"`, `"size":1,"algorithm"`),
		"another algorithm":          change(good, "sha256", "sha1"),
		"no digest":                  change(good, oldDigest, oldDigest[:63]),
		"a digest in capitals":       change(plain, `Digest":"`+oldDigest+`"}}`, `Digest":"`+strings.ToUpper(oldDigest)+`"}}`),
		"empty version":              change(plain, "2.1.241 (Claude Code)", ""),
		"binding and established":    change(plain, `,"binding"`, `,"established":{"version":"1.0"},"binding"`),
		"both bindings":              change(plain, `"binding":`, `"executableBinding":{"schema":"executable-build.v1"},"binding":`),
		"another order":              change(plain, `"createdAt":"2026-03-01T12:00:00Z","binding"`, `"binding"`),
		"empty established":          change(oldRoute(t, "bare"), `Z"}`, `Z","established":{}}`),
		"a local time":               change(oldRoute(t, "bare"), `12:00:00Z`, `13:00:00+01:00`),
		"a time with zeros":          change(oldRoute(t, "bare"), `12:00:00Z`, `12:00:00.500Z`),
	} {
		t.Run(name, func(t *testing.T) {
			s := fresh(t)
			k := keyOf(t, record)
			putRaw(t, s, k, record)
			err := s.View(ctx, func(tx *store.Tx) error { _, _, err := tx.Current(k.SessionKey()); return err })
			if !errors.Is(err, store.ErrUnaccountable) {
				t.Error(err)
			}
		})
	}
}

func TestReadBinding(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema":"executable-build.v1","reportedVersion":"codex-cli 0.153.2"}`:                              "0.153.2",
		`{"schema":"executable-build.v1","reportedVersion":"a version in words"}`:                             "none",
		`{"schema":"executable-build.v1"}`:                                                                    "none",
		`{"schema":"executable-build.v1","executableDigest":"` + oldDigest + `"}`:                             oldDigest,
		`{"schema":"executable-build.v3"}`:                                                                    "refused",
		`{"schema":"executable-build.v1"} {}`:                                                                 "refused",
		`{"schema":"executable-build.v1","executableDigest":{"algorithm":"md5","value":"` + oldDigest + `"}}`: "refused",
		`[]`: "refused",
	} {
		est, err := store.ReadBinding([]byte(text))
		got := "none"
		switch {
		case errors.Is(err, store.ErrUnaccountable):
			got = "refused"
		case err != nil:
			got = err.Error()
		case est != nil:
			got = est.Version + est.Digest
		}
		if got != want {
			t.Errorf("%s gave %q, want %q", text, got, want)
		}
	}
}

// A whole database that an earlier build left: it opens, goes on, and its routes stay what they are.
func TestOldStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "xmd")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/stores/v1-done.db")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, store.FileName), data)
	s := open(t, dir)
	notes := store.SessionKey{Agent: "sim", Session: "notes", Root: "/home/ada/project"}
	stored := func() (list []store.StoredRoute) {
		do(t, s, func(tx *store.Tx) (err error) { list, err = tx.StoredRoutes(notes); return err })
		return list
	}
	before := stored()
	if len(before) != 1 || store.SumOf(before[0].Record) != before[0].Sum {
		t.Fatalf("%+v", before)
	}
	lock := take(t, s, store.LockSession, notes.LockName())
	if err := s.Claim(ctx, lock, store.Owner{Key: notes.Generation(1), Run: "new"}); err != nil {
		t.Fatal(err)
	}
	do(t, s, func(tx *store.Tx) error {
		r, found, err := tx.Current(notes)
		if !found || err != nil || r.NativeSessionID != "ced99e30-c5da-4e06-820a-fafcac33f03b" || r.Established.Version != "1.0.0" {
			t.Errorf("%v %+v %v", found, r, err)
		}
		turns, err := tx.LastTurns(r.Key, 0)
		if err != nil || len(turns) != 2 || turns[1].Accepted != store.AcceptedYes || turns[1].WordsLetters != 34 {
			t.Errorf("%+v %v", turns, err)
		}
		if err := tx.BeginRun(store.Run{ID: "new"}); err != nil {
			t.Error(err)
		}
		return errors.Join(
			tx.PutTurn(store.Turn{Key: r.Key, Number: 3, Run: "new", Accepted: store.AcceptedYes}),
			tx.PutMark(store.Mark{Key: r.Key, Name: "note"}))
	})
	runs := 0
	do(t, s, func(tx *store.Tx) error {
		all, err := tx.Runs(0)
		runs = len(all)
		return err
	})
	if n := count(t, s, "01M8PTYPQY26129HVFAAHB9NPY"); n != 28 || runs != 3 {
		t.Errorf("%d records of the first run, %d runs", n, runs)
	}
	if _, err := s.Prune(ctx, time.Now().Add(time.Hour), false); err != nil {
		t.Fatal(err)
	}
	if after := stored(); len(after) != 1 || after[0] != before[0] {
		t.Errorf("the route is now %+v", after)
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}
