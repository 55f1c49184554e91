package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"xmd/runtime"
	"xmd/runtime/store"
)

// exportSchema names the form of a session that `sessions export` writes and `sessions import` reads.
const exportSchema = "session-export.v1"

// sessionExport is a session for another store. It holds digests and ids, and no word of a conversation.
type sessionExport struct {
	Schema  string         `json:"schema"`
	Agent   string         `json:"agent"`
	Session string         `json:"session"`
	Root    string         `json:"root"` // where it lived
	Routes  []exportRoute  `json:"routes"`
	Turns   []exportTurn   `json:"turns"`
	Marks   []exportedMark `json:"marks"`
}

// exportRoute is a route as it is stored: the record's text, and the sum that guards it.
type exportRoute struct {
	Record string `json:"record"`
	Sum    string `json:"sum"`
}

type exportTurn struct {
	Generation   int            `json:"generation"`
	Number       int            `json:"number"`
	Time         time.Time      `json:"time"`
	Run          string         `json:"run"`
	Step         string         `json:"step"`
	WordsDigest  string         `json:"wordsDigest"`
	WordsLetters int            `json:"wordsLetters"`
	ReplyDigest  string         `json:"replyDigest"`
	ReplyLetters int            `json:"replyLetters"`
	Accepted     store.Accepted `json:"accepted"`
}

type exportedMark struct {
	Generation int             `json:"generation"`
	Name       string          `json:"name"`
	Run        string          `json:"run"`
	Time       time.Time       `json:"time"`
	Data       json.RawMessage `json:"data,omitempty"`
}

func exportVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	f, err := h.findWhole(ctx, s, "export", args[0], c.String("root"))
	if err != nil {
		return err
	}
	if !f.routed {
		return noRoute(f, "there is nothing to export")
	}
	key := f.route.SessionKey()
	if err := notTalk("export", key); err != nil {
		return err
	}
	e := sessionExport{Schema: exportSchema, Agent: key.Agent, Session: key.Session, Root: key.Root, Turns: []exportTurn{}, Marks: []exportedMark{}}
	err = s.View(ctx, func(tx *store.Tx) error { return e.read(tx, key) })
	if err != nil {
		return storeProblem(err)
	}
	return writeJSON(p, e)
}

func (e *sessionExport) read(tx *store.Tx, key store.SessionKey) error {
	// Read strictly first: what cannot be read here cannot be read elsewhere.
	sel := store.Selector{Agent: key.Agent, Session: key.Session}
	if _, err := tx.Routes(store.Filter{Selector: sel, Root: key.Root, All: true, Forgotten: true}); err != nil {
		return err
	}
	routes, err := tx.StoredRoutes(key)
	if err != nil {
		return err
	}
	for _, r := range routes {
		e.Routes = append(e.Routes, exportRoute{r.Record, r.Sum})
		turns, err := tx.LastTurns(key.Generation(r.Generation), 0)
		if err != nil {
			return err
		}
		for _, t := range turns {
			e.Turns = append(e.Turns, exportTurn{
				t.Generation, t.Number, t.Time, t.Run, t.Step, t.WordsDigest, t.WordsLetters, t.ReplyDigest, t.ReplyLetters, t.Accepted,
			})
		}
		marks, err := tx.Marks(key.Generation(r.Generation))
		if err != nil {
			return err
		}
		for _, m := range marks {
			if m.Name != store.MarkMoved { // where it lives is the other store's to say
				e.Marks = append(e.Marks, exportedMark{m.Generation, m.Name, m.Run, m.Time, m.Data})
			}
		}
	}
	return nil
}

// readExport reads what export wrote, strictly.
func readExport(data []byte) (sessionExport, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var e sessionExport
	if err := dec.Decode(&e); err != nil {
		return e, jsonProblem(data, err)
	}
	return e, nil
}

// nativeIDs are those of the routes that can be read; of any other the store says what is wrong.
func (e sessionExport) nativeIDs() []string {
	var ids []string
	for _, one := range e.Routes {
		var r store.Route
		if json.Unmarshal([]byte(one.Record), &r) == nil {
			ids = append(ids, r.NativeSessionID)
		}
	}
	return ids
}

func (e sessionExport) saved() store.Saved {
	var s store.Saved
	for _, r := range e.Routes {
		s.Routes = append(s.Routes, store.StoredRoute{Record: r.Record, Sum: r.Sum})
	}
	for _, t := range e.Turns {
		s.Turns = append(s.Turns, store.Turn{
			Key: store.Key{Generation: t.Generation}, Number: t.Number, Time: t.Time, Run: t.Run, Step: t.Step,
			WordsDigest: t.WordsDigest, WordsLetters: t.WordsLetters, ReplyDigest: t.ReplyDigest, ReplyLetters: t.ReplyLetters, Accepted: t.Accepted,
		})
	}
	for _, m := range e.Marks {
		s.Marks = append(s.Marks, store.Mark{Key: store.Key{Generation: m.Generation}, Name: m.Name, Run: m.Run, Time: m.Time, Data: m.Data})
	}
	return s
}

// restoreExport puts an exported session into this store.
func restoreExport(ctx context.Context, s *store.Store, e sessionExport, root string) (imported, error) {
	key := store.SessionKey{Agent: e.Agent, Session: e.Session, Root: root}
	lock, err := lockSession(ctx, s, key, "xmd sessions import")
	if err != nil {
		return imported{}, err
	}
	defer func() { _ = lock.Close() }()
	done := imported{}
	err = s.Do(ctx, func(tx *store.Tx) error {
		if err := idle(tx, key); err != nil {
			return err
		}
		if done.created, err = tx.RestoreSession(lock, key, e.saved()); err != nil {
			return err
		}
		done.route, _, err = tx.Current(key)
		return err
	})
	if err == nil && done.route.NativeSessionID == "" {
		err = runtime.Errorf(runtime.KindInvalid, "every conversation of session %s was forgotten before it was exported", key)
	}
	return done, err
}

// idle refuses a session whose last owner left something open.
func idle(tx *store.Tx, key store.SessionKey) error {
	owner, there, err := tx.Owner(key)
	if err == nil && there && owner.State != store.OwnerIdle {
		err = &store.RecoveryError{Owner: owner}
	}
	return err
}

// jsonProblem says where a text stops being the JSON that is wanted.
func jsonProblem(data []byte, err error) error {
	var at int64 = -1
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var all any
	switch {
	case errors.As(json.Unmarshal(data, &all), &syntax): // a decoder counts from the token it is at
		at, err = syntax.Offset, syntax
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(data)) {
		return err
	}
	before := data[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	col := len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return fmt.Errorf("%d:%d: %w", line, max(col, 1), err)
}
