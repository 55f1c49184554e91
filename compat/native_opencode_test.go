package compat_test

import (
	"testing"

	"xmd/compat"
)

func TestNativeOpenCode(t *testing.T) {
	const pkg = "/usr/lib/node_modules/opencode-ai/bin/opencode.exe"
	for name, c := range map[string]struct {
		disk disk
		want string
	}{
		"npm":                  {disk{"/usr/bin/opencode": "-> ../lib/node_modules/opencode-ai/bin/opencode.exe", pkg: elf}, pkg},
		"its own installer":    {disk{"/usr/bin/opencode": "-> /home/a/.opencode/bin/opencode", "/home/a/.opencode/bin/opencode": elf}, "/home/a/.opencode/bin/opencode"},
		"the script of npm":    {disk{"/usr/bin/opencode": script}, ""},
		"a version manager's":  {disk{"/usr/bin/opencode": "-> /opt/volta/volta-shim", "/opt/volta/volta-shim": elf}, ""},
		"nothing there":        {disk{}, ""},
		"somebody's own shell": {disk{"/usr/bin/opencode": "#!/bin/sh\n"}, ""},
	} {
		got, ok := compat.Locator{Disk: c.disk, OS: "linux", Arch: "amd64"}.OpenCode("/usr/bin/opencode")
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, c.want)
		}
	}
}

// Gemini's command is a stub that is nearly the same in every version.
func TestNoNativeGemini(t *testing.T) {
	if got, ok := compat.NativeGemini("/usr/bin/gemini"); ok || got != "" {
		t.Errorf("%q", got)
	}
}
