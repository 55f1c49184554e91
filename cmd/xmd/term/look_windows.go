package term

import "os"

// look finds no place for a status line: its console is not asked.
func look(*os.File) (columns int, front bool) { return 0, false }
