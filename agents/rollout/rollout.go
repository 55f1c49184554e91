package rollout

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"xmd/agents/past"
	"xmd/runtime"
)

// maxLine bounds one record; a longer one (an image) is skipped like one that cannot be parsed.
const maxLine = 64 << 20

// Forms are the user turns of a rollout that Codex put there itself. Builds that say of each message where it comes from need none.
var Forms = past.Forms{Synthetic: []past.Frame{
	{Open: "<environment_context>", Close: "</environment_context>"},
	{Open: "<user_instructions>", Close: "</user_instructions>"},
	{Open: "<INSTRUCTIONS>", Close: "</INSTRUCTIONS>"},
	{Open: "# AGENTS.md instructions", Close: "</INSTRUCTIONS>"},
	{Open: "<turn_aborted>", Close: "</turn_aborted>"},
	{Open: "<user_shell_command>", Close: "</user_shell_command>"},
	{Open: "<subagent_notification>", Close: "</subagent_notification>"},
	{Open: "<skill>", Close: "</skill>"},
	{Open: "<recommended_plugins>", Close: "</recommended_plugins>"},
}}

// Found is what a rollout file says of its conversation.
type Found struct {
	Files   int    // with the id in their name, readable or not
	ID      string // of the first record; "" when it states none
	History runtime.History
}

// Read finds and reads the rollout of id below the provider home. Of several files, of which nobody can say which is
// used, the history is unknown, and the id counts if all state the same. The error is an I/O error or that of ctx.
func Read(ctx context.Context, home, id string) (Found, error) {
	files, err := find(ctx, home, id)
	if err != nil {
		return Found{}, err
	}
	var all Found
	for i, name := range files {
		one, err := ReadFile(ctx, name)
		if err != nil {
			return Found{}, err
		}
		switch {
		case i == 0:
			all = one
		case one.ID != all.ID:
			return Found{Files: len(files)}, nil
		default:
			all.History = runtime.History{}
		}
	}
	all.Files = len(files)
	return all, nil
}

// find lists the files named after id, wherever below the home's folders of conversations they are.
func find(ctx context.Context, home, id string) ([]string, error) {
	if home == "" || id == "" || strings.ContainsAny(id, `/\`) {
		return nil, nil
	}
	var found []string
	visit := func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if base := d.Name(); !d.IsDir() && strings.HasPrefix(base, "rollout-") && strings.Contains(base, "-"+id+".jsonl") {
			found = append(found, name)
		}
		return ctx.Err()
	}
	for _, folder := range []string{"sessions", "archived_sessions"} {
		if err := filepath.WalkDir(filepath.Join(home, folder), visit); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ReadFile reads one rollout file. Files is 1. The error is an I/O error or that of ctx.
func ReadFile(ctx context.Context, name string) (Found, error) {
	if !strings.HasSuffix(name, ".jsonl") {
		return Found{Files: 1}, nil // packed in a way that is not known
	}
	f, err := os.Open(name)
	if err != nil {
		return Found{}, err
	}
	defer f.Close()
	found, err := parse(ctx, f)
	found.Files = 1
	return found, err
}

// parse streams a rollout.
func parse(ctx context.Context, r io.Reader) (Found, error) {
	ro := reader{past: past.New(&Forms)}
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		if err := ctx.Err(); err != nil {
			return Found{}, context.Cause(ctx)
		}
		line, err := oneLine(b)
		switch {
		case len(line) > maxLine:
			ro.past.Unread = true
		case json.Valid(line):
			ro.record(line)
		}
		if errors.Is(err, io.EOF) {
			return ro.result(), nil
		}
		if err != nil {
			return Found{}, err
		}
	}
}

// oneLine reads one line; of one beyond the bound only so much comes back that it is seen to be.
func oneLine(b *bufio.Reader) ([]byte, error) {
	line, err := b.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := append([]byte(nil), line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = b.ReadSlice('\n')
		if len(long) <= maxLine {
			long = append(long, line...)
		}
	}
	return long, err
}
