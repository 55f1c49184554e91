package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A fault is a way to misbehave that some real agent has shown, or could.
type fault struct {
	name  string
	value valueKind
	of    []string // for oneOf and manyOf: the words allowed, the default first
	help  string
}

// valueKind says what a fault takes after the equals sign.
type valueKind uint8

const (
	noValue  valueKind = iota
	text               // any text, may be left out
	required           // any text, but must be given (it may be empty)
	count              // a whole number, may be left out
	millis             // milliseconds, required
	size               // bytes: 4096, 64KiB, 64MiB; required
	oneOf              // one word of the list, may be left out
	manyOf             // words of the list joined by +, may be left out
	codeText           // CODE or CODE:MESSAGE of a JSON-RPC error, may be left out
)

var missingShapes = []string{"resource", "codex", "gemini", "gemini-empty", "copilot", "grok", "opencode"}

// crashPoints in the order in which they are passed. Those of a turn: before the words are kept; when they are, and nothing is said;
// after the first piece; when the whole answer is kept; when its end is kept too, and not told; after its result.
var crashPoints = []string{"start", "initialize", "new", "load", "prompt", "stored", "mid-turn", "said", "ended", "after-answer"}
var childOptions = []string{"plain", "setsid", "stdout", "stubborn"}

// faultTable is every fault there is; `xmd sim --help` prints it.
var faultTable = []fault{
	// What a version check and a handshake show.
	{"version", required, nil, "agentInfo.version and the output of --version are exactly this text"},
	{"version-hang", noValue, nil, "--version never ends"},
	{"version-exit", count, nil, "--version exits with this code (default 1)"},
	{"no-agent-info", noValue, nil, "initialize has no agentInfo; the version is in _meta.agentVersion"},
	{"slow-start", millis, nil, "initialize is answered so many milliseconds late"},
	{"unanswered", manyOf, []string{"initialize", "new", "mode", "list"}, "these calls are never answered (default initialize)"},
	// Signing in, and session/new.
	{"auth", manyOf, []string{"new+load+prompt", "new", "load", "prompt"}, "not signed in: -32000 at these calls (default all three)"},
	{"new-error", codeText, nil, "session/new fails"},
	{"durable-new", noValue, nil, "session/new itself makes the session durable, not the first prompt"},
	// What a load says, and what it replays.
	{"no-load", noValue, nil, "no session/load: neither announced nor answered"},
	{"no-resume", noValue, nil, "no session/resume: neither announced nor answered"},
	{"load-hangs", noValue, nil, "session/load is never answered"},
	{"load-slow", millis, nil, "the load replays each update so many milliseconds after the one before"},
	{"load-error", codeText, nil, "session/load fails (default -32603 with a full disk)"},
	{"load-missing", oneOf, missingShapes, "every session/load finds nothing, said in this agent's way"},
	{"load-unknown", noValue, nil, "a session that does not exist loads, empty"},
	{"load-id", oneOf, []string{"both", "result", "meta"}, "the load's result states the id that the session's file holds"},
	{"load-echo-id", noValue, nil, "the load's result repeats the id it was asked for, whatever was loaded"},
	{"load-other-id", text, nil, "the load's result states another id"},
	{"other-history", noValue, nil, "the load replays and remembers another session of the same home, under the id asked for"},
	{"empty-history", noValue, nil, "the load succeeds, replays nothing and remembers nothing"},
	{"short-history", count, nil, "the load replays and remembers only the oldest N turns (default 1)"},
	{"compacted", noValue, nil, "the load replays one turn that sums up the others"},
	{"compact-keep", count, nil, "the load replays one turn that sums up the others, and the newest N turns (default 1)"},
	{"keeps-ends", noValue, nil, "the load marks the last update of each turn that came to its normal end with _meta.completed"},
	{"amnesia", noValue, nil, "the load replays everything and remembers nothing"},
	{"cwd-bound", noValue, nil, "a load from another directory finds nothing"},
	{"minute-loses", noValue, nil, "a load in the UTC minute in which the session was made loses it; the minute is in the name of a file beside it"},
	{"replay-after-answer", count, nil, "only the first replayed update comes before the load's answer, the rest after it, N milliseconds later (default 0)"},
	{"no-commands", noValue, nil, "available_commands_update is never sent"},
	// Locks and lists.
	{"lock", noValue, nil, "a session has one writer: another process is refused as busy while this one lives"},
	{"busy", count, nil, "the first N loads of the process are refused as busy (default all)"},
	{"no-list", noValue, nil, "no session/list: neither announced nor answered"},
	{"list-page", count, nil, "session/list gives pages of N (default 1)"},
	{"list-omits", text, nil, "session/list leaves this id out (default every id)"},
	{"list-error", codeText, nil, "session/list fails"},
	// Modes and permissions.
	{"refuse-mode", noValue, nil, "session/set_mode and set_config_option fail"},
	{"mode-auto", noValue, nil, "a new or loaded session is in mode auto, in which nothing asks"},
	{"mode-chunk", noValue, nil, "session/set_mode puts a message chunk into the conversation"},
	{"permission-always-only", noValue, nil, "permission requests offer only allow_always and reject_always"},
	{"permission-always-first", noValue, nil, "permission requests offer allow_always before allow_once"},
	{"reject-ends", oneOf, []string{"cancelled", "end_turn"}, "a refused permission ends the turn with this stop reason"},
	// MCP servers that the client gives.
	{"no-mcp-http", noValue, nil, "MCP servers by address are not announced, and refused"},
	{"mcp-drops-stdio", noValue, nil, "MCP servers by command are left out without a word"},
	{"mcp-late", millis, nil, "MCP servers are connected so many milliseconds after session/new or load was answered"},
	// How a turn goes wrong.
	{"prompt-error", codeText, nil, "a prompt fails before anything was accepted: the words are not in the history"},
	{"late-error", codeText, nil, "a prompt fails after its answer was streamed"},
	{"error-as-end-turn", text, nil, "a turn ends as end_turn, its only text the error, in a chunk without messageId, and no usage"},
	{"system-error", noValue, nil, "a session_info_update before the result says systemError"},
	{"error-code-string", noValue, nil, "error codes are strings"},
	{"stop-reason", required, nil, "every turn that ends well ends with this stop reason"},
	{"turn-id", text, nil, "the result of a prompt states its session's id in _meta.sessionId, or this one"},
	{"silence", oneOf, []string{"start", "mid"}, "a turn falls silent and never ends (mid: after its first chunk)"},
	{"cancel-ignored", noValue, nil, "session/cancel changes nothing"},
	{"cancel-hangs", noValue, nil, "a cancelled turn is never answered"},
	{"cancel-waits", noValue, nil, "a cancelled turn waits for the answer to its permission request"},
	{"late-update", oneOf, []string{"info", "chunk"}, "an update follows the result of the prompt"},
	// What else comes over the wire.
	{"noise-chunk", text, nil, "a chunk without messageId that no model said comes before each answer and in each replay"},
	{"no-messageid", noValue, nil, "no chunk has a messageId"},
	{"junk", noValue, nil, "lines that are no JSON stand at the start, before and in each answer"},
	{"unknown-updates", noValue, nil, "each answer is mixed with unknown updates, notifications and a request"},
	{"burst", count, nil, "N numbered message chunks come before each answer (default 20000)"},
	{"big-line", size, nil, "a message chunk whose line has so many bytes comes before each answer"},
	{"big-result", size, nil, "the line with a prompt's result has so many bytes"},
	{"split-utf8", oneOf, []string{"bytes", "surrogates"}, "characters are cut between two writes; surrogates: also half a pair per chunk before each answer"},
	{"id-as-string", noValue, nil, "answers repeat a numeric request id as a string"},
	// Processes.
	{"crash", oneOf, crashPoints, "the process ends at once there, with code 7"},
	{"crash-turn", count, nil, "of prompts, crash strikes only the Nth of the process (default 2)"},
	{"ignore-eof", noValue, nil, "the end of stdin changes nothing"},
	{"ignore-term", noValue, nil, "SIGTERM, and the end of the context, change nothing"},
	{"grandchild", manyOf, childOptions, "starts a process that stays: in its own session (setsid), holding stdout, ignoring TERM and HUP (stubborn)"},
	// A person's own interface, xmd sim --native; the faults lock and grandchild are its own too.
	{"native-exit", count, nil, "the native interface ends with this code (default 1)"},
	{"native-raw", noValue, nil, "the native interface leaves the terminal in another mode than it found it in"},
	{"native-deaf", noValue, nil, "the native interface ignores SIGTERM and SIGHUP"},
}

