package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"xmd/agents/sim"
	"xmd/runtime"
)

// healthy is how many sessions without the fault stand among those with it.
const healthy = 2

// faultLimit is how long one run with a fault may take: far longer than all that is waited for in it.
const faultLimit = 2 * time.Minute

// faultDocument has n sessions with a fault and some without it, all at once. Each is told a codeword, or asked for it, and says how that
// went in a line of its own.
func faultDocument(n int, row faultRow, round string) string {
	var b strings.Builder
	b.WriteString("<Tool name=\"note\">noted</Tool>\n<Parallel max={64}>\n")
	for i := range n + healthy {
		name, agent := fmt.Sprintf("b%d", i), "sim"
		if i == 1 || i == n+1 {
			name, agent = fmt.Sprintf("w%d", i), "well"
		}
		prompt := strings.Replace(faultPrompt(name, agent, row, round), "<Prompt ", fmt.Sprintf("<Prompt as=\"r%d\" ", i), 1)
		fmt.Fprintf(&b, "<Try>\n%s\n%s said {r%d}\n<Catch as=\"c%d\">%s failed {c%d.kind}</Catch>\n</Try>\n", prompt, name, i, i, name, i)
	}
	return b.String() + "</Parallel>\n"
}

var saidLine = regexp.MustCompile(`(?m)^([bw]\d+) (?:said (.*)|failed (\S+))$`)

