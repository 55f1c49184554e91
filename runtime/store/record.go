package store

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Record is one row of a run's journal.
type Record struct {
	Seq  int64           // from 1 in each run; given by Append
	Step string          // step identity; empty for what concerns the whole run
	Kind string          // "prompt.sent"; never empty
	Time time.Time       // zero: now
	Data json.RawMessage // one JSON value; nil: none
	// Made is one JSON value in the place of Data, by a writer that has just encoded it: it is not looked at again. "" in what is read.
	Made string
}

// Append adds records to a run's journal, in order, and returns the sequence number of the last. Of no records it
// returns the last one's so far, 0 in an empty journal. The run must exist.
func (tx *Tx) Append(run string, records ...Record) (int64, error) {
	var last int64
	var known bool
	_, err := tx.row("append",
		`SELECT (SELECT COALESCE(MAX(seq), 0) FROM record WHERE run = ?1), EXISTS (SELECT 1 FROM run WHERE id = ?1)`,
		[]any{run}, &last, &known)
	if err != nil {
		return 0, err
	}
	if !known {
		return 0, fmt.Errorf("append to run %s: %w", run, ErrNoRun)
	}
	for _, r := range records {
		last++
		if err := tx.appendOne(run, last, r); err != nil {
			return 0, err
		}
	}
	return last, nil
}

func (tx *Tx) appendOne(run string, seq int64, r Record) error {
	if r.Kind == "" {
		return fmt.Errorf("append: a record of run %s has no kind", run)
	}
	data := r.Made
	if data == "" {
		var err error
		if data, err = jsonText(r.Data); err != nil {
			return fmt.Errorf("append: %s of run %s: %w", r.Kind, run, err)
		}
	}
	return tx.write("append", `INSERT INTO record (run, seq, step, kind, time, data) VALUES (?, ?, ?, ?, ?, ?)`,
		run, seq, r.Step, r.Kind, toMillis(tx.now(r.Time)), data)
}

// Append is Tx.Append in a transaction of its own.
func (s *Store) Append(ctx context.Context, run string, records ...Record) (last int64, err error) {
	err = s.Do(ctx, func(tx *Tx) error { last, err = tx.Append(run, records...); return err })
	return last, err
}

// recordPage bounds what Records holds in memory, and how long it keeps the connection.
const recordPage = 256

// Records reads a run's journal in order, beginning after sequence number after (0: from the start). The store may
// be used inside the loop. The first error ends it.
func (s *Store) Records(ctx context.Context, run string, after int64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for {
			page, err := s.recordPage(ctx, run, after)
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
				after = r.Seq
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if len(page) < recordPage {
				return
			}
		}
	}
}

func (s *Store) recordPage(ctx context.Context, run string, after int64) (page []Record, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		page, err = tx.records(run, after)
		return err
	})
	return page, err
}

func (tx *Tx) records(run string, after int64) ([]Record, error) {
	var page []Record
	err := tx.rows("read journal",
		`SELECT seq, step, kind, time, data FROM record WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?`,
		[]any{run, after, recordPage}, func(scan func(...any) error) error {
			var r Record
			var ms int64
			var data string
			err := scan(&r.Seq, &r.Step, &r.Kind, &ms, &data)
			if err != nil {
				return err
			}
			r.Time = fromMillis(ms)
			if r.Data, err = jsonValue(data); err != nil {
				return tx.s.unaccountable("read journal", fmt.Sprintf("run %s, record %d", run, r.Seq), err)
			}
			page = append(page, r)
			return nil
		})
	return page, err
}

// RecordHead is a record without its data.
type RecordHead struct {
	Seq  int64
	Step string
	Kind string
}

// headPage bounds what RecordHeads holds in memory, and how long it keeps the connection.
const headPage = 4096

// RecordHeads reads the heads of a run's journal in order, beginning after sequence number after. The store may be used inside the
// loop. The first error ends it.
func (s *Store) RecordHeads(ctx context.Context, run string, after int64) iter.Seq2[RecordHead, error] {
	return func(yield func(RecordHead, error) bool) {
		for {
			var page []RecordHead
			err := s.View(ctx, func(tx *Tx) error {
				return tx.rows("read journal", `SELECT seq, step, kind FROM record WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?`,
					[]any{run, after, headPage}, func(scan func(...any) error) error {
						var h RecordHead
						err := scan(&h.Seq, &h.Step, &h.Kind)
						page = append(page, h)
						return err
					})
			})
			if err != nil {
				yield(RecordHead{}, err)
				return
			}
			for _, h := range page {
				if !yield(h, nil) {
					return
				}
				after = h.Seq
			}
			if len(page) < headPage {
				return
			}
		}
	}
}

// Record reads one record of a run's journal; found is false when there is none of that number.
func (s *Store) Record(ctx context.Context, run string, seq int64) (r Record, found bool, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		var ms int64
		var data string
		found, err = tx.row("read journal", `SELECT seq, step, kind, time, data FROM record WHERE run = ? AND seq = ?`,
			[]any{run, seq}, &r.Seq, &r.Step, &r.Kind, &ms, &data)
		if err != nil || !found {
			return err
		}
		r.Time = fromMillis(ms)
		if r.Data, err = jsonValue(data); err != nil {
			return tx.s.unaccountable("read journal", fmt.Sprintf("run %s, record %d", run, seq), err)
		}
		return nil
	})
	return r, found && err == nil, err
}
