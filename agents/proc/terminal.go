package proc

import (
	"errors"
	"sync"
)

// ErrNoTerminal says that this process has no terminal that it could hand over.
var ErrNoTerminal = errors.New("there is no terminal")

// handed is held while a program has the terminal: an Input then reads nothing of what is typed.
var handed sync.Mutex

// modesOff takes back what a full-screen program that was killed left switched on: it is sent to the terminal then. Mouse reports,
// bracketed paste, pushed keyboard modes and colours go, the cursor is shown. Terminals that lack one of them ignore it.
const modesOff = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l\x1b[<u\x1b[?25h\x1b[0m"
