package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"xmd/runtime/store"
)

// allRecords are the journals of a store, run by run.
func allRecords(t *testing.T, s *store.Store) (all []store.Record) {
	t.Helper()
	var runs []store.Run
	if err := s.View(ctx, func(tx *store.Tx) (err error) { runs, err = tx.Runs(0); return err }); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		for r, err := range s.Records(ctx, run.ID, 0) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
	}
	return all
}

// fixture is a store that an earlier build left, in a folder of the test's.
type fixture struct {
	name          string
	native        string // of the session notes
	conversations int
	records       int
}

// A store of an earlier build becomes one of this build when it is opened for writing, with all that was in it; read, it stays as it is.
func TestUpgrade(t *testing.T) {
	for _, f := range []fixture{
		{"v1-done", "ced99e30-c5da-4e06-820a-fafcac33f03b", 0, 32},
		{"v2-done", "b45536ef-8510-4b2c-a45d-912f23f3eef1", 1, 44},
	} {
		t.Run(f.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "xmd")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile("testdata/stores/" + f.name + ".db")
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, store.FileName)
			write(t, path, data)
			was := f.read(t, dir)
			if after, _ := os.ReadFile(path); !slices.Equal(after, data) {
				t.Error("reading changed the file")
			}
			for range 2 {
				f.goesOn(t, dir, was)
			}
		})
	}
}

// read looks at it without changing it, and gives its records.
func (f fixture) read(t *testing.T, dir string) []store.Record {
	t.Helper()
	s, err := store.Open(ctx, store.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Conversations("", "")
		told, terr := tx.Told(store.Key{Agent: "sim", Session: "notes", Root: "/home/ada/project", Generation: 1})
		if len(list) != f.conversations || told != (store.Told{}) {
			t.Errorf("%v %v", list, told)
		}
		return errors.Join(err, terr)
	})
	if err != nil {
		t.Error(err)
	}
	all := allRecords(t, s)
	if len(all) != f.records {
		t.Errorf("%d records, want %d", len(all), f.records)
	}
	return all
}

// goesOn writes to it, and looks that what was in it is still there and guarded.
func (f fixture) goesOn(t *testing.T, dir string, was []store.Record) {
	t.Helper()
	s, err := store.Open(ctx, store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if now := allRecords(t, s); !reflect.DeepEqual(now, was) {
		t.Errorf("the journals are now %v", now)
	}
	add(t, s, task, said("a", 1, "one"))
	do(t, s, func(tx *store.Tx) error {
		r, found, err := tx.Current(store.SessionKey{Agent: "sim", Session: "notes", Root: "/home/ada/project"})
		if !found || r.NativeSessionID != f.native {
			t.Errorf("%+v %v", r, found)
		}
		return err
	})
	if err := s.Raw(ctx, `UPDATE record SET data = 'x'`); err == nil {
		t.Error("a record was changed")
	}
	if err := s.Check(ctx); err != nil {
		t.Error(err)
	}
}
