package agents

import (
	"encoding/json"
	"path/filepath"
	"strconv"
)

// claudeDays is how long Claude keeps a conversation that is not used, when nothing else is said.
const claudeDays = 30

// claudeSettings looks at Claude's clean-up of conversations, and at what its own interface would ask first.
func claudeSettings(p person) []Finding {
	found, ok := claudeCleanup(p)
	if !ok {
		return found
	}
	file := filepath.Join(p.get("HOME"), ".claude.json")
	if dir := p.get("CLAUDE_CONFIG_DIR"); dir != "" {
		file = filepath.Join(dir, ".claude.json")
	}
	var state struct {
		Onboarded bool `json:"hasCompletedOnboarding"`
		Projects  map[string]struct {
			Trusted bool `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	if _, fault := p.readJSON(file, &state); fault != nil {
		return append(found, fault...)
	}
	const shown = "which xmd open and <Session.Launch> would show first"
	switch {
	case !state.Onboarded:
		found = append(found, p.say(Warning, "start `claude` in "+p.root+" once and answer",
			"its own interface asks for a theme, a sign-in and whether to trust the folder, %s", shown))
	case !p.above(func(dir string) bool { return state.Projects[dir].Trusted }):
		found = append(found, p.say(Warning, "start `claude` in "+p.root+" once and answer",
			"its own interface asks whether to trust %s, %s", p.root, shown))
	}
	return found
}

// claudeCleanup finds what cleanupPeriodDays is; of several files the nearer one counts. ok is false when one cannot be read.
func claudeCleanup(p person) (found []Finding, ok bool) {
	days, from := strconv.Itoa(claudeDays), ""
	user := filepath.Join(p.home, "settings.json")
	for _, file := range []string{user, filepath.Join(p.root, ".claude", "settings.json"), filepath.Join(p.root, ".claude", "settings.local.json")} {
		var settings struct {
			Days json.RawMessage `json:"cleanupPeriodDays"`
		}
		if _, fault := p.readJSON(file, &settings); fault != nil {
			return fault, false
		}
		if settings.Days != nil {
			days, from = string(settings.Days), file
		}
	}
	do := `write "cleanupPeriodDays": 3650 into ` + user
	if from != "" {
		do = "give cleanupPeriodDays a larger number in " + from
	}
	switch n, err := strconv.Atoi(days); {
	case err != nil || n < 1:
		return []Finding{p.say(Warning, do, "cleanupPeriodDays is %s in %s, which Claude does not accept: it is a whole number of days, at least 1", days, from)}, true
	case n < claudeDays:
		return []Finding{p.say(Warning, do, "Claude deletes conversations that were not used for %s, those that are to be continued too (cleanupPeriodDays in %s)", daysOf(n), from)}, true
	case n == claudeDays:
		return []Finding{p.say(OK, do, "Claude deletes conversations that were not used for %s", daysOf(n))}, true
	default:
		return []Finding{p.say(OK, "", "Claude keeps conversations that are not used for %s", daysOf(n))}, true
	}
}

func daysOf(n int) string {
	if n == 1 {
		return "1 day"
	}
	return strconv.Itoa(n) + " days"
}
