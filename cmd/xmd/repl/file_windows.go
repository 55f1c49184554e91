package repl

import "os"

const noFollow = 0

// narrowed has nothing to do: the person's folder is the person's.
func narrowed(*os.File, os.FileInfo) bool { return true }
