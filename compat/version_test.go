package compat_test

import (
	"strings"
	"testing"

	"xmd/compat"
)

func TestParseVersion(t *testing.T) {
	for line, want := range map[string]string{
		"codex-cli 0.153.2\n":                "0.153.2",
		"2.1.332 (Claude Code)":              "2.1.332",
		"GitHub Copilot CLI 1.0.92.":         "1.0.92",
		"0.61.0\r":                           "0.61.0",
		"v1.2.3-alpha.4":                     "1.2.3-alpha.4",
		"v1.2.3-alpha.4+build.5":             "1.2.3-alpha.4",
		"1.2.3+build-7.x":                    "1.2.3+build-7.x",
		"1.2.3-":                             "1.2.3",
		"1.2.3-rc..1":                        "1.2.3-rc",
		"build 7 of 12.0, 13.1":              "12.0",
		"2026.11.30.1 nightly":               "2026.11.30.1",
		"codex 99999999999999999999.0.0":     "99999999999999999999.0.0",
		"first line\n1.2.3":                  "",
		"version seven":                      "",
		"7":                                  "",
		"1..2":                               "",
		"":                                   "",
		"\x1b[31m0.5.0\x1b[0m":               "0.5.0",
		strings.Repeat("x", 5000) + " 1.2.3": "",
	} {
		if got, ok := compat.ParseVersion(line); got != want || ok != (want != "") {
			t.Errorf("%.40q: %q %v, want %q", line, got, ok, want)
		}
	}
}

func TestParseUserAgent(t *testing.T) {
	for ua, want := range map[string]string{
		"codex_cli_rs/0.162.1 (Debian 13.0; x86_64)": "0.162.1",
		"name 1.2.3/4.5.6":                           "4.5.6",
		"0.162.1":                                    "",
		"xmd/":                                       "",
		"":                                           "",
	} {
		if got, ok := compat.ParseUserAgent(ua); got != want || ok != (want != "") {
			t.Errorf("%q: %q %v", ua, got, ok)
		}
	}
}

func TestWarning(t *testing.T) {
	build := func(version, digest string) *compat.Build { return &compat.Build{Version: version, Digest: digest} }
	const (
		changed = "Codex has changed from 0.153.2 to 0.162.1 since this session was established. Continuing the existing conversation."
		other   = "Codex 0.162.1 is a different build than when this session was established. Continuing the existing conversation."
		unknown = "The version of Codex could not be determined. Continuing."
	)
	tests := []struct {
		name        string
		established *compat.Build
		seen        *compat.Build
		isNew       bool
		want        string
	}{
		{"changed", build("0.153.2", ""), build("0.162.1", ""), false, changed},
		{"changed, with digests", build("0.153.2", "a"), build("0.162.1", "b"), false, changed},
		{"changed, same digest", build("0.153.2", "a"), build("0.162.1", "a"), false, changed},
		{"same", build("0.162.1", "a"), build("0.162.1", "a"), false, ""},
		{"other build", build("0.162.1", "a"), build("0.162.1", "b"), false, other},
		{"digest not ready", build("0.162.1", "a"), build("0.162.1", ""), false, ""},
		{"digest not recorded", build("0.162.1", ""), build("0.162.1", "b"), false, ""},
		{"not obtained", build("0.162.1", "a"), build("", "b"), false, unknown},
		{"not obtained, same digest", build("0.162.1", "a"), build("", "a"), false, unknown},
		{"not obtained, new session", nil, build("", ""), true, unknown},
		{"not obtained, route without a build", nil, build("", "a"), false, unknown},
		{"new session", nil, build("0.162.1", "a"), true, ""},
		{"route without a build", nil, build("0.162.1", "a"), false, ""},
		{"route with a digest alone", build("", "a"), build("0.162.1", "b"), false, ""},
		{"compared as text", build("0.153.2", ""), build("0.153.2.0", ""), false,
			"Codex has changed from 0.153.2 to 0.153.2.0 since this session was established. Continuing the existing conversation."},
		{"older again", build("0.162.1", ""), build("0.153.2", ""), false,
			"Codex has changed from 0.162.1 to 0.153.2 since this session was established. Continuing the existing conversation."},
	}
	for _, tt := range tests {
		got, due := compat.Warning("Codex", tt.established, *tt.seen, tt.isNew)
		if got != tt.want || due != (tt.want != "") {
			t.Errorf("%s: %q %v, want %q", tt.name, got, due, tt.want)
		}
	}
}

func TestShownName(t *testing.T) {
	for agent, want := range map[string]string{
		"codex": "Codex", "claude": "Claude", "gemini": "Gemini", "copilot": "Copilot", "grok": "Grok",
		"opencode": "OpenCode", "mine": "mine",
	} {
		if got := compat.ShownName(agent); got != want {
			t.Errorf("%s is shown as %s", agent, got)
		}
	}
}
