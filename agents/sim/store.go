package sim

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// item is one line of a session's file. The first line has type session; each turn is a user item, what the agent
// did, and an end item. A turn that the process did not live to end has no end item.
type item struct {
	Type string `json:"type"` // session, user, rule, thought, agent, tool, plan, end

	// session
	Version int    `json:"v,omitempty"`
	ID      string `json:"id,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	Created string `json:"created,omitempty"`

	Turn      int               `json:"turn,omitempty"`
	MessageID string            `json:"messageId,omitempty"` // user, agent, thought
	Content   []json.RawMessage `json:"content,omitempty"`   // user: the blocks as they came
	Text      string            `json:"text,omitempty"`      // agent, thought
	Rule      string            `json:"rule,omitempty"`      // rule: which rule of the script answered
	Update    json.RawMessage   `json:"update,omitempty"`    // tool: the tool_call in its last state; plan: the update
	Stop      string            `json:"stop,omitempty"`      // end
}

// store is the folder with the sessions of this agent. Processes share it; it has no lock but the fault's.
type store struct{ dir string }

// errNoSession is what reading a session that does not exist gives.
var errNoSession = errors.New("no such session")

// path refuses ids that we never give, so that no id reaches outside the folder.
func (s store) path(id string) (string, error) {
	if id == "" || len(id) > 128 || strings.Trim(id, "0123456789abcdefABCDEF-") != "" {
		return "", errNoSession
	}
	return filepath.Join(s.dir, id+".jsonl"), nil
}

// newID gives a random version 4 UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// append adds items at the end of a session's file, in one write, making the file if need be.
func (s store) append(id string, items ...item) error {
	path, err := s.path(id)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, it := range items {
		b.Write(encode(it))
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Close())
}

// read gives the items of a session, its session item first. Lines that are no items (a torn last line, say) are
// skipped, as agents do. A file without a session item is no session.
func (s store) read(id string) ([]item, error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoSession
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	items, err := readItems(f, 0)
	if err == nil && (len(items) == 0 || items[0].Type != "session") {
		err = errNoSession
	}
	return items, err
}

// readItems reads items up to the end, or the first limit of them if limit is not 0.
func readItems(in io.Reader, limit int) ([]item, error) {
	var items []item
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		var it item
		if json.Unmarshal(line, &it) == nil && it.Type != "" {
			items = append(items, it)
		}
		if err == io.EOF || limit > 0 && len(items) == limit {
			return items, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// remove deletes a session for good.
func (s store) remove(id string) error {
	path, err := s.path(id)
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errNoSession
}

// listed is one session as session/list shows it.
type listed struct {
	ID      string `json:"sessionId"`
	Cwd     string `json:"cwd"`
	Title   string `json:"title,omitempty"`
	Updated string `json:"updatedAt"`
}

// list gives one page of the sessions of cwd (of all, when empty), the last used first, and the cursor of the next
// page, empty on the last. A page goes on where the last one ended, also when sessions come or go in between.
func (s store) list(cwd, cursor string, page int) ([]listed, string, error) {
	after, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return nil, "", invalidParams("unknown cursor")
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	all := []listed{}
	for _, e := range entries {
		if l, ok := s.summary(e); ok && (cwd == "" || l.Cwd == cwd) && (cursor == "" || l.key() < string(after)) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Compare(b.key(), a.key()) })
	if len(all) <= page {
		return all, "", nil
	}
	return all[:page], base64.RawURLEncoding.EncodeToString([]byte(all[page-1].key())), nil
}

func (l listed) key() string { return l.Updated + " " + l.ID }

// listTime is RFC 3339 with all its digits, so that it sorts as text.
const listTime = "2006-01-02T15:04:05.000000000Z"

func (s store) summary(e fs.DirEntry) (listed, bool) {
	id, ok := strings.CutSuffix(e.Name(), ".jsonl")
	info, err := e.Info()
	if !ok || err != nil {
		return listed{}, false
	}
	f, err := os.Open(filepath.Join(s.dir, e.Name()))
	if err != nil {
		return listed{}, false
	}
	defer f.Close()
	head, err := readItems(f, 2)
	if err != nil || len(head) == 0 || head[0].Type != "session" {
		return listed{}, false
	}
	l := listed{ID: id, Cwd: head[0].Cwd, Updated: info.ModTime().UTC().Format(listTime)}
	if len(head) > 1 {
		l.Title = title(blocksText(head[1].Content))
	}
	return l, true
}

// title is the first line of a text, at most 80 characters of it.
func title(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if r := []rune(line); len(r) > 80 {
		line = string(r[:79]) + "…"
	}
	return line
}

// lock takes the one writer's lock of a session, or says that another process has it. The lock is the kernel's: it
// goes with the process.
func (s store) lock(id string) (release func(), err error) {
	path, err := s.path(id)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		f.Close()
		return nil, busyError(id)
	}
	return func() { f.Close() }, nil
}

func busyError(id string) *rpcError {
	return &rpcError{Code: -32600, Message: "session " + id + " already has an active writer",
		Data: object{"reason": "thread_active_writer", "threadId": id}}
}

func now() string { return time.Now().UTC().Format(time.RFC3339Nano) }
