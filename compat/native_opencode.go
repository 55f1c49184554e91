package compat

// NativeOpenCode returns the file whose digest tells builds of OpenCode apart, given the path of the person's `opencode`. It returns false
// when there is no such file.
func NativeOpenCode(path string) (string, bool) { return here().OpenCode(path) }

// NativeGemini knows no such file: Gemini is a script in many pieces, of which the command is the smallest.
func NativeGemini(string) (string, bool) { return "", false }

// OpenCode finds OpenCode's program: the command itself, which the npm package puts in the place of its script when it is installed.
func (l Locator) OpenCode(path string) (string, bool) {
	real, err := l.Disk.Real(path)
	if err != nil || !l.native(real) {
		return "", false
	}
	return ifNamed(real, "opencode")
}
