package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// Why a program could not be started, for errors.Is on a *StartError.
var (
	ErrNotFound      = errors.New("not found")
	ErrNotExecutable = errors.New("not executable")
	ErrLaunch        = errors.New("cannot be launched")
)

// StartError says that a program could not be started.
type StartError struct {
	// Reason is ErrNotFound, ErrNotExecutable or ErrLaunch.
	Reason error
	// Name is what was asked for: Options.Name, or the program's name or path.
	Name string
	// Looked is what was looked for, and where, when Reason is ErrNotFound.
	Looked string
	// Path is the file that was found, "" when none was.
	Path string
	// Err is the cause, or nil.
	Err error
}

// Error names the program, the reason, and what was looked for or found.
func (e *StartError) Error() string {
	text := e.Name + " " + e.Reason.Error()
	if !errors.Is(e.Reason, ErrLaunch) {
		text = e.Name + " is " + e.Reason.Error()
	}
	switch {
	case e.Looked != "":
		text += ": looked for " + e.Looked
	case e.Path != "" && e.Path != e.Name:
		text += ": " + e.Path
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Is reports whether target is the reason.
func (e *StartError) Is(target error) bool { return target == e.Reason }

// Unwrap returns the cause.
func (e *StartError) Unwrap() error { return e.Err }

func (o *Options) name() string {
	if o.Name != "" {
		return o.Name
	}
	if len(o.Argv) > 0 {
		return o.Argv[0]
	}
	return "program"
}

// startError gives what launching failed with its reason.
func (o *Options) startError(path string, err error) error {
	var known *StartError
	if errors.As(err, &known) {
		return err
	}
	out := &StartError{Reason: ErrLaunch, Name: o.name(), Path: path, Err: err}
	switch {
	case errors.Is(err, syscall.E2BIG):
		size := len(strings.Join(o.Argv, " ")) + len(strings.Join(o.Env, " "))
		out.Err = fmt.Errorf("arguments and environment are too long (%d bytes together): %w", size, err)
	case errors.Is(err, fs.ErrNotExist): // the file was there: what runs it is not
		out.Err = fmt.Errorf("its interpreter or loader is missing: %w", err)
	case errors.Is(err, fs.ErrPermission):
		out.Reason = ErrNotExecutable
	}
	return out
}
