package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"xmd/lang/resolve"
	"xmd/runtime"
	"xmd/runtime/store"
)

// maxImport bounds a file that is imported.
const maxImport = 64 << 20

// imported is what became of one import.
type imported struct {
	route   store.Route
	created bool // false: it was there already
}

// importVerb takes over conversations that this store does not know: by their id, or from records in files.
func importVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	names := c.StringSlice("name")
	byID := c.String("agent") != "" && c.String("id") != "" && len(names) == 0
	switch {
	case len(args) == 0:
		return &usageError{message: "sessions import takes FILE…, or --agent AGENT --id ID NAME"}
	case byID && len(args) != 1:
		return &usageError{message: fmt.Sprintf("sessions import --agent --id takes one session name, got %d", len(args))}
	case !byID && c.String("id") != "" && len(args) > 1:
		return &usageError{message: "one --id is for one file"}
	}
	var jobs []importJob
	var err error
	if byID {
		jobs, err = h.importByID(c, args[0])
	} else {
		jobs, err = h.importFiles(c, args)
	}
	if err != nil {
		return err
	}
	for _, job := range jobs {
		done, err := job(ctx, s)
		if err != nil {
			return storeProblem(err)
		}
		if _, err := fmt.Fprintln(p.stdout, printable(done.line())); err != nil {
			return err
		}
	}
	return nil
}

// importJob writes one session; everything about its record was judged before.
type importJob func(ctx context.Context, s *store.Store) (imported, error)

func (d imported) line() string {
	where := fmt.Sprintf("%s in %s (conversation %s)", d.route.Key, d.route.Root, d.route.NativeSessionID)
	if !d.created {
		return where + " is here already; nothing was changed"
	}
	return fmt.Sprintf("imported %s; its first prompt checks the conversation", where)
}

// importByID is a conversation that a person names.
func (h *host) importByID(c *call, name string) ([]importJob, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return nil, &usageError{
			message: fmt.Sprintf("%s is a file, and here stands the session's name", name),
			hint:    "for a record in a file give the session's name with --name",
		}
	}
	root := h.dir
	if r := c.String("root"); r != "" {
		var err error
		if root, err = h.newRoot(r, "--root"); err != nil {
			return nil, err
		}
	}
	r := store.Route{
		Key:       store.SessionKey{Agent: c.String("agent"), Session: name, Root: root}.Generation(1),
		Transport: store.TransportACP, NativeSessionID: c.String("id"), Provenance: store.PersonAsserted,
	}
	if err := h.mayImport(r.SessionKey(), r.NativeSessionID); err != nil {
		return nil, err
	}
	return []importJob{routeJob(r, nil)}, nil
}

// mayImport checks what routes are made of, before anything is touched.
func (h *host) mayImport(key store.SessionKey, ids ...string) error {
	if _, err := h.agents.Lookup(key.Agent); err != nil && runtime.KindOf(err) == runtime.KindInvalid {
		return err // whether it is installed shows when it is used
	}
	if err := resolve.SessionName(key.Session); err != nil {
		return runtime.Errorf(runtime.KindInvalid, "%w", err)
	}
	for _, id := range ids {
		if err := runtime.CheckNativeID(id); err != nil {
			return runtime.Errorf(runtime.KindInvalid, "%w", err)
		}
	}
	return nil
}

func (h *host) importFiles(c *call, files []string) ([]importJob, error) {
	var jobs []importJob
	for _, file := range files {
		job, err := h.importFile(c, file)
		if err != nil {
			var ours *runtime.Error
			var usage *usageError
			if errors.As(err, &ours) || errors.As(err, &usage) {
				return nil, err
			}
			return nil, runtime.Errorf(runtime.KindInvalid, "%s: %w; nothing was imported", file, err)
		}
		jobs = append(jobs, job)
	}
	return jobs, nil
}

// importFile finds out what a file is. The file is only read.
func (h *host) importFile(c *call, file string) (importJob, error) {
	data, err := readBounded(file)
	if err != nil {
		return nil, err
	}
	return h.importRecord(c, data)
}

// importRecord finds out what the text of a file is.
func (h *host) importRecord(c *call, data []byte) (importJob, error) {
	m, err := members(data)
	if isForeignJournal(m) {
		return nil, errors.New("this is a journal of another build of XMD; only its session routes can be imported, journals are not read")
	}
	if err != nil {
		return nil, err
	}
	var schema string
	_ = json.Unmarshal(m["schema"], &schema)
	_, kind := m["route"]
	switch {
	case schema == exportSchema:
		return h.importExport(c, data)
	case strings.HasPrefix(schema, "session-route.") && kind:
		return h.importForeign(c, m, data)
	case schema == store.RouteSchema:
		return nil, errors.New("this is a single route of this program; xmd sessions export writes whole sessions")
	case schema != "":
		return nil, fmt.Errorf("schema: %q is no session that can be imported", schema)
	}
	return nil, errors.New("this is no session route and no export of a session: it has no schema")
}

// isForeignJournal recognises the records that other builds journal, one a line.
func isForeignJournal(m map[string]json.RawMessage) bool {
	var kind string
	_ = json.Unmarshal(m["type"], &kind)
	_, routine := m["coroutineId"]
	return routine && (kind == "yield" || kind == "close")
}

