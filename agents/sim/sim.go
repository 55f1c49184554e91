package sim

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// Version is what the agent calls itself unless the fault version says otherwise.
const Version = "1.0.0"

const crashCode = 7

// options is what the flags and the environment say.
type options struct {
	home   string
	script string
	faults faults
}

// Main runs the agent until stdin ends, ctx ends, or a fault or script ends it, and gives the exit code (see the
// package comment). args are the words after `xmd sim`. getenv must not be nil; Main reads no environment but through
// it. stdin is read by a goroutine that outlives Main if ctx ends first, so the caller closes stdin or exits then.
// Main never exits the process and closes none of its streams.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	if len(args) > 0 && args[0] == nativeFlag {
		return nativeMain(ctx, args[1:], stdin, stdout, stderr, getenv)
	}
	if len(args) > 0 && args[0] == codexFlag {
		return codexMain(ctx, args[1:], stdin, stdout, stderr, getenv)
	}
	opts, done, code := parseArgs(ctx, args, stdout, stderr, getenv)
	if done {
		return code
	}
	rules, code := loadScript(opts.script, stderr)
	if code != 0 {
		return code
	}
	if opts.faults.is("crash", "start") {
		return crashCode
	}
	if opts.faults.on("ignore-term") {
		signal.Ignore(syscall.SIGTERM)
		ctx = context.WithoutCancel(ctx)
	}
	a := newAgent(ctx, opts, rules, stdout, stderr)
	defer a.stop()
	if opts.faults.on("grandchild") {
		if err := a.spawn(opts.faults["grandchild"]); err != nil {
			fmt.Fprintln(stderr, "xmd sim:", err)
			return 1
		}
	}
	return a.serve(ctx, stdin)
}

// parseArgs reads flags and environment. done says that the program is over, with code: help, version, or an error.
func parseArgs(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) (o options, done bool, code int) {
	o.faults = faults{}
	fail := func(err error) (options, bool, int) {
		fmt.Fprintf(stderr, "xmd sim: %v\n\n%s", err, usage())
		return o, true, 2
	}
	for _, spec := range splitFaults(getenv("XMD_SIM_FAULT")) {
		if err := o.faults.set(spec); err != nil {
			return fail(fmt.Errorf("XMD_SIM_FAULT: %w", err))
		}
	}
	fs := flag.NewFlagSet("xmd sim", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // its own messages are not ours
	fs.StringVar(&o.home, "home", "", "")
	fs.StringVar(&o.script, "script", getenv("XMD_SIM_SCRIPT"), "")
	version := fs.Bool("version", false, "")
	fs.Func("fault", "", o.faults.set)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage())
		return o, true, 0
	case err != nil:
		return fail(err)
	case fs.NArg() > 0:
		return fail(fmt.Errorf("unexpected argument %q", fs.Arg(0)))
	case *version:
		return o, true, printVersion(ctx, o.faults, stdout)
	}
	if o.home == "" {
		o.home = defaultHome(getenv)
	}
	if o.home == "" {
		return fail(errors.New("no home: give --home DIR, or set HOME"))
	}
	return o, false, 0
}

func defaultHome(getenv func(string) string) string {
	if d := getenv("XMD_SIM_HOME"); d != "" {
		return d
	}
	if d := getenv("XDG_STATE_HOME"); filepath.IsAbs(d) { // a relative one is to be ignored, says its specification
		return filepath.Join(d, "xmd-sim")
	}
	if d := getenv("HOME"); d != "" {
		return filepath.Join(d, ".local", "state", "xmd-sim")
	}
	return ""
}

func printVersion(ctx context.Context, f faults, stdout io.Writer) int {
	if f.on("version-hang") {
		<-ctx.Done()
		return 143
	}
	if v, ok := f["version"]; ok {
		fmt.Fprintln(stdout, v)
	} else {
		fmt.Fprintln(stdout, "xmd-sim", Version)
	}
	if f.on("version-exit") {
		return f.number("version-exit", 1)
	}
	return 0
}

func usage() string {
	return `usage: xmd sim [--home DIR] [--script FILE] [--fault NAME[=VALUE]]… [--version]

The scripted agent: an ACP agent on stdin and stdout that costs nothing. It echoes prompts, remembers codewords,
keeps its sessions, and misbehaves on demand.

  --home DIR      where sessions are kept (XMD_SIM_HOME; else $XDG_STATE_HOME/xmd-sim or ~/.local/state/xmd-sim)
  --script FILE   answers by this document of <WhenPrompt template="Fix {?id}">…</WhenPrompt> (XMD_SIM_SCRIPT)
  --fault NAME    misbehaves so; may be repeated (XMD_SIM_FAULT: several, separated by commas, \, inside a value)
  --version       prints the version

Without a script, or where no rule matches, a prompt is echoed as "turn N: …", the question for the codeword is
answered from the session's history, and a first line of one of these is obeyed:
  SAY text · CHUNKS n bytes · TOOLS n · PERM kind · SLEEP ms · HANG · THINK text · PLAN n · USAGE used size
  FAIL code message · EXIT code · SPAWN options · SERVERS · CALL tool arguments

In a script: <Say chunks={n}> <Thought> <Plan> <ToolCall kind title input diff outcome ask> <Usage used size cost input output>
  <CallTool name args server kind title ask as/> <Wait ms={n}/> <Exit code={n}/> <Error code={n} message/>, and {name} for what {?name} of the template matched.

Faults:
` + describeFaults()
}

// serve reads frames until something ends the agent.
func (a *agent) serve(ctx context.Context, stdin io.Reader) int {
	if a.faults.on("junk") {
		a.junk()
	}
	eof := make(chan struct{})
	go func() {
		defer close(eof)
		readFrames(stdin, a.handle, func() {
			a.conn.reply([]byte("null"), nil, &rpcError{Code: -32700, Message: "Parse error"})
		})
	}()
	var gone <-chan struct{} = a.gone
	var ended <-chan struct{} = eof
	if a.faults.on("ignore-eof") {
		gone, ended = nil, nil
	}
	select {
	case code := <-a.exit:
		return code
	case <-ctx.Done():
		return 143
	case <-gone:
		return 0
	case <-ended:
		// A crash in the handling of the last frames ends the reader too: it goes first.
		select {
		case code := <-a.exit:
			return code
		default:
			return 0
		}
	}
}

// stop ends all turns and waits a moment for them; one that is stuck in a write to a full pipe is left behind.
func (a *agent) stop() {
	a.mu.Lock()
	a.closing = true
	a.mu.Unlock()
	a.end(errGone)
	done := make(chan struct{})
	go func() { a.turns.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(500 * time.Millisecond):
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.sessions {
		s.release()
		s.detach()
	}
}
