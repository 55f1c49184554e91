package agenttest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Gemini is real Gemini CLI of that version; the test is skipped as not run if it is not installed. Each of its processes finds what was
// kept before as if it were two minutes older, since a load waits for the end of the minute in which a conversation was made.
func Gemini(version string) Target {
	s := modelScript()
	s.Think, s.Thought = "THINK **Looking** a thought\nSAY done", "**Looking**\na thought"
	s.Tool, s.ToolSays = `CALL glob {"pattern":"*"}`, "" // it never shows what a tool returned
	s.Steps = "SAY I will look now.\n" + s.Tool + "\nSAY That was all."
	s.Fail, s.Failed = "HTTP 400", "scripted failure 400" // it retries a 500 in silence, for longer than a test waits
	start := realAgent("gemini", version, GeminiEnv)
	return Target{
		Name:    "gemini " + version,
		Row:     Row{"Gemini", overItself},
		Release: version,
		Version: version,
		Model:   startModel,
		At: func(t testing.TB, p Place) Reach {
			t.Helper()
			AgeGemini(t, p, 2*time.Minute)
			return start(t, p)
		},
		Script: s,
		Store: Store{
			Unknown: otherID,
			Remove: func(t testing.TB, p Place, id string) {
				t.Helper()
				for _, file := range geminiFiles(p, id) {
					remove(t, file)
				}
			},
			Swap: func(t testing.TB, p Place, id string) *Reach {
				t.Helper()
				for _, file := range geminiFiles(p, id) {
					write(t, file, bytes.ReplaceAll(read(t, file), []byte(id), []byte(otherID)))
				}
				return nil
			},
			File:  geminiFile,
			Ended: `"type":"gemini"`,
			Trims: true,
		},
	}
}

const geminiMinute = "2006-01-02T15-04"

// geminiFiles are the files in which Gemini keeps a conversation, "*" every one: the oldest first.
func geminiFiles(p Place, id string) []string {
	files, _ := filepath.Glob(filepath.Join(p.Home, ".gemini", "tmp", "*", "chats", "session-*-"+id[:min(8, len(id))]+".jsonl"))
	return files
}

func geminiFile(p Place, id string) string {
	if files := geminiFiles(p, id); len(files) > 0 {
		return files[0]
	}
	return ""
}

// AgeGemini makes every conversation of Gemini's older, as far as the names of its files say.
func AgeGemini(t testing.TB, p Place, by time.Duration) {
	t.Helper()
	for _, file := range geminiFiles(p, "*") {
		dir, name := filepath.Split(file)
		name = strings.TrimPrefix(name, "session-")
		minute, rest := name[:len(geminiMinute)], name[len(geminiMinute):]
		made, err := time.Parse(geminiMinute, minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file, dir+"session-"+made.Add(-by).Format(geminiMinute)+rest); err != nil {
			t.Fatal(err)
		}
	}
}

// OpenCode is real OpenCode of that version; the test is skipped as not run if it is not installed.
func OpenCode(version string) Target {
	s := modelScript()
	s.Tool, s.ToolSays = `CALL read {"filePath":"."}`, "" // what else it does unasked, it does with a program that it would fetch
	s.Steps = "SAY I will look now.\n" + s.Tool + "\nSAY That was all."
	s.Fail, s.Failed = "HTTP 400", "scripted failure 400" // it retries a 500 in silence, for longer than a test waits
	return Target{
		Name:    "opencode " + version,
		Row:     Row{"OpenCode", overItself},
		Release: version,
		Version: version,
		Model:   startModel,
		At:      realAgent("opencode", version, OpenCodeEnv),
		Script:  s,
		Store: Store{
			Durable: true,
			Unknown: "ses_" + strings.Repeat("0", 12) + "ffeNoSuchSession0",
			Remove:  func(t testing.TB, p Place, _ string) { t.Helper(); forgetOpenCode(t, p) },
		},
	}
}

// openCodeStore is the database in which OpenCode keeps all conversations.
func openCodeStore(p Place) string {
	return filepath.Join(p.Home, ".local", "share", "opencode", "opencode.db")
}

func forgetOpenCode(t testing.TB, p Place) {
	t.Helper()
	remove(t, openCodeStore(p))
	for _, beside := range []string{"-wal", "-shm"} {
		if err := os.Remove(openCodeStore(p) + beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}
