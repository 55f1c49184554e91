package native

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"xmd/runtime"
)

// Interface is how an agent's own interface is started: data, a part of the agent's profile. In its arguments {id} stands for the id of
// the conversation, {file} for the file with the instruction layer.
type Interface struct {
	Open  []string // opens a conversation; nil: xmd does not know how
	Begin []string // begins one under an id that xmd chose; nil: the agent chooses ids itself
	// Made says that a conversation is made beforehand, by Config.Maker, with its instruction layer: the interface opens it, and is given
	// no layer.
	Made bool
	// Instructions are added where there is an instruction layer: to Begin, and to Open when the same layer is given again, since some
	// versions forget it.
	Instructions []string
	Version      []string // prints the version, for an agent whose handshake tells it otherwise

	// WriterLock is a file below the provider home that whoever has the conversation open holds locked; "": there is none.
	WriterLock string
	LockHome   string        // names the folder WriterLock is below in the environment, where it is not the provider home
	FreeWait   time.Duration // how long the lock is waited for
}

// Config is an agent's interface as this machine reaches it. Nothing of it is changed.
type Config struct {
	Interface Interface
	Program   []string // what is started, before the interface's arguments
	Env       []string // added to the person's environment, KEY=value
	Home      string   // the provider home
	// Maker is the agent as conversations are made over it where Interface says Made: its connections are runtime.Beginners. nil: none can
	// be made here.
	Maker runtime.Agent
}

// Agent is an agent with an interface of its own. Immutable.
type Agent struct {
	runtime.Agent
	c Config
}

var _ runtime.Launcher = (*Agent)(nil)

// New adds an interface to an agent. It looks at nothing and starts nothing.
func New(a runtime.Agent, c Config) *Agent { return &Agent{a, c} }

// Native tells what the interface can do; see runtime.Launcher.
func (a *Agent) Native() runtime.NativeInfo {
	n := runtime.NativeInfo{Instructs: a.c.Interface.Instructions != nil, Env: a.c.Env}
	if a.c.Interface.Made && a.c.Maker != nil {
		n.Begins, n.Instructs = a.c.Maker, true
	}
	if a.c.Interface.Begin != nil {
		n.NewID = newID
	}
	if v := a.c.Interface.Version; v != nil {
		n.VersionArgv = append(slices.Clone(a.c.Program), v...)
	}
	return n
}

// newID gives a random UUID, version 4: what the agents that take an id insist on.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Window says how the interface is started; see runtime.Launcher.
func (a *Agent) Window(w runtime.WindowRequest) (runtime.Program, error) {
	i := a.c.Interface
	if err := runtime.CheckNativeID(w.ID); err != nil { // it may come from a record of others
		return runtime.Program{}, a.fail(runtime.KindFailed, "the window of %s cannot be opened: %w", a.Info().Shown, err)
	}
	args := i.Open
	if w.New {
		args = i.Begin
	}
	p := runtime.Program{Env: slices.Concat(w.Env, a.c.Env), Dir: w.Root}
	file := ""
	if w.Instructions != "" && i.Instructions != nil {
		args = append(slices.Clone(args), i.Instructions...)
		var err error
		if p.Remove, file, err = write(w.Instructions); err != nil {
			return runtime.Program{}, a.fail(runtime.KindFailed, "the instructions of %s could not be written into a file: %w", a.Info().Shown, err)
		}
	}
	p.Argv = append(slices.Clone(a.c.Program), args...)
	for n := range p.Argv[len(a.c.Program):] {
		arg := &p.Argv[len(a.c.Program)+n]
		*arg = strings.NewReplacer("{id}", w.ID, "{file}", file).Replace(*arg)
	}
	return p, nil
}

// write puts a text into a file that nobody else can read, in a folder of its own.
func write(text string) (dir, file string, err error) {
	if dir, err = os.MkdirTemp("", "xmd-launch-"); err != nil {
		return "", "", plain(err)
	}
	file = filepath.Join(dir, "instructions.md")
	err = os.Chmod(dir, 0o700) //nolint:gosec // a folder is entered by its owner alone; whatever the umask
	if err = errors.Join(err, os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, 0o600)); err != nil {
		_ = os.RemoveAll(dir)
		return "", "", plain(err)
	}
	return dir, file, nil
}

// plain is an error of the file system without the path of a temporary file.
func plain(err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// polls is how often a lock is asked for.
const polls = 250 * time.Millisecond

// Released waits until no program of the agent has the conversation open; see runtime.Launcher.
func (a *Agent) Released(ctx context.Context, id string, notice func(string)) error {
	path := a.lock(id)
	if path == "" || !held(path) {
		return nil
	}
	shown, wait := a.Info().Shown, a.c.Interface.FreeWait
	notice(fmt.Sprintf("%s has this conversation open in another program; waiting up to %s until it is free.", shown, wait))
	end := time.NewTimer(wait)
	defer end.Stop()
	again := time.NewTicker(polls)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end.C:
			e := a.fail(runtime.KindBusy, "%s still has the conversation %s open in another program: close it there, and try again", shown, id)
			e.Retryable = true
			return e
		case <-again.C:
			if !held(path) {
				return nil
			}
		}
	}
}

// lock is the file that is locked while the conversation is open somewhere; "": none is known.
func (a *Agent) lock(id string) string {
	home := a.c.Home
	if v := a.c.Interface.LockHome; v != "" {
		home = getenv(a.c.Env, v)
	}
	if a.c.Interface.WriterLock == "" || home == "" || id == "" || id != filepath.Base(id) {
		return ""
	}
	return filepath.Join(home, filepath.FromSlash(strings.ReplaceAll(a.c.Interface.WriterLock, "{id}", id)))
}

func (a *Agent) fail(kind runtime.Kind, format string, args ...any) *runtime.Error {
	e := runtime.Errorf(kind, format, args...)
	e.Agent = a.Info().Name
	return e
}

func getenv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}
