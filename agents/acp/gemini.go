package acp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Gemini keeps a conversation as a file of records, one a line, named by the minute it was made in and the beginning of its id. A load
// makes a second one, which has what Gemini tells its model at the start of any conversation, and goes on writing into the first. At its
// next start Gemini takes the second for a broken conversation and deletes every file of that id, the first one too: unless the second
// one is gone by then. What it is asked not to delete is not a way out: a settings file below the person's own counts for 0.61.0 only if
// it is root's, and not for what the person starts.

// geminiFile is what a file of Gemini's holds.
type geminiFile struct {
	id    string // of the conversation; "" when the file is none of these
	turns bool   // something of a conversation is left in it
}

// geminiRecord is one line: the head, a message, or a change of what is kept.
type geminiRecord struct {
	SessionID string          `json:"sessionId"`
	Kind      string          `json:"kind"`
	Type      string          `json:"type"`
	Content   json.RawMessage `json:"content"`
	Set       *struct {
		Messages *[]geminiRecord `json:"messages"`
	} `json:"$set"`
}

// readGemini reads a file of Gemini's. What cannot be read as one counts as a conversation.
func readGemini(name string) (geminiFile, error) {
	f, err := os.Open(name)
	if err != nil {
		return geminiFile{}, err
	}
	defer func() { _ = f.Close() }() // it is only read
	var g geminiFile
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		g.take(bytes.TrimSpace(line))
		if errors.Is(err, io.EOF) {
			return g, nil
		}
		if err != nil {
			return g, err
		}
	}
}

func (g *geminiFile) take(line []byte) {
	var r geminiRecord
	switch {
	case len(line) == 0:
	case json.Unmarshal(line, &r) != nil:
		g.turns = true
	case r.Set != nil:
		if r.Set.Messages != nil {
			g.turns = false
			for _, m := range *r.Set.Messages {
				g.turns = g.turns || m.says()
			}
		}
	case r.SessionID != "" && r.Type == "":
		g.id = r.SessionID
	default:
		g.turns = g.turns || r.says()
	}
}

// contextOpen begins what Gemini tells its model at the start of any conversation.
const contextOpen = "<session_context>"

// says tells a message of a conversation from that.
func (r *geminiRecord) says() bool {
	var text string
	if json.Unmarshal(r.Content, &text) != nil {
		var parts []struct{ Text string }
		if json.Unmarshal(r.Content, &parts) != nil || len(parts) == 0 {
			return true
		}
		text = parts[0].Text
	}
	return r.Type != "user" || !strings.HasPrefix(strings.TrimSpace(text), contextOpen)
}

// holds says whether a file of the conversation has something of it.
func (c *conn) holds(id string) bool {
	for _, name := range c.files(id, every) {
		if g, err := readGemini(name); err != nil || g.turns {
			return true
		}
	}
	return false
}

// dropTwins removes the files that loads left beside a conversation, or beside every one. It must not fail what is going on: a file that is
// still there is removed the next time.
func (c *conn) dropTwins(id string) {
	if !c.p.Twins {
		return
	}
	for _, name := range twinFiles(c.files(id, every)) {
		_ = os.Remove(name)
	}
}

// TwinsIn lists the files in a home for whose sake the agent's next start deletes the conversations they stand beside. It only reads.
func (p Profile) TwinsIn(home string) []string {
	if !p.Twins {
		return nil
	}
	return twinFiles(p.filesIn(home, every, every))
}

// twinFiles are those of these files that have nothing of the conversation another one of the same folder has.
func twinFiles(names []string) []string {
	groups := map[string][]string{}
	for _, name := range names {
		key := filepath.Dir(name) + "/" + idPart(name)
		groups[key] = append(groups[key], name)
	}
	var found []string
	for _, names := range groups {
		if len(names) > 1 {
			found = append(found, twinsOf(names)...)
		}
	}
	return found
}

func twinsOf(names []string) []string {
	kept := map[string]bool{}
	empty := map[string]string{}
	for _, name := range names {
		switch g, err := readGemini(name); {
		case err != nil || g.id == "":
		case g.turns:
			kept[g.id] = true
		default:
			empty[name] = g.id
		}
	}
	var found []string
	for name, id := range empty {
		if kept[id] {
			found = append(found, name)
		}
	}
	return found
}

// idPart is what a file's name has of the id.
func idPart(name string) string {
	name = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	return name[strings.LastIndexByte(name, '-')+1:]
}

// warnRetention says once, when a conversation is made, that the person has told Gemini to delete conversations by age or number. That is
// theirs to want; by default Gemini deletes what was not used for 30 days.
func (c *conn) warnRetention() {
	home := c.p.Home(c.env)
	if !c.p.Twins || home == "" || c.notice == nil {
		return
	}
	file := filepath.Join(home, "settings.json")
	data, err := os.ReadFile(file)
	if err != nil {
		return // there is none, and so no such setting
	}
	var settings struct {
		General struct {
			SessionRetention *struct {
				Enabled  *bool           `json:"enabled"`
				MaxAge   string          `json:"maxAge"`
				MaxCount json.RawMessage `json:"maxCount"`
			} `json:"sessionRetention"`
		} `json:"general"`
	}
	if json.Unmarshal(data, &settings) != nil {
		return // Gemini says so itself
	}
	r := settings.General.SessionRetention
	if r == nil || r.Enabled != nil && !*r.Enabled || r.MaxAge == "" && r.MaxCount == nil {
		return
	}
	c.notice(fmt.Sprintf("%s deletes conversations by its setting general.sessionRetention (%s), those that are to be continued too.", c.Info.Shown, file))
}
