package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// schemaVersion is the one that this build writes. It knows those before it: a store that has one is made this when it is opened for
// writing.
const schemaVersion = 3

// schemas are what makes each schema of the one before it; the first makes it of nothing.
var schemas = [schemaVersion]string{schemaSQL, schema2SQL, schema3SQL}

//go:embed schema.sql
var schemaSQL string

//go:embed schema2.sql
var schema2SQL string

//go:embed schema3.sql
var schema3SQL string

// open prepares the directory, creates the database if there is none, and checks that it is one of ours.
func (s *Store) open(ctx context.Context) error {
	if s.opts.ReadOnly {
		return s.openReadOnly(ctx)
	}
	if err := secureDir(s.opts.Dir); err != nil {
		return err
	}
	if err := s.create(ctx); err != nil {
		return err
	}
	if err := s.connect(ctx); err != nil {
		return err
	}
	err := s.checkSchema(ctx)
	if err == nil && s.version < schemaVersion {
		err = s.upgrade(ctx)
	}
	if err != nil {
		_ = s.disconnect() // the reason is told, not what followed from it
		return err
	}
	return nil
}

// openReadOnly opens a database that is there.
func (s *Store) openReadOnly(ctx context.Context) error {
	if missing, err := s.missing(); err != nil {
		return err
	} else if missing {
		return &Error{Kind: KindFailed, Op: "open", Path: s.path, Err: errors.New("there is no store")}
	}
	if err := s.checkHeader(); err != nil {
		return err
	}
	if err := s.checkWAL(); err != nil {
		return err
	}
	if err := s.dial(ctx, dsn(s.path, "mode=ro")); err != nil {
		return err
	}
	if err := s.checkSchema(ctx); err != nil {
		_ = s.disconnect() // the reason is told, not what followed from it
		return err
	}
	return nil
}

// Close waits for the transaction in progress and closes the database. It is idempotent. Locks that are still held stay
// held: they end with Lock.Close or with the process.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		close(s.closed)
		<-s.turn
		err = s.disconnect()
		s.turn <- struct{}{}
	})
	return err
}

func (s *Store) disconnect() error {
	var errs []error
	for _, st := range s.stmts {
		errs = append(errs, st.Close())
	}
	clear(s.stmts)
	return errors.Join(append(errs, s.conn.Close(), s.db.Close())...)
}

// connect opens the one connection.
func (s *Store) connect(ctx context.Context) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := secureFile(s.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := writable(s.path); err != nil {
		return err
	}
	if err := s.checkHeader(); err != nil {
		return err
	}
	if err := s.checkWAL(); err != nil {
		return err
	}
	return s.dial(ctx, dsn(s.path, ""))
}

// dial opens the one connection of a data source.
func (s *Store) dial(ctx context.Context, source string) error {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return s.wrap("open", err)
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return s.wrap("open", err)
	}
	s.db, s.conn, s.care = db, conn, durable
	// From here on transact waits in slices (Tx.begin).
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout=%d", busySlice.Milliseconds())); err != nil {
		_ = s.disconnect()
		return s.wrap("open", err)
	}
	return nil
}

// checkHeader refuses what is no database before SQLite sees it: it would make a new one of an empty file.
func (s *Store) checkHeader() error {
	f, err := os.Open(s.path)
	if err != nil {
		return wrapOS("open", s.path, err)
	}
	defer f.Close()
	magic := make([]byte, 16)
	if _, err := io.ReadFull(f, magic); err != nil || string(magic) != "SQLite format 3\x00" {
		return &Error{Kind: KindDamaged, Op: "open", Path: s.path, Detail: damagedHint, Err: errors.New("it is no database")}
	}
	return nil
}

// dsn names the file as a URI, so that no character of its path is taken for a parameter.
func dsn(path, mode string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive letter
	}
	pragmas := []string{"busy_timeout(10000)", "trusted_schema(OFF)", "cell_size_check(ON)"}
	if mode == "" {
		pragmas = append(pragmas, "journal_mode(WAL)", "synchronous(FULL)", "secure_delete(ON)")
	}
	query := url.Values{"_pragma": pragmas}.Encode()
	if mode != "" {
		query += "&" + mode
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: query}
	return u.String()
}

// create puts a whole database where none is. It is made aside and renamed under a lock, so that the file is never seen
// empty: an empty file is damage and not a store without sessions.
func (s *Store) create(ctx context.Context) error {
	if missing, err := s.missing(); err != nil || !missing {
		return err
	}
	lock, err := s.Wait(ctx, createLimit, lockCreate, FileName, LockOwner{Command: "create"})
	if err != nil {
		return err
	}
	defer lock.Close()
	if missing, err := s.missing(); err != nil || !missing {
		return err
	}
	image, err := emptyImage()
	if err != nil {
		return s.wrap("create", err)
	}
	image = slices.Clone(image)
	_, _ = rand.Read(image[identityAt : identityAt+4]) // never fails
	if err := writeWhole(s.path, image); err != nil {
		return wrapOS("create", s.path, err)
	}
	return nil
}

