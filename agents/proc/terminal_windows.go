package proc

import (
	"context"
	"io"
	"os"
)

// Terminal cannot be handed over on this platform.
type Terminal struct{}

// OpenTerminal returns ErrNoTerminal.
func OpenTerminal(_, _, _ *os.File) (*Terminal, error) { return nil, ErrNoTerminal }

// Close does nothing.
func (*Terminal) Close() error { return nil }

// Run returns ErrNoTerminal.
func (*Terminal) Run(context.Context, Options) (Exit, error) { return Exit{}, ErrNoTerminal }

// Input returns in.
func Input(in *os.File) io.Reader { return in }

// Suspend does nothing.
func Suspend() {}
