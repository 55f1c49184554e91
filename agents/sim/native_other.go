//go:build !linux

package sim

import "io"

// leaveRaw does nothing: the fault native-raw is known on Linux only.
func leaveRaw(io.Reader) {}
