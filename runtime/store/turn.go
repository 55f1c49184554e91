package store

import (
	"fmt"
	"slices"
	"time"
)

// Accepted says what is known about whether the agent has a turn's words.
type Accepted string

// The three answers.
const (
	AcceptedYes     Accepted = "yes"
	AcceptedNo      Accepted = "no"
	AcceptedUnknown Accepted = "unknown" // the next attach settles it
)

// Turn is one turn of a generation, kept outside runs so that pruning never touches it. It holds digests, no text.
type Turn struct {
	Key
	Number       int // from 1 in each generation
	Run          string
	Step         string
	Time         time.Time // zero: now
	WordsDigest  string    // of the words, normalised by whoever compares
	WordsLetters int       // letters and digits in them
	ReplyDigest  string    // empty until the reply is known
	ReplyLetters int
	Accepted     Accepted
}

// NextTurn is the number that the next turn of a generation gets.
func (tx *Tx) NextTurn(k Key) (int, error) {
	home, ok, err := tx.home(k)
	if err != nil || !ok {
		return 1, err
	}
	var last int
	_, err = tx.row("read turns",
		`SELECT COALESCE(MAX(number), 0) FROM turn WHERE agent = ? AND session = ? AND root = ? AND generation = ?`,
		[]any{home.Agent, home.Session, home.Root, home.Generation}, &last)
	return last + 1, err
}

// PutTurn records a turn, or what became known about it since: a turn of the same number is replaced, but one that was
// accepted stays so.
func (tx *Tx) PutTurn(t Turn) error {
	if err := t.Key.validate(); err != nil {
		return err
	}
	if t.Number < 1 || !t.Accepted.known() {
		return fmt.Errorf("turn %d of session %s: accepted is %q", t.Number, t.Key, t.Accepted)
	}
	home, err := tx.homeToWrite(t.Key)
	if err != nil {
		return err
	}
	return tx.write("put turn",
		`INSERT INTO turn (agent, session, root, generation, number, run, step, time, words_digest, words_letters,
			reply_digest, reply_letters, accepted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET run = excluded.run, step = excluded.step, time = excluded.time,
			words_digest = excluded.words_digest, words_letters = excluded.words_letters,
			reply_digest = excluded.reply_digest, reply_letters = excluded.reply_letters,
			accepted = CASE accepted WHEN 'yes' THEN 'yes' ELSE excluded.accepted END`,
		home.Agent, home.Session, home.Root, home.Generation, t.Number, t.Run, t.Step, toMillis(tx.now(t.Time)),
		t.WordsDigest, t.WordsLetters, t.ReplyDigest, t.ReplyLetters, string(t.Accepted))
}

// LastTurns returns up to n turns of a generation, oldest first; n <= 0 means all.
func (tx *Tx) LastTurns(k Key, n int) ([]Turn, error) {
	if n <= 0 {
		n = -1
	}
	home, ok, err := tx.home(k)
	if err != nil || !ok {
		return nil, err
	}
	var turns []Turn
	err = tx.rows("read turns",
		`SELECT number, run, step, time, words_digest, words_letters, reply_digest, reply_letters, accepted FROM turn
		WHERE agent = ? AND session = ? AND root = ? AND generation = ? ORDER BY number DESC LIMIT ?`,
		[]any{home.Agent, home.Session, home.Root, home.Generation, n}, func(scan func(...any) error) error {
			t := Turn{Key: k}
			var ms int64
			err := scan(&t.Number, &t.Run, &t.Step, &ms, &t.WordsDigest, &t.WordsLetters, &t.ReplyDigest, &t.ReplyLetters, &t.Accepted)
			if err != nil {
				return err
			}
			if !t.Accepted.known() {
				return tx.s.unaccountable("read turns", fmt.Sprintf("turn %d of session %s", t.Number, k),
					fmt.Errorf("accepted is %q", t.Accepted))
			}
			t.Time = fromMillis(ms)
			turns = append(turns, t)
			return nil
		})
	slices.Reverse(turns)
	return turns, err
}

func (a Accepted) known() bool { return a == AcceptedYes || a == AcceptedNo || a == AcceptedUnknown }
