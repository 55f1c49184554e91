package runtime

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"xmd/runtime/event"
)

// scratch makes a folder for this process's own use: of an exec block's script, of output that waits; or a TempDir. Its name holds the run's, so that a
// resume finds what a killed process left. Only telling again is nobody's run: it takes no lock, and its folders must not be found.
func (r *Runner) scratch(kind string) (string, error) {
	if r.o.Offline || r.o.RunID == "" {
		return privateDir("xmd-" + kind + "-")
	}
	return privateDir("xmd-" + kind + "-" + r.o.RunID + "-")
}

// Sweep removes what killed processes of a run that goes on left in the folder for temporary files, but a TempDir that is on record. The run's
// lock must be held: nothing of them is at work then. What cannot be removed harms nobody.
func (r *Runner) Sweep(ctx context.Context) {
	if r.o.RunID == "" {
		return
	}
	r.sweepTempDirs(ctx)
	for _, kind := range []string{scratchExec, scratchOutput} {
		left, _ := filepath.Glob(filepath.Join(os.TempDir(), "xmd-"+kind+"-"+r.o.RunID+"-*"))
		for _, dir := range left {
			_ = os.RemoveAll(dir)
		}
	}
}

// sweepTempDirs removes the folders of TempDirs whose names were not on record when their process was killed: nothing can be in them.
func (r *Runner) sweepTempDirs(ctx context.Context) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), "xmd-"+scratchTempDir+"-"+r.o.RunID+"-*"))
	if len(left) == 0 {
		return
	}
	known := map[string]bool{}
	for _, step := range r.o.Past.Steps() {
		var end event.Step
		if !strings.HasPrefix(path.Base(step), "TempDir") {
			continue
		}
		if _, _, err := r.o.Past.Last(ctx, step, event.StepEnded, &end); err != nil {
			return
		}
		if dir, ok := end.Value.(string); ok {
			known[dir] = true
		}
	}
	for _, dir := range left {
		if at, err := filepath.EvalSymlinks(dir); err == nil && !known[at] {
			_ = os.Remove(dir)
		}
	}
}

// The kinds of scratch folders.
const (
	scratchExec    = "exec"
	scratchOutput  = "out"
	scratchTempDir = "dir"
)
