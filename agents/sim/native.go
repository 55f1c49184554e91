package sim

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// nativeFlag makes `xmd sim` the interface of a person instead of an ACP agent, as agents have one: it shows a conversation of the same
// store, takes lines from its terminal as turns, and leaves at /quit.
//
//	xmd sim --native --resume ID
//	xmd sim --native --session-id ID [--system-prompt-file FILE]
const nativeFlag = "--native"

// native is one native interface on one conversation.
type native struct {
	faults faults
	store  store
	id     string
	heard  []string
	turns  int
	fresh  []item // what begins the conversation's file, with its first turn; nil: it has been begun
	out    io.Writer
}

func nativeMain(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, getenv func(string) string) int {
	fs := flag.NewFlagSet("xmd sim --native", flag.ContinueOnError)
	fs.SetOutput(stderr)
	resume, create := fs.String("resume", "", ""), fs.String("session-id", "", "")
	layer := fs.String("system-prompt-file", "", "")
	if fs.Parse(args) != nil {
		return 2
	}
	o, done, code := parseArgs(ctx, nil, stdout, stderr, getenv) // home and faults are those of the agent
	if done {
		return code
	}
	a := newAgent(ctx, o, nil, io.Discard, stderr)
	defer a.stop()
	n := &native{faults: o.faults, store: a.store, out: stdout}
	unlock, err := n.open(*resume, *create, *layer)
	if err == nil && o.faults.on("grandchild") {
		err = a.spawn(o.faults["grandchild"])
	}
	if err != nil {
		fmt.Fprintln(stderr, "xmd sim:", err)
		return 1
	}
	defer unlock()
	defer n.watch()()
	return n.talk(stdin)
}

// open takes the conversation, and its writer lock with the fault lock.
func (n *native) open(resume, create, layer string) (unlock func(), err error) {
	if (resume == "") == (create == "") {
		return nil, errors.New("write --resume ID or --session-id ID")
	}
	n.id = resume + create
	unlock = func() {}
	if n.faults.on("lock") {
		if unlock, err = n.store.lock(n.id); err != nil {
			return nil, err
		}
	}
	items, err := n.store.read(n.id)
	switch {
	case resume != "" && errors.Is(err, errNoSession):
		return nil, fmt.Errorf("there is no session %s", n.id)
	case resume != "":
		return unlock, errors.Join(err, n.show(items))
	case err == nil:
		return nil, fmt.Errorf("session ID %s is already in use", n.id)
	case !errors.Is(err, errNoSession):
		return nil, err
	}
	return unlock, n.begin(layer)
}

// begin is a conversation that has no file before its first turn.
func (n *native) begin(layer string) error {
	cwd, err := os.Getwd()
	if err != nil {
		return err
	}
	n.fresh = []item{{Type: "session", Version: 1, ID: n.id, Cwd: cwd, Created: now()}}
	if layer != "" {
		text, err := os.ReadFile(layer)
		if err != nil {
			return err
		}
		n.fresh = append(n.fresh, item{Type: "system", Text: string(text)})
	}
	return n.show(n.fresh)
}

// show writes the conversation so far.
func (n *native) show(items []item) error {
	fmt.Fprintf(n.out, "sim, session %s\r\n", n.id)
	for _, it := range items {
		switch it.Type {
		case "system":
			fmt.Fprintf(n.out, "[system] %s\r\n", it.Text)
		case "user":
			n.heard, n.turns = append(n.heard, blocksText(it.Content)), max(n.turns, it.Turn)
			fmt.Fprintf(n.out, "> %s\r\n", blocksText(it.Content))
		case "agent":
			fmt.Fprintf(n.out, "%s\r\n", it.Text)
		}
	}
	return nil
}

// watch tells what the terminal sends, and gives what ends it.
func (n *native) watch() (stop func()) {
	if n.faults.on("native-deaf") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP)
	}
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, shownSignals...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for sig := range ch {
			fmt.Fprintf(n.out, "[%v]\r\n", sig)
		}
	}()
	return func() {
		signal.Stop(ch)
		close(ch)
		<-done
	}
}

// talk takes turns until /quit or the end of its input, and gives the exit code.
func (n *native) talk(stdin io.Reader) int {
	if n.faults.on("native-raw") {
		leaveRaw(stdin)
	}
	in := bufio.NewReader(stdin)
	for {
		fmt.Fprint(n.out, "sim> ")
		line, err := in.ReadString('\n')
		line = strings.TrimSpace(line)
		if line == "/quit" || err != nil {
			break
		}
		if line == "" {
			continue
		}
		if err := n.turn(line); err != nil {
			fmt.Fprintln(n.out, "xmd sim:", err)
			return 1
		}
	}
	if n.faults.on("native-exit") {
		return n.faults.number("native-exit", 1)
	}
	return 0
}

func (n *native) turn(words string) error {
	n.turns++
	answer := plainAnswer(n.heard, words)
	n.heard = append(n.heard, words)
	message := fmt.Sprintf("native-%d", n.turns)
	items := append(n.fresh,
		item{Type: "user", Turn: n.turns, MessageID: "user-" + message, Content: []json.RawMessage{encode(textBlock(words))}},
		item{Type: "agent", Turn: n.turns, MessageID: message, Text: answer},
		item{Type: "end", Turn: n.turns, Stop: "end_turn"})
	n.fresh = nil
	if err := n.store.append(n.id, items...); err != nil {
		return err
	}
	fmt.Fprintf(n.out, "%s\r\n", answer)
	return nil
}
