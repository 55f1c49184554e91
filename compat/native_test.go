package compat_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"xmd/compat"
)

// disk is a file system of paths: "-> target" is a symlink, everything else the content of a file.
type disk map[string]string

func (d disk) Real(path string) (string, error) {
	path = filepath.Clean(path)
	for range 10 {
		resolved := d.step(path)
		if resolved == path {
			break
		}
		path = resolved
	}
	for name := range d {
		if name == path || strings.HasPrefix(name, path+"/") {
			return path, nil
		}
	}
	return "", fs.ErrNotExist
}

// step resolves the first symlink in path.
func (d disk) step(path string) string {
	for at := path; at != "/"; at = filepath.Dir(at) {
		if target, ok := strings.CutPrefix(d[at], "-> "); ok {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(at), target)
			}
			return filepath.Clean(target + strings.TrimPrefix(path, at))
		}
	}
	return path
}

func (d disk) Head(path string, n int) ([]byte, error) {
	text, ok := d[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text[:min(n, len(text))]), nil
}

const (
	elf    = "\x7fELF..."
	script = "#!/usr/bin/env node\n"
)

func TestNativePrograms(t *testing.T) {
	const (
		lib        = "/usr/lib/node_modules/"
		codexEntry = lib + "@openai/codex/bin/codex.js"
		inside     = "/vendor/x86_64-unknown-linux-musl/bin/codex"
		claudePkg  = lib + "@anthropic-ai/claude-code/"
	)
	tests := []struct {
		name, agent, path string
		goos, goarch      string // empty: linux, amd64
		disk              disk
		want              string // empty: no digest
	}{
		{"npm, nested", "codex", "/usr/bin/codex", "", "", disk{
			"/usr/bin/codex": "-> ../lib/node_modules/@openai/codex/bin/codex.js", codexEntry: script,
			lib + "@openai/codex/node_modules/@openai/codex-linux-x64" + inside: elf,
		}, lib + "@openai/codex/node_modules/@openai/codex-linux-x64" + inside},
		{"npm, hoisted", "codex", "/p/node_modules/.bin/codex", "", "", disk{
			"/p/node_modules/.bin/codex":                          "-> ../@openai/codex/bin/codex.js",
			"/p/node_modules/@openai/codex/bin/codex.js":          script,
			"/p/node_modules/@openai/codex-linux-x64" + inside:    elf,
			"/p/node_modules/@openai/codex-linux-arm64" + inside:  elf,
			"/node_modules/@openai/codex-linux-x64" + inside:      elf,
			"/p/node_modules/@openai/codex-darwin-x64/vendor/x/y": elf,
		}, "/p/node_modules/@openai/codex-linux-x64" + inside},
		{"the nearest counts", "codex", codexEntry, "", "", disk{
			codexEntry: script,
			lib + "@openai/codex/node_modules/@openai/codex-linux-x64" + inside: elf,
			lib + "@openai/codex-linux-x64" + inside:                            elf,
		}, lib + "@openai/codex/node_modules/@openai/codex-linux-x64" + inside},
		{"pnpm", "codex", "/p/node_modules/@openai/codex/bin/codex.js", "", "", disk{
			"/p/node_modules/@openai/codex": "-> ../.pnpm/@openai+codex@0.162.1/node_modules/@openai/codex",
			"/p/node_modules/.pnpm/@openai+codex@0.162.1/node_modules/@openai/codex/bin/codex.js":       script,
			"/p/node_modules/.pnpm/@openai+codex@0.162.1/node_modules/@openai/codex-linux-x64":          "-> ../../../@openai+codex@0.162.1-linux-x64/node_modules/@openai/codex",
			"/p/node_modules/.pnpm/@openai+codex@0.162.1-linux-x64/node_modules/@openai/codex" + inside: elf,
		}, "/p/node_modules/.pnpm/@openai+codex@0.162.1-linux-x64/node_modules/@openai/codex" + inside},
		{"vendor in the package itself", "codex", codexEntry, "", "", disk{
			codexEntry: script, lib + "@openai/codex" + inside: elf,
		}, lib + "@openai/codex" + inside},
		{"arm64", "codex", codexEntry, "linux", "arm64", disk{
			codexEntry:                               script,
			lib + "@openai/codex-linux-x64" + inside: elf,
			lib + "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex": elf,
		}, lib + "@openai/codex-linux-arm64/vendor/aarch64-unknown-linux-musl/bin/codex"},
		{"mac", "codex", codexEntry, "darwin", "arm64", disk{
			codexEntry: script,
			lib + "@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex": "\xcf\xfa\xed\xfe",
		}, lib + "@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex"},
		{"windows", "codex", codexEntry, "windows", "amd64", disk{
			codexEntry: script,
			lib + "@openai/codex-win32-x64/vendor/x86_64-pc-windows-msvc/bin/codex.exe": "MZ",
		}, lib + "@openai/codex-win32-x64/vendor/x86_64-pc-windows-msvc/bin/codex.exe"},
		{"an unknown platform", "codex", codexEntry, "plan9", "amd64", disk{codexEntry: script}, ""},
		{"an unknown processor", "codex", codexEntry, "linux", "riscv64", disk{codexEntry: script}, ""},
		{"the wrapper without its package", "codex", codexEntry, "", "", disk{codexEntry: script}, ""},
		{"a package whose file is a script", "codex", codexEntry, "", "", disk{
			codexEntry: script, lib + "@openai/codex-linux-x64" + inside: script}, ""},
		{"a single binary", "codex", "/opt/bin/codex", "", "", disk{
			"/opt/bin/codex": "-> /opt/cask/codex/0.162.1/codex-x86_64-unknown-linux-musl",
			"/opt/cask/codex/0.162.1/codex-x86_64-unknown-linux-musl": elf,
		}, "/opt/cask/codex/0.162.1/codex-x86_64-unknown-linux-musl"},
		{"somebody's own script", "codex", "/home/a/bin/codex", "", "", disk{"/home/a/bin/codex": "#!/bin/sh\n"}, ""},
		{"a version manager's shim", "codex", "/home/a/.volta/bin/codex", "", "", disk{
			"/home/a/.volta/bin/codex": "-> volta-shim", "/home/a/.volta/bin/volta-shim": elf}, ""},
		{"nothing there", "codex", "/usr/bin/codex", "", "", disk{}, ""},
		{"a dangling link", "codex", "/usr/bin/codex", "", "", disk{"/usr/bin/codex": "-> /gone"}, ""},

		{"npm", "claude", "/usr/bin/claude", "", "", disk{
			"/usr/bin/claude": "-> ../lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", claudePkg + "bin/claude.exe": elf,
			lib + "@anthropic-ai/claude-code-linux-x64/claude": elf,
		}, claudePkg + "bin/claude.exe"},
		{"the native installer", "claude", "/home/a/.local/bin/claude", "", "", disk{
			"/home/a/.local/bin/claude":                    "-> ../share/claude/versions/2.1.332",
			"/home/a/.local/share/claude/versions/2.1.332": elf,
		}, "/home/a/.local/share/claude/versions/2.1.332"},
		{"the one-file script", "claude", claudePkg + "cli.js", "", "", disk{claudePkg + "cli.js": script}, claudePkg + "cli.js"},
		{"the placeholder alone", "claude", claudePkg + "bin/claude.exe", "", "", disk{
			claudePkg + "bin/claude.exe": "echo \"Error"}, ""},
		{"the fallback script", "claude", claudePkg + "cli-wrapper.cjs", "", "", disk{
			claudePkg + "cli-wrapper.cjs": script, lib + "@anthropic-ai/claude-code-linux-x64/claude": elf,
		}, lib + "@anthropic-ai/claude-code-linux-x64/claude"},
		{"the fallback script on musl", "claude", claudePkg + "cli-wrapper.cjs", "linux", "arm64", disk{
			claudePkg + "cli-wrapper.cjs": script, lib + "@anthropic-ai/claude-code-linux-arm64-musl/claude": elf,
		}, lib + "@anthropic-ai/claude-code-linux-arm64-musl/claude"},
		{"both C libraries", "claude", claudePkg + "cli-wrapper.cjs", "", "", disk{
			claudePkg + "cli-wrapper.cjs": script, lib + "@anthropic-ai/claude-code-linux-x64/claude": elf,
			lib + "@anthropic-ai/claude-code-linux-x64-musl/claude": elf,
		}, ""},
		{"somebody's own script", "claude", "/home/a/bin/claude", "", "", disk{"/home/a/bin/claude": "#!/bin/sh\n"}, ""},
		{"nothing there", "claude", "/usr/bin/claude", "", "", disk{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.agent+"/"+tt.name, func(t *testing.T) {
			l := compat.Locator{Disk: tt.disk, OS: "linux", Arch: "amd64"}
			if tt.goos != "" {
				l.OS, l.Arch = tt.goos, tt.goarch
			}
			find := l.Codex
			if tt.agent == "claude" {
				find = l.Claude
			}
			if got, ok := find(tt.path); got != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q %v\nwant %q", got, ok, tt.want)
			}
		})
	}
}

// The same on a real file system, with the layout that npm makes.
func TestNativeCodexOnDisk(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the layout is that of linux/amd64")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put := func(path, text string) string {
		path = filepath.Join(base, "node_modules", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("@openai/codex/bin/codex.js", script)
	put(".bin/other", "")
	want := put("@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex", elf)
	command := filepath.Join(base, "node_modules/.bin/codex")
	if err := os.Symlink("../@openai/codex/bin/codex.js", command); err != nil {
		t.Fatal(err)
	}
	if got, ok := compat.NativeCodex(command); !ok || got != want {
		t.Errorf("%q %v", got, ok)
	}
	if got, ok := compat.NativeClaude(command); ok {
		t.Errorf("Codex as Claude: %q", got)
	}
	if got, ok := compat.NativeCodex(put(".bin/empty/codex", "")); ok {
		t.Errorf("an empty file: %q", got)
	}
	if got, ok := compat.NativeClaude(put("claude/claude", elf)); !ok || filepath.Base(got) != "claude" {
		t.Errorf("%q %v", got, ok)
	}
}
