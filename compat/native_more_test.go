package compat_test

import (
	"testing"

	"xmd/compat"
)

func TestNativeCopilotAndGrok(t *testing.T) {
	const (
		lib    = "/usr/lib/node_modules/"
		loader = lib + "@github/copilot/npm-loader.js"
		glibc  = lib + "@github/copilot-linux-x64/copilot"
		musl   = lib + "@github/copilot-linuxmusl-x64/copilot"
	)
	link := func(target string, more disk) disk {
		more["/usr/bin/agent"] = "-> " + target
		return more
	}
	for name, c := range map[string]struct {
		agent, goos, goarch string // empty: linux, amd64
		disk                disk
		want                string // empty: no digest
	}{
		"copilot, hoisted":          {"copilot", "", "", link(loader, disk{loader: script, glibc: elf}), glibc},
		"copilot, nested":           {"copilot", "", "", link(loader, disk{loader: script, lib + "@github/copilot/node_modules/@github/copilot-linux-x64/copilot": elf}), lib + "@github/copilot/node_modules/@github/copilot-linux-x64/copilot"},
		"copilot, musl":             {"copilot", "", "", link(loader, disk{loader: script, musl: elf}), musl},
		"copilot, both libraries":   {"copilot", "", "", link(loader, disk{loader: script, glibc: elf, musl: elf}), ""},
		"copilot, another machine":  {"copilot", "linux", "arm64", link(loader, disk{loader: script, glibc: elf}), ""},
		"copilot, darwin":           {"copilot", "darwin", "arm64", link(loader, disk{loader: script, lib + "@github/copilot-darwin-arm64/copilot": "\xcf\xfa\xed\xfe"}), lib + "@github/copilot-darwin-arm64/copilot"},
		"copilot, its own program":  {"copilot", "", "", link("/opt/copilot/copilot", disk{"/opt/copilot/copilot": elf}), "/opt/copilot/copilot"},
		"copilot, somebody's shim":  {"copilot", "", "", link("/opt/copilot/run.sh", disk{"/opt/copilot/run.sh": script}), ""},
		"copilot, a manager's shim": {"copilot", "", "", link("/opt/mise/bin/mise", disk{"/opt/mise/bin/mise": elf}), ""},
		"copilot, gone":             {"copilot", "", "", disk{}, ""},
		"grok, installed":           {"grok", "", "", link(lib+"@xai-official/grok/bin/grok-native", disk{lib + "@xai-official/grok/bin/grok-native": elf}), lib + "@xai-official/grok/bin/grok-native"},
		"grok, its script":          {"grok", "", "", link(lib+"@xai-official/grok/bin/grok", disk{lib + "@xai-official/grok/bin/grok": script}), ""},
		"grok, in its home":         {"grok", "", "", link("/home/me/.grok/bin/grok-1.0.41", disk{"/home/me/.grok/bin/grok-1.0.41": elf}), "/home/me/.grok/bin/grok-1.0.41"},
		"grok, a manager's shim":    {"grok", "", "", link("/opt/mise/bin/mise", disk{"/opt/mise/bin/mise": elf}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := compat.Locator{Disk: c.disk, OS: "linux", Arch: "amd64"}
			if c.goos != "" {
				l.OS, l.Arch = c.goos, c.goarch
			}
			find := map[string]func(string) (string, bool){"copilot": l.Copilot, "grok": l.Grok}[c.agent]
			got, ok := find("/usr/bin/agent")
			if got != c.want || ok != (c.want != "") {
				t.Errorf("%q, %v; want %q", got, ok, c.want)
			}
		})
	}
}
