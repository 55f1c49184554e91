// Package storetest writes into a store what the store never would, as damage or another program leaves it. Tests alone use it.
//
//	test ── Raw.Run ──▶ SQL ──▶ xmd.db ──▶ store, journal, replay: what do they make of it?
package storetest

import (
	"database/sql"
	"errors"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver

	"xmd/runtime/store"
)

// Raw is a second way into a store's database, beside the store. Not safe for concurrent use.
type Raw struct{ db *sql.DB }

// Open opens the database of the store in dir, which is there. Close it.
func Open(dir string) (*Raw, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, store.FileName)+"?_pragma=synchronous(0)&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	return &Raw{db}, nil
}

// Run writes a run with these records, whatever their steps, types and data are; they are numbered from 1.
func (r *Raw) Run(id, dir string, records []store.Record) error {
	tx, err := r.db.Begin()
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO run (id, document, dir, sources, props, settings, started) VALUES (?, 'test.xmd', ?, '', '', '', 0)`, id, dir)
	for i, rec := range records {
		if err == nil {
			_, err = tx.Exec(`INSERT INTO record (run, seq, step, kind, time, data) VALUES (?, ?, ?, ?, 0, ?)`, id, i+1, rec.Step, rec.Kind, string(rec.Data))
		}
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Close closes the database.
func (r *Raw) Close() error { return r.db.Close() }