// faultHome is a home whose agent sim has a fault, and whose agent well has none.
func faultHome(t *testing.T, spec string) *home {
	t.Helper()
	h := newHome(t, "")
	h.limit = faultLimit
	h.write("xmd.toml", fmt.Sprintf("[agents.well]\ncommand = %q\nargs = [\"sim\", \"--home\", %q]\nfence = \"available_commands_update\"\n",
		filepath.Join(h.dir, "xmd"), filepath.Join(h.dir, "well")))
	if err := os.Mkdir(filepath.Join(h.dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.env = []string{"XMD_SIM_HOME=" + filepath.Join(h.dir, "bad"), "XMD_SIM_FAULT=" + spec, "TMPDIR=" + filepath.Join(h.dir, "tmp")}
	return h
}

// faultPrompt is one prompt of a session, whose words end in a word of its own.
func faultPrompt(name, agent string, row faultRow, round string) string {
	words, more := row.ask, ""
	if words == "" || agent != "sim" {
		words = "What is the codeword? " + name + "." + round
		if round == "first" {
			words = "The codeword is Z" + name + ". " + name + "." + round
		}
	}
	if row.timeout != "" && agent == "sim" {
		more = fmt.Sprintf(" timeout=%q", row.timeout)
	}
	return fmt.Sprintf("<Prompt agent=%q session=%q%s>%s</Prompt>", agent, name, more, words)
}

// faultRound runs one document and holds every session to what is wanted of it.
func (h *home) faultRound(n int, row faultRow, round, want string) {
	h.t.Helper()
	h.write("doc.xmd", faultDocument(n, row, round))
	began := time.Now()
	o := h.xmd(nil, "run", "doc.xmd")
	if o.code != 0 {
		h.t.Errorf("%s: code %d after %s\n%s", round, o.code, time.Since(began), o.stderr)
	}
	ended := map[string][]string{}
	for _, m := range saidLine.FindAllStringSubmatch(o.stdout, -1) {
		ended[m[1]] = m[2:]
	}
	for i := range n + healthy {
		name := fmt.Sprintf("b%d", i)
		if i == 1 || i == n+1 {
			name = fmt.Sprintf("w%d", i)
		}
		how, ok := ended[name]
		switch {
		case !ok:
			h.t.Errorf("%s: %s did not end: %s", round, name, o.stdout)
		case name[0] == 'w' && (how[1] != "" || round == "again" && how[0] != "The codeword is Z"+name+"."):
			h.t.Errorf("%s: the healthy %s: %q", round, name, how)
		case name[0] == 'b' && how[1] != want && (want != "conversation-missing" || how[1] != "" || !strings.Contains(h.env[1], "minute-loses")):
			h.t.Errorf("%s: %s failed with %q, want %q", round, name, how[1], want)
		}
	}
}

// noneTwice counts the prompts in the agents' own files: none is there twice, and what a healthy one was given is there.
func (h *home) noneTwice(n int) {
	h.t.Helper()
	for words, times := range keptTurns(h.t, filepath.Join(h.dir, "bad")) {
		if times > 1 && strings.Contains(words, ".") {
			h.t.Errorf("%s was sent %d times", words, times)
		}
	}
	well := keptTurns(h.t, filepath.Join(h.dir, "well"))
	for _, i := range []int{1, n + 1} {
		for _, round := range []string{"first", "again"} {
			if words := fmt.Sprintf("w%d.%s", i, round); well[words] != 1 {
				h.t.Errorf("%s is there %d times", words, well[words])
			}
		}
	}
}

// nothingLeft looks for temporary files, held locks and what does not belong into the state folder.
func (h *home) nothingLeft() {
	h.t.Helper()
	left, _ := filepath.Glob(filepath.Join(h.dir, "tmp", "*"))
	strange, _ := filepath.Glob(filepath.Join(h.dir, "state", "xmd", "faults"))
	if left = append(left, strange...); len(left) > 0 {
		h.t.Errorf("left: %q", left)
	}
	locks, _ := filepath.Glob(filepath.Join(h.dir, "state", "xmd", "locks", "*"))
	for _, path := range locks {
		f, err := os.Open(path)
		if err != nil {
			h.t.Fatal(err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			h.t.Errorf("%s: %v", path, err)
		}
		_ = f.Close()
	}
}

// keptTurns are the user turns that an agent has kept, by the last word of each.
func keptTurns(t *testing.T, home string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	files, _ := filepath.Glob(filepath.Join(home, "sessions", "*.jsonl"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var e struct {
				Type    string
				Content []struct{ Text string }
			}
			if json.Unmarshal([]byte(line), &e) == nil && e.Type == "user" {
				words := strings.Fields(e.Content[len(e.Content)-1].Text)
				counts[words[len(words)-1]]++
			}
		}
	}
	return counts
}

// faultRow is what an agent with a fault makes of a run.
type faultRow struct {
	first, again string // the kind of failure of the first prompt of a session, and of the next run's; "": none
	ask          string // what is asked instead, where the fault shows only there
	timeout      string // of the prompts that fall silent
	slow         bool   // it is waited for up to a minute: only in the long form
	wide         bool   // at 10 sessions in the short form too
}

// faultRows is every fault with every word that it takes; TestFaults holds it to the list of package sim.
var faultRows = map[string]faultRow{
	"version=9.9":               {},
	"version-hang":              {},
	"version-exit":              {},
	"no-agent-info":             {},
	"slow-start=300":            {},
	"unanswered=initialize":     {first: "agent-unavailable", again: "agent-unavailable", slow: true},
	"unanswered=new":            {first: "agent-unavailable", again: "agent-unavailable", slow: true},
	"unanswered=mode":           {first: "agent-unavailable", again: "agent-unavailable", slow: true},
	"unanswered=list":           {slow: true},
	"auth=new":                  {first: "not-signed-in", again: "not-signed-in"},
	"auth=load":                 {again: "not-signed-in"},
	"auth=prompt":               {first: "not-signed-in", again: "not-signed-in", wide: true},
	"new-error":                 {first: "agent-unavailable", again: "agent-unavailable", wide: true},
	"durable-new":               {},
	"no-load":                   {again: "unsupported"},
	"no-resume":                 {},
	"load-hangs":                {again: "could-not-load", slow: true},
	"load-slow=50":              {},
	"load-error":                {again: "could-not-load", wide: true},
	"load-missing=resource":     {again: "conversation-missing", wide: true},
	"load-missing=codex":        {again: "could-not-load"},
	"load-missing=gemini":       {again: "could-not-load"},
	"load-missing=gemini-empty": {again: "could-not-load"},
	"load-missing=copilot":      {again: "conversation-missing"},
	"load-missing=grok":         {again: "could-not-load"},
	"load-missing=opencode":     {again: "could-not-load"},
	"load-unknown":              {},
	"load-id=both":              {},
	"load-id=result":            {},
	"load-id=meta":              {},
	"load-echo-id":              {},
	"load-other-id":             {again: "identity-mismatch"},
	"other-history":             {again: "could-not-load"},
	"empty-history":             {again: "conversation-empty"},
	"short-history":             {},
	"compacted":                 {},
	"compact-keep":              {},
	"keeps-ends":                {},
	"amnesia":                   {},
	"cwd-bound":                 {},
	"minute-loses":              {again: "conversation-missing"},
	"replay-after-answer":       {},
	"no-commands":               {},
	"lock":                      {},
	"busy":                      {again: "busy"},
	"no-list":                   {},
	"list-page":                 {},
	"list-omits":                {},
	"list-error":                {},
	"refuse-mode":               {first: "unsupported", again: "unsupported"},
	"mode-auto":                 {},
	"mode-chunk":                {},
	"permission-always-only":    {first: "refused", again: "refused", ask: "PERM edit"},
	"permission-always-first":   {ask: "PERM edit"},
	"reject-ends=cancelled":     {first: "refused", again: "refused", ask: "PERM edit"},
	"reject-ends=end_turn":      {ask: "PERM edit"},
	"no-mcp-http":               {ask: "CALL note"},
	"mcp-drops-stdio":           {ask: "CALL note"},
	"mcp-late=300":              {ask: "CALL note"},
	"prompt-error":              {first: "failed", again: "failed", wide: true},
	"late-error":                {first: "failed", again: "failed"},
	"error-as-end-turn":         {first: "failed", again: "failed"},
	"system-error":              {first: "failed", again: "failed"},
	"error-code-string":         {first: "failed", again: "failed", ask: "FAIL -32603 broken"},
	"stop-reason=refusal":       {first: "failed", again: "failed"},
	"turn-id":                   {},
	"silence=start":             {first: "timeout", again: "timeout", timeout: "1s"},
	"silence=mid":               {first: "timeout", again: "timeout", timeout: "1s", wide: true},
	"cancel-ignored":            {first: "timeout", again: "timeout", ask: "SLEEP 60000", timeout: "1s"},
	"cancel-hangs":              {first: "timeout", again: "timeout", ask: "SLEEP 60000", timeout: "1s"},
	"cancel-waits":              {ask: "PERM edit"},
	"late-update=info":          {},
	"late-update=chunk":         {},
	"noise-chunk":               {},
	"no-messageid":              {first: "failed", again: "failed"},
	"junk":                      {wide: true},
	"unknown-updates":           {},
	"burst":                     {wide: true},
	"big-line=256KiB":           {},
	"big-result=256KiB":         {},
	"split-utf8=bytes":          {},
	"split-utf8=surrogates":     {},
	"id-as-string":              {},
	"crash=start":               {first: "agent-unavailable", again: "agent-unavailable"},
	"crash=initialize":          {first: "agent-unavailable", again: "agent-unavailable", wide: true},
	"crash=new":                 {first: "agent-unavailable", again: "agent-unavailable"},
	"crash=load":                {again: "could-not-load"},
	"crash=prompt":              {first: "failed", again: "failed"},
	"crash=stored":              {first: "failed", again: "failed"},
	"crash=mid-turn":            {first: "failed", again: "failed", wide: true},
	"crash=said":                {first: "failed", again: "failed"},
	"crash=ended":               {first: "failed", again: "failed"},
	"crash=after-answer":        {},
	"crash-turn":                {},
	"ignore-eof":                {},
	"ignore-term":               {},
	"grandchild=plain":          {},
	"grandchild=setsid":         {wide: true},
	"grandchild=stdout":         {},
	"grandchild=stubborn":       {},
	"native-exit":               {},
	"native-raw":                {},
	"native-deaf":               {},
}

// rowsOf gives the rows of the faults, and fails for a fault without one, a word without one, and a row that is none.
func rowsOf(t *testing.T) (specs []string) {
	t.Helper()
	left := maps.Clone(faultRows)
	take := func(spec string) {
		if _, ok := left[spec]; ok {
			specs = append(specs, spec)
			delete(left, spec)
			return
		}
		t.Errorf("no row for the fault %s", spec)
	}
	for _, f := range sim.Faults() {
		switch {
		case f.Values != nil:
			for _, word := range f.Values {
				take(f.Name + "=" + word)
			}
		case f.Needs:
			take(specOf(f.Name))
		default:
			if _, ok := left[f.Name]; ok {
				take(f.Name)
			} else {
				take(specOf(f.Name))
			}
		}
	}
	for spec := range left {
		t.Errorf("a row for what is no fault: %s", spec)
	}
	return specs
}

// specOf is the row of a fault that has a value of the table's choice.
func specOf(name string) string {
	for spec := range faultRows {
		if strings.HasPrefix(spec, name+"=") {
			return spec
		}
	}
	return name
}

// TestFaults runs every fault in one session beside healthy ones, those that stand for the others in ten, and two in 64. With XMD_FAULTS=all
// (make faults) each runs in 1, 10 and 64.
func TestFaults(t *testing.T) {
	all := os.Getenv("XMD_FAULTS") == "all"
	for _, spec := range rowsOf(t) {
		row := faultRows[spec]
		for _, n := range []int{1, 10, 64} {
			switch {
			case all:
			case row.slow, n == 10 && !row.wide, n == 64 && spec != "crash=mid-turn" && spec != "load-error":
				continue
			}
			t.Run(fmt.Sprintf("%s at %d", spec, n), func(t *testing.T) {
				if n < 64 {
					t.Parallel()
				}
				runFault(t, spec, row, n)
			})
		}
	}
}

// runFault runs two documents one after the other on the same sessions, and looks at what is left.
func runFault(t *testing.T, spec string, row faultRow, n int) {
	h := faultHome(t, spec)
	if spec == "other-history" && n > 1 { // it needs another session; that one's history is unconfirmed, which is said and goes on
		row.again = ""
	}
	h.faultRound(n, row, "first", row.first)
	h.faultRound(n, row, "again", row.again)
	if kind := cmp.Or(row.again, row.first); n == 1 && kind != "" {
		h.write("doc.xmd", faultPrompt("b0", "sim", row, "alone")+"\n")
		if o := h.xmd(nil, "run", "doc.xmd"); o.code != runtime.Kind(kind).ExitCode() || !strings.Contains(o.stderr, "["+kind) {
			t.Errorf("alone it ended with %+v", o)
		}
	}
	if n == 1 && row.first == "" && row.again != "" && spec != "minute-loses" {
		h.env = append(h.env, "XMD_SIM_FAULT=")
		h.write("doc.xmd", faultPrompt("b0", "sim", row, "after")+"\n")
		if o := h.xmd(nil, "run", "doc.xmd"); o.code != 0 || o.stdout != "The codeword is Zb0.\n" {
			t.Errorf("without the fault it does not go on: %+v", o)
		}
	}
	h.noneTwice(n)
	h.check()
	h.nothingLeft()
}
