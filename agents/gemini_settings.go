package agents

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// geminiConfig is what is looked at of Gemini's settings.json.
type geminiConfig struct {
	General struct {
		Retention struct {
			Enabled  *bool       `json:"enabled"`
			MaxAge   string      `json:"maxAge"`
			MaxCount json.Number `json:"maxCount"`
		} `json:"sessionRetention"`
	} `json:"general"`
	Security struct {
		FolderTrust struct {
			Enabled *bool `json:"enabled"`
		} `json:"folderTrust"`
	} `json:"security"`
}

// geminiDays is how long Gemini keeps a conversation that is not used, when nothing else is said.
const geminiDays = 30

// geminiSettings looks at Gemini's clean-up of conversations, at conversations that its next start would delete, and at the trust without
// which it leaves out tool servers and GEMINI.md, saying nothing. The settings of the folder count over those of the home.
func geminiSettings(p person) []Finding {
	user := filepath.Join(p.home, "settings.json")
	var config geminiConfig
	for _, file := range []string{user, filepath.Join(p.root, ".gemini", "settings.json")} {
		if _, fault := p.readJSON(file, &config); fault != nil {
			return fault
		}
	}
	found := []Finding{geminiRetention(p, config, user)}
	if n := len(p.agent.Driver.TwinsIn(p.home)); n > 0 && (config.General.Retention.Enabled == nil || *config.General.Retention.Enabled) {
		found = append(found, p.say(Warning, "do not start Gemini yourself before the next run with it: xmd removes them before it starts Gemini",
			"%s left behind by loads make Gemini delete the conversations they belong to at its next start", fileCount(n)))
	}
	return append(found, geminiTrust(p, config)...)
}

func fileCount(n int) string {
	if n == 1 {
		return "1 file"
	}
	return strconv.Itoa(n) + " files"
}

func geminiRetention(p person, config geminiConfig, file string) Finding {
	r := config.General.Retention
	never := `write "general": {"sessionRetention": {"enabled": false}} into ` + file
	switch {
	case r.Enabled != nil && !*r.Enabled:
		return p.say(OK, "", "Gemini deletes no conversations by itself")
	case r.MaxCount != "":
		return p.say(Warning, never, "Gemini keeps only the last %s conversations (general.sessionRetention), also of those that are to be continued", r.MaxCount)
	case r.MaxAge != "" && shortAge(r.MaxAge):
		return p.say(Warning, never, "Gemini deletes conversations that are older than %s (general.sessionRetention), those that are to be continued too", r.MaxAge)
	case r.MaxAge != "":
		return p.say(OK, never, "Gemini deletes conversations that are older than %s", r.MaxAge)
	}
	return p.say(OK, never, "Gemini deletes conversations that were not used for %d days", geminiDays)
}

// shortAge says whether an age like 7d, 24h, 2w or 1m is shorter than what Gemini would take by itself. What it does not understand counts as
// short.
func shortAge(age string) bool {
	hours := map[string]int{"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24}
	number := strings.TrimRight(age, "hdwm")
	n, err := strconv.Atoi(number)
	return err != nil || n*hours[age[len(number):]] < geminiDays*24
}

// geminiTrust looks for the rule that the folder falls under: the nearest one above it.
func geminiTrust(p person, config geminiConfig) []Finding {
	enabled := config.Security.FolderTrust.Enabled
	switch env := p.get("GEMINI_CLI_TRUST_WORKSPACE"); {
	case env == "true", env != "false" && enabled != nil && !*enabled:
		return nil
	}
	file := filepath.Join(p.home, "trustedFolders.json")
	if named := p.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH"); named != "" {
		file = named
	}
	var rules map[string]string
	if _, fault := p.readJSON(file, &rules); fault != nil {
		return fault
	}
	trusted, decided := false, false
	p.above(func(dir string) bool {
		for path, rule := range rules {
			under := path
			if rule == "TRUST_PARENT" {
				under = filepath.Dir(path)
			}
			if under == dir {
				decided, trusted = true, rule != "DO_NOT_TRUST"
			}
		}
		return decided
	})
	if trusted && p.get("GEMINI_CLI_TRUST_WORKSPACE") != "false" {
		return nil
	}
	return []Finding{p.say(Warning, fmt.Sprintf("start `gemini` in %s once and trust it, or set GEMINI_CLI_TRUST_WORKSPACE=true", p.root),
		"Gemini does not trust %s: there it leaves out GEMINI.md and the workflow's tools, and says nothing", p.root)}
}