func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, plainError(err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("this is a folder")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxImport+1))
	if err == nil && len(data) > maxImport {
		err = fmt.Errorf("it is longer than %d MiB", maxImport>>20)
	}
	return data, err
}

func (h *host) importExport(c *call, data []byte) (importJob, error) {
	if c.String("id") != "" || c.String("agent") != "" || len(c.StringSlice("name")) > 0 {
		return nil, &usageError{message: "an exported session says itself what it is: --id, --agent and --name are not for it"}
	}
	e, err := readExport(data)
	if err != nil {
		return nil, err
	}
	root := h.dir
	if r := c.String("root"); r != "" {
		if root, err = h.newRoot(r, "--root"); err != nil {
			return nil, err
		}
	}
	key := store.SessionKey{Agent: e.Agent, Session: e.Session, Root: root}
	if err := h.mayImport(key, e.nativeIDs()...); err != nil {
		return nil, err
	}
	return func(ctx context.Context, s *store.Store) (imported, error) { return restoreExport(ctx, s, e, root) }, nil
}

// importForeign makes a route of ours of one of another build.
func (h *host) importForeign(c *call, m map[string]json.RawMessage, data []byte) (importJob, error) {
	f, err := readForeign(m)
	if err != nil {
		return nil, err
	}
	r := store.Route{
		Transport: f.transport(), NativeSessionID: f.nativeID, Provenance: f.provenance(),
		InstructionDigest: f.instructions, Established: f.established,
	}
	if r.Key, err = h.foreignKey(c, f); err != nil {
		return nil, err
	}
	switch id := c.String("id"); {
	case f.nativeID == "" && id == "":
		return nil, errors.New("an acp-first record names no conversation: say the agent's own id of it with --id")
	case f.nativeID != "" && id != "" && id != f.nativeID:
		return nil, fmt.Errorf("it names the conversation %s, and --id another", f.nativeID)
	case f.nativeID == "":
		r.NativeSessionID = id
	}
	if err := h.mayImport(r.SessionKey(), r.NativeSessionID); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	origin, err := json.Marshal(map[string]string{"schema": f.schema, "route": f.route, "sessionKey": f.key.text, "sum": hex.EncodeToString(sum[:])})
	return routeJob(r, origin), err
}

// foreignKey is the session that a foreign record is about. The record has digests of it: what is said must agree with them.
func (h *host) foreignKey(c *call, f foreignRoute) (store.Key, error) {
	agent := first(c.String("agent"), f.agentName())
	switch {
	case agent == "":
		return store.Key{}, errors.New("it does not say which agent it is of: say it with --agent")
	case f.launcher != "" && agent != f.launcher:
		return store.Key{}, fmt.Errorf("it is a session of %s, and --agent names another", f.launcher)
	}
	name, err := f.key.nameAmong(c.StringSlice("name"))
	if err != nil {
		return store.Key{}, err
	}
	given := c.String("root")
	dirs := []string{h.dir}
	if given != "" {
		abs, err := filepath.Abs(given)
		if err != nil {
			return store.Key{}, err
		}
		real, err := rootOf(given)
		if err != nil {
			return store.Key{}, err
		}
		dirs = []string{abs, real}
	}
	root, ok := f.key.rootAmong(dirs...)
	if !ok {
		return store.Key{}, fmt.Errorf("it is not of %s or a folder above it: say with --root in which folder the session was used, also if that is gone", first(given, h.dir))
	}
	if root, err = rootOf(root); err != nil {
		return store.Key{}, err
	}
	return store.SessionKey{Agent: agent, Session: name, Root: root}.Generation(1), nil
}

// markImported says where a route came from.
const markImported = "imported"

// routeJob writes r as the first generation of its session, or the one after those that were forgotten. Nothing else is written but
// origin, as a mark.
func routeJob(r store.Route, origin json.RawMessage) importJob {
	return func(ctx context.Context, s *store.Store) (imported, error) {
		key := r.SessionKey()
		lock, err := lockSession(ctx, s, key, "xmd sessions import")
		if err != nil {
			return imported{}, err
		}
		defer func() { _ = lock.Close() }()
		var done imported
		err = s.Do(ctx, func(tx *store.Tx) error {
			have, there, err := tx.Current(key)
			if err != nil {
				return err
			}
			if there {
				done.route = have
				return sameConversation(have, r)
			}
			if err := idle(tx, key); err != nil {
				return err
			}
			if r.Generation, err = tx.NextGeneration(key); err != nil {
				return err
			}
			if done.route, done.created, err = tx.CreateRoute(r); err != nil || origin == nil {
				return err
			}
			return tx.PutMark(store.Mark{Key: r.Key, Name: markImported, Data: origin})
		})
		return done, err
	}
}

// sameConversation lets an import be repeated, and refuses one over another conversation.
func sameConversation(have, r store.Route) error {
	if have.NativeSessionID == r.NativeSessionID {
		return nil
	}
	return runtime.Errorf(runtime.KindInvalid,
		"there is a session %s in %s already, with the conversation %s: import it under another name, or begin that one anew with xmd sessions restart %s",
		have.SessionKey(), have.Root, have.NativeSessionID, have.SessionKey())
}
