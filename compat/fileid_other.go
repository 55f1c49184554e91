//go:build !unix

package compat

import "os"

// fileID is not known here: digests are computed each time.
func fileID(*os.File) (FileID, bool) { return FileID{}, false }