// missing says that there is no database and never was one.
func (s *Store) missing() (bool, error) {
	_, err := os.Lstat(s.path)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, wrapOS("open", s.path, err)
	}
	if _, err := os.Lstat(s.path + "-wal"); err != nil {
		return true, nil
	}
	if _, err := os.Lstat(s.path); err == nil {
		return false, nil // another process created both meanwhile
	}
	return false, &Error{
		Kind: KindDamaged, Op: "open", Path: s.path,
		Detail: "the database is gone but its -wal file is there: put the database back, or move the -wal file away to begin anew",
	}
}

// writeWhole writes a file aside, makes it durable and renames it to path.
func writeWhole(path string, data []byte) error {
	aside := path + ".new"
	if err := os.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o600) // the umask may have taken bits away
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(aside)
		return err
	}
	if err := os.Rename(aside, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// emptyImage is the file of a store without records. It is built in memory, which takes no fsync.
var emptyImage = sync.OnceValues(func() ([]byte, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	for _, schema := range schemas {
		if _, err := conn.ExecContext(ctx, schema); err != nil {
			return nil, fmt.Errorf("schema: %w", err)
		}
	}
	var image []byte
	err = conn.Raw(func(c any) error {
		image, err = c.(interface{ Serialize() ([]byte, error) }).Serialize()
		return err
	})
	if err != nil {
		return nil, err
	}
	// Bytes 18 and 19 of the header are the file format's versions; 2 is WAL (https://sqlite.org/fileformat2.html).
	image[18], image[19] = 2, 2
	return image, nil
})

// upgrade makes an older store one of this build, in one transaction. Of two processes that do so at once the second finds it done.
func (s *Store) upgrade(ctx context.Context) error {
	err := s.Do(ctx, func(tx *Tx) error {
		if _, err := tx.row("open", `SELECT version FROM store`, nil, &s.version); err != nil {
			return err
		}
		for _, schema := range schemas[s.version:] {
			if _, err := s.conn.ExecContext(tx.ctx, schema); err != nil {
				return s.wrap("upgrade", err)
			}
		}
		s.version = schemaVersion
		return nil
	})
	if err != nil {
		return err
	}
	return s.checkSchema(ctx)
}

// checkSchema accepts only the schemas that this build knows, whole.
func (s *Store) checkSchema(ctx context.Context) error {
	return s.View(ctx, func(tx *Tx) error {
		var names []string
		err := tx.rows("open", `SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY 1`, nil,
			func(scan func(...any) error) error {
				var name string
				err := scan(&name)
				names = append(names, name)
				return err
			})
		if err != nil {
			return err
		}
		if !slices.Contains(names, "table store") {
			return s.unaccountable("open", "this is no store of xmd", nil)
		}
		var version int
		if found, err := tx.row("open", `SELECT version FROM store`, nil, &version); err != nil {
			return err
		} else if !found {
			return s.unaccountable("open", "the schema's version is missing", nil)
		}
		switch {
		case version > schemaVersion:
			return &Error{
				Kind: KindNewer, Op: "open", Path: s.path,
				Detail: fmt.Sprintf("it has schema %d of a later xmd, this build knows %d: use that xmd, or another --state-dir", version, schemaVersion),
			}
		case version < 1:
			return s.unaccountable("open", fmt.Sprintf("schema %d is unknown", version), nil)
		}
		s.version = version
		for _, want := range slices.Concat(schemaObjects()[:version]...) {
			if !slices.Contains(names, want) {
				return s.unaccountable("open", "the schema lacks "+want, nil)
			}
		}
		return nil
	})
}

// schemaObjects lists what each schema creates, as "table run", from its text.
var schemaObjects = sync.OnceValue(func() [][]string {
	var all [][]string
	for _, schema := range schemas {
		var names []string
		for line := range strings.Lines(schema) {
			words := strings.Fields(line)
			if len(words) >= 3 && words[0] == "CREATE" {
				names = append(names, strings.ToLower(words[1])+" "+words[2])
			}
		}
		all = append(all, names)
	}
	return all
})

// Check reads the whole database and returns an error of KindDamaged if any of it is not consistent. It takes time in
// proportion to the file.
func (s *Store) Check(ctx context.Context) error {
	return s.View(ctx, func(tx *Tx) error { return tx.check("check", `PRAGMA integrity_check(1)`) })
}

// checkTable is Check of one table, which is quick while the table is small.
func (tx *Tx) checkTable(table string) error {
	return tx.check("read "+table, `PRAGMA integrity_check(`+table+`)`)
}

func (tx *Tx) check(op, pragma string) error {
	var verdict string
	if _, err := tx.row(op, pragma, nil, &verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return &Error{Kind: KindDamaged, Op: op, Path: tx.s.path, Detail: damagedHint, Err: errors.New(verdict)}
	}
	return nil
}

const (
	damagedHint       = "the database is damaged: put a copy back and move its -wal and -shm files away, or name another --state-dir"
	unaccountableHint = "leave it as it is and use the xmd that wrote it, put a copy back, or name another --state-dir"
)

// unaccountable makes the error of something that could be read and not be understood.
func (s *Store) unaccountable(op, what string, cause error) error {
	return &Error{
		Kind: KindUnaccountable, Op: op, Path: s.path, Err: cause,
		Detail: what + ": " + ErrUnaccountable.Error() + ": " + unaccountableHint,
	}
}
