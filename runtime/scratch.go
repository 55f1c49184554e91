package runtime

import (
	"os"
	"path/filepath"
)

// scratch makes a folder for this process's own use: of an exec block's script, of output that waits. Its name holds the run's, so that a
// resume finds what a killed process left. Only telling again is nobody's run: it takes no lock, and its folders must not be found.
func (r *Runner) scratch(kind string) (string, error) {
	if r.o.Offline || r.o.RunID == "" {
		return privateDir("xmd-" + kind + "-")
	}
	return privateDir("xmd-" + kind + "-" + r.o.RunID + "-")
}

// sweep removes what earlier processes of this run left. The run's lock is held, so nothing of them is at work. What cannot be removed
// harms nobody.
func (r *Runner) sweep() {
	if r.o.RunID == "" {
		return
	}
	for _, kind := range []string{scratchExec, scratchOutput} {
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), "xmd-"+kind+"-"+r.o.RunID+"-*"))
		for _, dir := range left {
			_ = os.RemoveAll(dir)
		}
	}
}

// The kinds of scratch folders.
const (
	scratchExec   = "exec"
	scratchOutput = "out"
)