// faults is what is in force: name to value. The zero value is a well-behaved agent. Read-only after parsing.
type faults map[string]string

func (f faults) on(name string) bool { _, ok := f[name]; return ok }

// is reports whether the fault is on with this word of its list.
func (f faults) is(name, word string) bool {
	v, ok := f[name]
	if !ok {
		return false
	}
	return slices.Contains(strings.Split(v, "+"), word)
}

// number gives the value of a count, millis or size fault; byDefault where it has none or is off.
func (f faults) number(name string, byDefault int) int {
	n, err := parseSize(f[name])
	if err != nil {
		return byDefault
	}
	return n
}

// text gives the value of a fault; byDefault where it has none or is off.
func (f faults) text(name, byDefault string) string {
	if v := f[name]; v != "" {
		return v
	}
	return byDefault
}

// failure gives the error of a codeText fault, nil where it is off.
func (f faults) failure(name string, byDefault rpcError) *rpcError {
	v, ok := f[name]
	if !ok {
		return nil
	}
	if v == "" {
		return &byDefault
	}
	code, message, _ := strings.Cut(v, ":")
	n, _ := strconv.Atoi(code) // checked when it was set
	if message == "" {
		message = "simulated failure"
	}
	return &rpcError{Code: n, Message: message}
}

// set adds one NAME or NAME=VALUE, or says what is wrong with it.
func (f faults) set(spec string) error {
	name, value, given := strings.Cut(spec, "=")
	for _, known := range faultTable {
		if known.name != name {
			continue
		}
		value, err := known.check(value, given)
		if err != nil {
			return fmt.Errorf("fault %s: %w", name, err)
		}
		f[name] = value
		return nil
	}
	return fmt.Errorf("unknown fault %q", name)
}

