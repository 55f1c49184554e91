package repl

import "os"

const noFollow = 0

// ours is not told by a file: its access list says it.
func ours(os.FileInfo) bool { return true }

// narrowed has nothing to do: the person's folder is the person's.
func narrowed(*os.File, os.FileInfo) bool { return true }
