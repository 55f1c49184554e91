package compat

import "path/filepath"

// NativeCopilot returns the file whose digest tells builds of Copilot apart, given the path of the person's `copilot`. It returns false
// when there is no such file.
func NativeCopilot(path string) (string, bool) { return here().Copilot(path) }

// NativeGrok is the same for Grok, given the path of the person's `grok`.
func NativeGrok(path string) (string, bool) { return here().Grok(path) }

// Copilot finds Copilot's program: the command itself if it is one, else that of the platform's package beside the npm script, which is
// the same script in every version.
func (l Locator) Copilot(path string) (string, bool) {
	real, err := l.Disk.Real(path)
	if err != nil {
		return "", false
	}
	if l.native(real) {
		return ifNamed(real, "copilot")
	}
	if filepath.Base(real) != "npm-loader.js" {
		return "", false // somebody's own wrapper: what it starts is not known
	}
	found := ""
	for _, libc := range copilotSystems(l.OS) {
		file, ok := l.inPackage(filepath.Dir(real), "@github/copilot-"+libc+"-"+nodeArch(l.Arch), l.exe("copilot"))
		if ok && found != "" {
			return "", false // both are installed: which one runs is Node's to say
		}
		if ok {
			found = file
		}
	}
	return found, found != ""
}

func copilotSystems(goos string) []string {
	if goos == "linux" {
		return []string{"linux", "linuxmusl"}
	}
	return []string{nodeOS(goos)}
}

// Grok finds Grok's program: the command itself, which the npm package puts in the place of its script when it is installed. What the
// script starts is not known: a program that it finds in Grok's home, whatever its version.
func (l Locator) Grok(path string) (string, bool) {
	real, err := l.Disk.Real(path)
	if err != nil || !l.native(real) {
		return "", false
	}
	return ifNamed(real, "grok")
}
