package compat

import (
	"regexp"
	"strings"
	"sync"
)

// Build is what is known of one build of an agent. Both fields may be empty: not known.
type Build struct {
	Version string // the token that ParseVersion found, as text
	Digest  string // hex SHA-256 of the file that changes with an upgrade
}

// versionForm is compiled when first used: start-up must not pay for it.
var versionForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+(\.\d+)+([-+][0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?`)
})

// maxVersionLine bounds what is looked at: a program that prints its novel on one line has no version there.
const maxVersionLine = 4096

// ParseVersion finds the version in the first line of what `--version` printed, or in a version that a handshake names.
// It takes the first thing of the form of a version, and says nothing about what such a version can do.
func ParseVersion(firstLine string) (string, bool) {
	line, _, _ := strings.Cut(firstLine, "\n")
	if len(line) > maxVersionLine {
		line = line[:maxVersionLine]
	}
	v := versionForm().FindString(line)
	return v, v != ""
}

// ParseUserAgent finds the version in a `userAgent` of the form `name/version (…)`: after the first slash.
func ParseUserAgent(userAgent string) (string, bool) {
	_, rest, ok := strings.Cut(userAgent, "/")
	if !ok {
		return "", false
	}
	return ParseVersion(rest)
}

// ShownName is how an agent is called in warnings: the product's name if it is a known one, else the agent's own.
func ShownName(agent string) string {
	switch agent {
	case "codex":
		return "Codex"
	case "claude":
		return "Claude"
	case "gemini":
		return "Gemini"
	case "copilot":
		return "Copilot"
	case "grok":
		return "Grok"
	case "opencode":
		return "OpenCode"
	}
	return agent
}

// Warning returns the one line that is due before the first live work on a session, if any. established is what the
// session's route recorded, nil if nothing; isNew says that the session is being established now. Versions are compared
// as text.
func Warning(shownName string, established *Build, seen Build, isNew bool) (string, bool) {
	switch {
	case seen.Version == "":
		return "The version of " + shownName + " could not be determined. Continuing.", true
	case isNew || established == nil || established.Version == "":
		return "", false
	case seen.Version != established.Version:
		return shownName + " has changed from " + established.Version + " to " + seen.Version +
			" since this session was established. Continuing the existing conversation.", true
	case seen.Digest != "" && established.Digest != "" && seen.Digest != established.Digest:
		return shownName + " " + seen.Version +
			" is a different build than when this session was established. Continuing the existing conversation.", true
	}
	return "", false
}
