package agenttest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Rollout is the file in which Codex keeps the conversation.
func Rollout(t testing.TB, p Place, id string) string {
	t.Helper()
	return one(t, rolloutPattern(p, id))
}

func rolloutPattern(p Place, id string) string {
	return filepath.Join(p.Home, ".codex", "sessions", "*", "*", "*", "rollout-*-"+id+".jsonl")
}

func rolloutFile(p Place, id string) string { return onlyOne(rolloutPattern(p, id)) }

// CutRollout leaves the first line of the rollout: Codex loads it, and from its database even replays it, while its model
// gets nothing.
func CutRollout(t testing.TB, p Place, id string) {
	t.Helper()
	file := Rollout(t, p, id)
	first, _, _ := bytes.Cut(read(t, file), []byte("\n"))
	write(t, file, append(first, '\n'))
}

// swapRollout puts another id into the rollout and forgets the database, as if the file had been copied from elsewhere.
func swapRollout(t testing.TB, p Place, id string) {
	t.Helper()
	file := Rollout(t, p, id)
	write(t, file, bytes.ReplaceAll(read(t, file), []byte(id), []byte(otherID)))
	databases, _ := filepath.Glob(filepath.Join(p.Home, ".codex", "*.sqlite*"))
	for _, db := range databases {
		remove(t, db)
	}
}

// claudeSession is the file in which Claude keeps the conversation.
func claudeSession(t testing.TB, p Place, id string) string {
	t.Helper()
	return one(t, claudePattern(p, id))
}

func claudePattern(p Place, id string) string {
	return filepath.Join(p.Home, ".claude", "projects", "*", id+".jsonl")
}

func claudeFile(p Place, id string) string { return onlyOne(claudePattern(p, id)) }

func swapClaude(t testing.TB, p Place, id string) {
	t.Helper()
	file := claudeSession(t, p, id)
	write(t, file, bytes.ReplaceAll(read(t, file), []byte(id), []byte(otherID)))
}

// otherID is the id of a conversation that never was.
const otherID = "01a22d05-1111-4582-8c37-a1c080809b60"

// onlyOne is the file that matches; "" if it is not one.
func onlyOne(pattern string) string {
	if files, err := filepath.Glob(pattern); err == nil && len(files) == 1 {
		return files[0]
	}
	return ""
}

func one(t testing.TB, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) != 1 {
		t.Fatalf("%d files match %s, want one (%v)", len(files), pattern, err)
	}
	return files[0]
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t testing.TB, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t testing.TB, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}
