package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"xmd/runtime/store"
)

const foreign = "testdata/foreign"

// machine is one person's machine: a home, a working folder, and xmd.
type machine struct {
	t         testing.TB
	home, dir string
}

func newMachine(t testing.TB) *machine {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t, filepath.Join(base, "home"), filepath.Join(base, "work")}
	for _, dir := range []string{m.home, m.dir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// xmd runs a command in this process.
func (m *machine) xmd(args ...string) (code int, stdout, stderr string) {
	m.t.Helper()
	var files [2]*os.File
	for i := range files {
		f, err := os.CreateTemp(m.t.TempDir(), "out")
		if err != nil {
			m.t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	env := []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH"), "XDG_STATE_HOME=" + filepath.Join(m.home, "state")}
	code = run(&program{args: args, env: env, stdin: strings.NewReader(""), stdout: files[0], stderr: files[1]})
	var text [2]string
	for i, f := range files {
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			m.t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		if err != nil {
			m.t.Fatal(err)
		}
		text[i] = string(data)
	}
	return code, text[0], text[1]
}

// must runs a command that is to succeed.
func (m *machine) must(args ...string) string {
	m.t.Helper()
	code, stdout, stderr := m.xmd(args...)
	if code != 0 {
		m.t.Fatalf("xmd %s: exit code %d: %s", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// refused runs a command that is to be refused, and changes nothing.
func (m *machine) refused(code int, say string, args ...string) {
	m.t.Helper()
	before := m.must("sessions", "--format", "json", "-C", m.dir)
	got, stdout, stderr := m.xmd(args...)
	if got != code || !strings.Contains(stderr, say) || stdout != "" {
		m.t.Errorf("xmd %s: exit code %d, want %d; stdout %q, stderr %q lacks %q", strings.Join(args, " "), got, code, stdout, stderr, say)
	}
	if after := m.must("sessions", "--format", "json", "-C", m.dir); after != before {
		m.t.Errorf("xmd %s changed the store: %s", strings.Join(args, " "), after)
	}
}

// detail is what show says of a session.
func (m *machine) detail(session string) (d sessionDetail) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(m.must("sessions", "show", session, "--format", "json", "-C", m.dir)), &d); err != nil {
		m.t.Fatal(err)
	}
	return d
}

func TestForeignFixturesAreNeverRewritten(t *testing.T) {
	list, err := os.ReadFile(filepath.Join(foreign, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(foreign)
	if err != nil || strings.Count(string(list), "\n") != len(entries)-1 {
		t.Errorf("%d files, listed are others: %v", len(entries)-1, err)
	}
	for line := range strings.Lines(string(list)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join(foreign, name))
		if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s is not what it was: %v", name, err)
		}
	}
}

const adasRoot = "/home/ada/project"

// Each form of other builds continues as what it is: who chose the id, over what, with which build and instructions.
func TestImportForeignRoutes(t *testing.T) {
	m := newMachine(t)
	for _, tt := range []struct {
		file, session string
		more          []string
		want          generationDetail
	}{
		{"v1-acp-first", "codex:review", []string{"--id", "0199-a"}, generationDetail{
			NativeID: "0199-a", Transport: store.TransportACP, Provenance: store.PersonAsserted}},
		{"v1-acp-first-unnamed", "claude:any", []string{"--id", "0199-b"}, generationDetail{
			NativeID: "0199-b", Transport: store.TransportACP, Provenance: store.PersonAsserted}},
		{"v1-acp-first-own-agent", "sim:review", []string{"--id", "0199-c", "--agent", "sim"}, generationDetail{
			NativeID: "0199-c", Transport: store.TransportACP, Provenance: store.PersonAsserted}},
		{"v1-client-native", "claude:implementer", nil, generationDetail{
			NativeID: "0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0", Transport: store.TransportNative, Provenance: store.ClientAllocated, Instructions: "be brief"}},
		{"v2-client-native", "claude:planner", nil, generationDetail{
			NativeID: "1a2b3c4d-5e6f-4a1b-8c2d-3e4f5a6b7c8d", Transport: store.TransportNative, Provenance: store.ClientAllocated,
			Instructions: "plan first", Established: &store.Established{Version: "2.1.241", Digest: "claude"}}},
		{"v3-acp-first", "codex:tester", []string{"--id", "0199-d"}, generationDetail{
			NativeID: "0199-d", Transport: store.TransportACP, Provenance: store.PersonAsserted,
			Established: &store.Established{Version: "0.153.2", Digest: "codex"}}},
		{"v3-acp-first-no-version", "codex:silent", []string{"--id", "0199-e"}, generationDetail{
			NativeID: "0199-e", Transport: store.TransportACP, Provenance: store.PersonAsserted, Established: &store.Established{Digest: "codex"}}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			file := filepath.Join(foreign, tt.file+".json")
			_, name, _ := strings.Cut(tt.session, ":")
			args := append([]string{"sessions", "import", file, "-C", m.dir, "--root", adasRoot, "--name", name}, tt.more...)
			if out := m.must(args...); !strings.HasPrefix(out, "imported "+tt.session+"@1 in "+adasRoot) {
				t.Errorf("it said %q", out)
			}
			if out := m.must(args...); !strings.Contains(out, "is here already; nothing was changed") {
				t.Errorf("the second time it said %q", out)
			}
			d := m.detail(tt.session)
			if len(d.Generations) != 1 || d.Root != adasRoot || d.Generations[0].Turns != 0 {
				t.Fatalf("%+v", d)
			}
			got := d.Generations[0]
			if want := tt.want; got.NativeID != want.NativeID || got.Transport != want.Transport || got.Provenance != want.Provenance {
				t.Errorf("%+v, want %+v", got, want)
			}
			if want := tt.want.Instructions; want != "" && got.Instructions != digestText(want) {
				t.Errorf("instructions %q", got.Instructions)
			}
			switch want := tt.want.Established; {
			case (want == nil) != (got.Established == nil):
				t.Errorf("established is %+v, want %+v", got.Established, want)
			case want != nil && (got.Established.Version != want.Version || got.Established.Digest != digestText(want.Digest)):
				t.Errorf("established is %+v, want %+v", got.Established, want)
			}
			if len(got.Marks) != 1 || got.Marks[0].Name != markImported || !strings.Contains(string(got.Marks[0].Data), `"session-route.`+tt.file[:2]) {
				t.Errorf("%+v", got.Marks)
			}
		})
	}
}

func digestText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Several records go by their names; nothing is written unless all can be.
func TestImportSeveral(t *testing.T) {
	m := newMachine(t)
	files := []string{filepath.Join(foreign, "v1-client-native.json"), filepath.Join(foreign, "v2-client-native.json")}
	args := append([]string{"sessions", "import", "-C", m.dir, "--root", adasRoot, "--name", "planner", "--name", "implementer"}, files...)
	m.refused(2, "v1-acp-first.json", append(args, filepath.Join(foreign, "v1-acp-first.json"))...)
	if out := m.must(args...); strings.Count(out, "imported ") != 2 {
		t.Error(out)
	}
}

// The originals are only read, through a symbolic link too.
func TestImportLeavesTheOriginal(t *testing.T) {
	m := newMachine(t)
	data, err := os.ReadFile(filepath.Join(foreign, "v2-client-native.json"))
	if err != nil {
		t.Fatal(err)
	}
	file, link := filepath.Join(m.dir, "route.json"), filepath.Join(m.dir, "link.json")
	if err := os.WriteFile(file, data, 0o400); err != nil {
		t.Fatal(err)
	}
	long := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(file, long, long); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	m.must("sessions", "import", link, "-C", m.dir, "--root", adasRoot, "--name", "planner")
	after, err := os.ReadFile(file)
	info, serr := os.Stat(file)
	if err != nil || serr != nil || string(after) != string(data) || !info.ModTime().Equal(long) || info.Mode().Perm() != 0o400 {
		t.Errorf("%v %v %v: it was touched", err, serr, info)
	}
	if entries, _ := os.ReadDir(m.dir); len(entries) != 2 {
		t.Errorf("something was written beside it: %v", entries)
	}
}

func TestImportForeignRefused(t *testing.T) {
	m := newMachine(t)
	good := map[string]string{}
	for _, name := range []string{"v1-acp-first", "v1-client-native", "v2-client-native", "v3-acp-first"} {
		data, err := os.ReadFile(filepath.Join(foreign, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		good[name] = string(data)
	}
	change := func(name, old, new string) string {
		if !strings.Contains(good[name], old) {
			t.Fatalf("%q is not in %s", old, good[name])
		}
		return strings.Replace(good[name], old, new, 1)
	}
	named := []string{"--name", "planner", "--root", adasRoot}
	for what, tt := range map[string]struct {
		text string
		args []string
		say  string
	}{
		"unknown version":         {change("v2-client-native", "route.v2", "route.v4"), named, `a session-route.v4 of the kind "client-native" is not known`},
		"unknown kind":            {change("v2-client-native", `"client-native"`, `"provider-native"`), named, "provider-native"},
		"v2 acp-first":            {change("v1-acp-first", "route.v1", "route.v2"), named, "is not known"},
		"a member more":           {change("v2-client-native", `"launcher"`, `"path": "/x", "launcher"`), named, `has no member "path"`},
		"a binding in v1":         {change("v2-client-native", "route.v2", "route.v1"), named, `has no member "executableBinding"`},
		"no binding in v2":        {change("v1-client-native", "route.v1", "route.v2"), []string{"--name", "implementer", "--root", adasRoot}, "executableBinding is missing"},
		"a member less":           {change("v2-client-native", `"launcher": "claude",`, ``), named, "launcher is missing"},
		"a member twice":          {change("v2-client-native", `"launcher"`, `"launcher": "claude", "launcher"`), named, "twice"},
		"a number":                {change("v2-client-native", `"acpx"`, `7`), named, "provider is no text"},
		"an empty text":           {change("v2-client-native", `"1a2b3c4d-5e6f-4a1b-8c2d-3e4f5a6b7c8d"`, `""`), named, "nativeSessionId is no text, or an empty one"},
		"another provenance":      {change("v2-client-native", "client-allocated", "provider-returned"), named, "identityProvenance"},
		"no digest":               {change("v2-client-native", `"value": "`, `"value": "x`), named, "executableBinding"},
		"another algorithm":       {change("v2-client-native", "sha256", "sha1"), named, "executableBinding"},
		"changed agent":           {change("v2-client-native", "0.70.0", "0.71.0"), named, "the record was changed"},
		"unknown key":             {change("v2-client-native", "xmd:v1:", "xmd:v2:"), named, "a form that is not known"},
		"another name":            {good["v2-client-native"], []string{"--name", "plan", "--root", adasRoot}, "not the record of a session named plan"},
		"no name":                 {good["v2-client-native"], []string{"--root", adasRoot}, "say the name with --name"},
		"another folder":          {good["v2-client-native"], []string{"--name", "planner"}, "say with --root"},
		"another agent":           {good["v2-client-native"], append([]string{"--agent", "codex"}, named...), "it is a session of claude"},
		"another id":              {good["v2-client-native"], append([]string{"--id", "x"}, named...), "and --id another"},
		"acp-first without id":    {good["v1-acp-first"], []string{"--name", "review", "--root", adasRoot}, "names no conversation: say the agent's own id of it with --id"},
		"v3 without id":           {good["v3-acp-first"], []string{"--name", "tester", "--root", adasRoot}, "with --id"},
		"an id with a space":      {good["v1-acp-first"], []string{"--name", "review", "--root", adasRoot, "--id", "a b"}, "white space"},
		"an id that is an option": {good["v1-acp-first"], []string{"--name", "review", "--root", adasRoot, "--id", "--dangerous"}, "an option in a command line"},
		"an unknown agent":        {good["v1-acp-first"], []string{"--name", "review", "--root", adasRoot, "--id", "a", "--agent", "nobody"}, "nobody"},
		"no JSON":                 {"{\n  \"schema\": session\n}", named, "2:13: "},
		"half of it":              {good["v2-client-native"][:200], named, "unexpected"},
		"something behind it":     {good["v2-client-native"] + "{}", named, "something stands behind the object"},
		"a list":                  {"[]", named, "1:1: it is no JSON object"},
		"nothing":                 {"", named, "unexpected end of JSON"},
		"no schema":               {"{}", named, "it has no schema"},
		"another schema":          {`{"schema":"acpx.session.v1"}`, named, `"acpx.session.v1" is no session that can be imported`},
		"a route of our own":      {`{"schema":"session-route.v1","agent":"codex"}`, named, "xmd sessions export writes whole sessions"},
		"an export of the future": {`{"schema":"session-export.v1","more":1}`, nil, "more"},
	} {
		t.Run(what, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "route.json")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			m.refused(2, tt.say, append([]string{"sessions", "import", file, "-C", m.dir}, tt.args...)...)
		})
	}
	m.refused(2, "journals are not read", "sessions", "import", filepath.Join(foreign, "journal.jsonl"), "-C", m.dir)
	m.refused(2, "agent-session-ownership.v1", "sessions", "import", filepath.Join(foreign, "ownership.json"), "-C", m.dir)
	m.refused(2, "this is a folder", "sessions", "import", foreign, "-C", m.dir)
	m.refused(2, "none.json", "sessions", "import", filepath.Join(m.dir, "none.json"), "-C", m.dir)
}

// A record belongs to the folder it was made in; from one below, it is found.
func TestImportFindsTheFolder(t *testing.T) {
	m := newMachine(t)
	below := filepath.Join(m.dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	agent := "npx codex-acp"
	record := map[string]string{"schema": "session-route.v1", "route": "acp-first", "provider": "acpx", "agent": agent,
		"sessionKey": "xmd:v1:" + shortDigest(agent) + ":" + shortDigest(m.dir) + ":" + shortDigest("s")}
	data, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := m.must("sessions", "import", file, "-C", below, "--name", "s", "--id", "x"); !strings.Contains(out, "codex:s@1 in "+m.dir+" ") {
		t.Error(out)
	}
}

func TestForeignAgents(t *testing.T) {
	for command, want := range map[string]string{
		"claude": "claude", "codex": "codex", "npx -y @agentclientprotocol/claude-agent-acp@^0.70.0": "claude",
		"npx @zed-industries/claude-code-acp": "claude", `"/opt/bin/codex-acp" "--x"`: "codex", "node /x/codex-acp/dist/index.js": "",
		"my-codex-acp": "", "codex-acp-fork": "", "gemini --acp": "",
	} {
		if got := (foreignRoute{agent: command}).agentName(); got != want {
			t.Errorf("%s is %q, want %q", command, got, want)
		}
	}
}
