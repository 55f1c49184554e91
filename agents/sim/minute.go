package sim

import (
	"os"
	"path/filepath"
	"time"
)

// minuteFile is where the fault minute-loses keeps the minute in which a session was made: in the name of a file beside it, as Gemini does.
func (s store) minuteFile(id string, made time.Time) string {
	return filepath.Join(s.dir, "session-"+made.UTC().Format("2006-01-02T15-04")+"-"+id[:min(8, len(id))])
}

// noteMinute keeps the minute in which a session is made.
func (s store) noteMinute(id string) error {
	return os.WriteFile(s.minuteFile(id, time.Now()), nil, 0o600)
}

// loseMinute deletes a session that was made in this minute, and says whether it did.
func (s store) loseMinute(id string) bool {
	if _, err := os.Stat(s.minuteFile(id, time.Now())); err != nil {
		return false
	}
	return s.remove(id) == nil
}