func (k fault) check(value string, given bool) (string, error) {
	switch k.value {
	case noValue:
		if given {
			return "", errors.New("takes no value")
		}
	case required:
		if !given {
			return "", fmt.Errorf("needs a value: %s=…", k.name)
		}
	case count, millis, size:
		return value, k.checkNumber(value, given)
	case oneOf, manyOf:
		return k.checkWords(value, given)
	case codeText:
		code, _, _ := strings.Cut(value, ":")
		if _, err := strconv.Atoi(code); given && err != nil {
			return "", fmt.Errorf("wants CODE or CODE:MESSAGE, not %q", value)
		}
	}
	return value, nil
}

func (k fault) checkNumber(value string, given bool) error {
	if !given && k.value == count {
		return nil
	}
	if _, err := parseSize(value); err != nil || k.value != size && strings.HasSuffix(value, "B") {
		return fmt.Errorf("wants a whole number, not %q", value)
	}
	return nil
}

func (k fault) checkWords(value string, given bool) (string, error) {
	if !given {
		return k.of[0], nil
	}
	words := []string{value}
	if k.value == manyOf {
		words = strings.Split(value, "+")
	}
	allowed := strings.Split(strings.Join(k.of, "+"), "+")
	for _, w := range words {
		if !slices.Contains(allowed, w) {
			return "", fmt.Errorf("takes %s, not %q", strings.Join(k.of, ", "), w)
		}
	}
	return value, nil
}

// parseSize reads a whole number, with KiB, MiB or GiB after it or not.
func parseSize(s string) (int, error) {
	unit := 1
	for suffix, n := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, unit = rest, n
		}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > (1<<40)/unit {
		return 0, fmt.Errorf("bad size %q", s)
	}
	return n * unit, nil
}

// splitFaults cuts the comma-separated list of XMD_SIM_FAULT; \, is a comma inside a value.
func splitFaults(list string) []string {
	var specs []string
	var b strings.Builder
	for i := 0; i <= len(list); i++ {
		switch {
		case i == len(list) || list[i] == ',':
			if s := strings.TrimSpace(b.String()); s != "" {
				specs = append(specs, s)
			}
			b.Reset()
		case list[i] == '\\' && i+1 < len(list) && list[i+1] == ',':
			i++
			b.WriteByte(',')
		default:
			b.WriteByte(list[i])
		}
	}
	return specs
}

// describeFaults is the list for --help and for an unknown name.
func describeFaults() string {
	var b strings.Builder
	for _, k := range faultTable {
		fmt.Fprintf(&b, "  %-38s %s\n", k.usage(), k.help)
	}
	return b.String()
}

func (k fault) usage() string {
	switch k.value {
	case text:
		return k.name + "[=TEXT]"
	case required:
		return k.name + "=TEXT"
	case count:
		return k.name + "[=N]"
	case millis:
		return k.name + "=MS"
	case size:
		return k.name + "=SIZE"
	case oneOf:
		return k.name + "[=" + strings.Join(k.of, "|") + "]"
	case manyOf:
		return k.name + "[=" + k.of[len(k.of)-1] + "+…]"
	case codeText:
		return k.name + "[=CODE:MESSAGE]"
	default:
		return k.name
	}
}

func milliseconds(n int) time.Duration { return time.Duration(n) * time.Millisecond }
