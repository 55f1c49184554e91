package compat

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Disk is what a Locator needs of the file system.
type Disk interface {
	// Real returns the path with all symlinks resolved.
	Real(path string) (string, error)
	// Head returns the first bytes of a plain file, at most n.
	Head(path string, n int) ([]byte, error)
}

// Locator finds the file that really changes when an agent is upgraded. What npm puts on PATH is often a script that is
// the same in every version, so its digest would say "the same build" of different ones; a version manager's shim would
// say "another build" of the same. Where neither can be told, there is no digest.
type Locator struct {
	Disk Disk
	OS   string // as runtime.GOOS
	Arch string // as runtime.GOARCH
}

// NativeCodex returns the file whose digest tells builds of Codex apart, given the path of the person's `codex`.
// It returns false when there is no such file.
func NativeCodex(path string) (string, bool) { return here().Codex(path) }

// NativeClaude is the same for Claude, given the path of the person's `claude`.
func NativeClaude(path string) (string, bool) { return here().Claude(path) }

func here() Locator { return Locator{osDisk{}, runtime.GOOS, runtime.GOARCH} }

// Codex finds Codex's program: the command itself if it is one, else the platform's package beside the npm script.
func (l Locator) Codex(path string) (string, bool) {
	real, err := l.Disk.Real(path)
	if err != nil {
		return "", false
	}
	if l.native(real) {
		return ifNamed(real, "codex")
	}
	if filepath.Base(real) != "codex.js" {
		return "", false // somebody's own wrapper: what it starts is not known
	}
	platform, triple := codexPlatform(l.OS, l.Arch)
	if triple == "" {
		return "", false
	}
	inside := filepath.Join("vendor", triple, "bin", l.exe("codex"))
	if file, ok := l.inPackage(filepath.Dir(real), platform, inside); ok {
		return file, true
	}
	return l.program(filepath.Join(filepath.Dir(real), "..", inside))
}

// codexPlatform names Codex's npm package and the triple in it for a platform.
func codexPlatform(goos, goarch string) (pkg, triple string) {
	cpu := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[goarch]
	if cpu == "" {
		return "", ""
	}
	switch goos {
	case "linux", "android":
		return "@openai/codex-linux-" + nodeArch(goarch), cpu + "-unknown-linux-musl"
	case "darwin":
		return "@openai/codex-darwin-" + nodeArch(goarch), cpu + "-apple-darwin"
	case "windows":
		return "@openai/codex-win32-" + nodeArch(goarch), cpu + "-pc-windows-msvc"
	}
	return "", ""
}

// Claude finds Claude's program: the command itself (the npm package links it over its placeholder when it is
// installed), the one-file script of older releases, or the platform's package behind the fallback script.
func (l Locator) Claude(path string) (string, bool) {
	real, err := l.Disk.Real(path)
	if err != nil {
		return "", false
	}
	if l.native(real) {
		return ifNamed(real, "claude")
	}
	dir := filepath.Dir(real)
	switch filepath.Base(real) {
	case "cli.js": // the whole program
		return ifNamed(real, "claude")
	case "cli-wrapper.cjs", "claude.exe": // the placeholder is no program
	default:
		return "", false
	}
	found := ""
	for _, suffix := range []string{"", "-musl"} {
		pkg := "@anthropic-ai/claude-code-" + nodeOS(l.OS) + "-" + nodeArch(l.Arch) + suffix
		file, ok := l.inPackage(dir, pkg, l.exe("claude"))
		if ok && found != "" {
			return "", false // both are installed: which one runs is Node's to say
		}
		if ok {
			found = file
		}
	}
	return found, found != ""
}

// inPackage looks a package up as Node does from a script in dir: in node_modules of each folder upward.
func (l Locator) inPackage(dir, pkg, inside string) (string, bool) {
	for {
		if file, ok := l.program(filepath.Join(dir, "node_modules", filepath.FromSlash(pkg), inside)); ok {
			return file, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", false
		}
		dir = up
	}
}

// program returns the real path of a native program.
func (l Locator) program(path string) (string, bool) {
	real, err := l.Disk.Real(path)
	if err != nil || !l.native(real) {
		return "", false
	}
	return real, true
}

// native says whether a file is a program of the machine and no script: ELF, PE or Mach-O.
func (l Locator) native(path string) bool {
	head, err := l.Disk.Head(path, 4)
	if err != nil {
		return false
	}
	for _, magic := range []string{
		"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	return false
}

// ifNamed returns a program whose path speaks of the agent. Version managers put one program of theirs in the place of
// many commands; its path speaks of the manager.
func ifNamed(path, agent string) (string, bool) {
	parts := strings.Split(filepath.ToSlash(path), "/")
	for _, part := range parts[max(0, len(parts)-3):] {
		if strings.Contains(strings.ToLower(part), agent) {
			return path, true
		}
	}
	return "", false
}

func (l Locator) exe(name string) string {
	if l.OS == "windows" {
		return name + ".exe"
	}
	return name
}

func nodeArch(goarch string) string {
	if goarch == "amd64" {
		return "x64"
	}
	return goarch
}

func nodeOS(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

type osDisk struct{}

func (osDisk) Real(path string) (string, error) { return filepath.EvalSymlinks(path) }

func (osDisk) Head(path string, n int) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("no plain file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, n)
	n, err = io.ReadFull(f, head)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}
