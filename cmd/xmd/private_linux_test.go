//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// account is somebody's home on a machine: xmd runs there as a process, under an umask.
type account struct {
	t    *testing.T
	home string
	bin  string
	as   *syscall.Credential // nil: who runs the test
}

func newAccount(t *testing.T) *account {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &account{t: t, home: home, bin: filepath.Join(home, "xmd")}
	if err := errors.Join(os.Symlink(self, p.bin), os.Mkdir(p.at("tmp"), 0o700), os.Mkdir(p.at("state"), 0o700)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *account) at(name string) string { return filepath.Join(p.home, name) }

func (p *account) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(p.at(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// xmd runs a command under an umask.
func (p *account) xmd(mask int, args ...string) (code int, stdout, stderr string) {
	p.t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`umask %o; exec "$0" "$@"`, mask), p.bin}, args...)...)
	cmd.Dir = p.home
	cmd.Env = []string{"GO_TEST_AS_XMD=1", quickExit, "HOME=" + p.home, "XDG_STATE_HOME=" + p.at("state"), "TMPDIR=" + p.at("tmp"), "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.as}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// must runs a command that is to succeed.
func (p *account) must(mask int, args ...string) (stdout string) {
	p.t.Helper()
	code, stdout, stderr := p.xmd(mask, args...)
	if code != 0 {
		p.t.Fatalf("umask %o: xmd %q: exit code %d: %s\n%.2000s", mask, args, code, stderr, stdout)
	}
	return stdout
}

// spied makes an agent whose every frame from xmd is in frames.in: with the door by address, or by command.
func (p *account) spied(faults string) {
	p.t.Helper()
	p.write("answers.script", "<WhenPrompt template=\"look\"><CallTool name=\"machine\" as=\"found\"/>{found}</WhenPrompt>\n")
	p.write("xmd.toml", fmt.Sprintf("[agents.spy]\ncommand = 'sh'\nargs = ['-c', 'tee %s | %s sim --script %s --home %s %s']\n",
		p.at("frames.in"), p.bin, p.at("answers.script"), p.at("agent"), faults))
}

// machineDocument has a tool that looks at what others see of the machine: command lines of this account's processes, and the files of this run while it runs.
const machineDocument = `<Tool name="machine">
` + "```sh exec\n" + `for p in /proc/[0-9]*; do
  if grep -qs "^HOME=$HOME$" --null-data "$p/environ"; then { tr '\0' ' ' < "$p/cmdline"; } 2>/dev/null || true; echo; fi
done
find "$HOME/state" "$TMPDIR" -printf 'mode %m %y %p\n'
` + "```\n" + `
</Tool>
<Session name="s"><Prompt agent="spy" as="seen">look</Prompt></Session>
{seen}
<Let as="text" value="some words"/>
` + "```sh exec with=\"text@file\"\n" + `cat "$text"; echo; find "$TMPDIR" -mindepth 1 -printf 'mode %m %y %p\n'
` + "```\n" + `
<TempDir as="own">
` + "```sh exec with=\"own\"\n" + `find "$own" -printf 'mode %m %y %p\n'
` + "```\n" + `
</TempDir>
`

var (
	modeLine = regexp.MustCompile(`(?m)^mode (\d+) (\w) (.*)$`)
	doorKey  = regexp.MustCompile(`Bearer ([0-9a-f]{64})|"XMD_DOOR_KEY","value":"([0-9a-f]{64})"`)
)

// private says which of the files that find has listed others could get at.
func private(t *testing.T, listed string, atLeast int) {
	t.Helper()
	found := modeLine.FindAllStringSubmatch(listed, -1)
	if len(found) < atLeast {
		t.Errorf("only %d files are listed: %s", len(found), listed)
	}
	for _, m := range found {
		want := map[string]string{"d": "700", "f": "600"}[m[2]]
		if filepath.Base(m[3]) != "state" && m[1] != want { // the person's own
			t.Errorf("%s has the mode %s", m[3], m[1])
		}
	}
}

// list is what find lists of a folder.
func list(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			fmt.Fprintf(&b, "mode %o %s %s\n", info.Mode().Perm(), map[bool]string{true: "d", false: "f"}[e.IsDir()], path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Whatever the umask, what xmd keeps and what it puts aside is the person's alone, also while it runs, and what it was told to write has
// the mode that the umask gives. The door's key is in nothing that is written, shown or visible of a process.
func TestNothingIsOpenToOthers(t *testing.T) {
	masks := []int{0, 0o77}
	if os.Geteuid() == 0 {
		masks = append(masks, 0o777) // of anybody else it makes that the agent can read nothing of its own
	}
	for _, faults := range []string{"", "--fault no-mcp-http"} {
		for _, mask := range masks {
			t.Run(fmt.Sprintf("%s umask %o", faults, mask), func(t *testing.T) {
				t.Parallel()
				p := newAccount(t)
				p.spied(faults)
				p.write("doc.xmd", machineDocument)
				p.write("trace", "of an earlier run, for all to read\n")
				_, stdout, stderr := p.xmd(mask, "run", "doc.xmd", "-v", "--report", "html=r.html", "--report", "junit=r.xml", "--trace-acp", "trace", "--format", "ndjson")
				shown := p.must(mask, "replay", "last") + p.must(mask, "show", "last")
				if !strings.Contains(stdout, "some words") || !strings.Contains(shown, "some words") || (faults != "") != strings.Contains(shown, "door-shim") {
					t.Fatalf("%s\n%s\n%s", shown, stdout, stderr)
				}
				private(t, shown, 9)
				private(t, list(t, filepath.Join(p.home, "state", "xmd")), 5)
				if left, err := os.ReadDir(p.at("tmp")); err != nil || len(left) != 0 {
					t.Errorf("temporary files stay: %v %v", left, err)
				}
				for name, want := range map[string]fs.FileMode{"r.html": 0o666 &^ fs.FileMode(mask), "r.xml": 0o666 &^ fs.FileMode(mask), "trace": 0o600} {
					if info, err := os.Lstat(p.at(name)); err != nil || info.Mode() != want {
						t.Errorf("%s: %v, want the mode %v, %v", name, info.Mode(), want, err)
					}
				}
				p.keyIsNowhere(stdout, stderr, shown)
			})
		}
	}
}

// keyIsNowhere searches everything that xmd wrote or said for the door's keys.
func (p *account) keyIsNowhere(said ...string) {
	p.t.Helper()
	frames, err := os.ReadFile(p.at("frames.in"))
	if err != nil {
		p.t.Fatal(err)
	}
	m := doorKey.FindSubmatch(frames)
	if m == nil {
		p.t.Fatalf("the agent was given no key: %s", frames)
	}
	key := append(m[1], m[2]...)
	for i, text := range said {
		if strings.Contains(text, string(key)) {
			p.t.Errorf("the key is in output %d", i)
		}
	}
	searched := 0
	err = filepath.WalkDir(p.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || path == p.at("frames.in") {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, key) {
			p.t.Errorf("the key is in %s", path)
		}
		searched++
		return err
	})
	if err != nil || searched < 8 {
		p.t.Errorf("%d files were searched, %v", searched, err)
	}
}

// A person who may do nothing with a new file by its mode can run a document all the same: what xmd makes for itself it gives the mode
// it needs.
func TestRunUnderAnyUmask(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	p := newAccount(t)
	p.as = &syscall.Credential{Uid: 65534, Gid: 65534}
	self, err := os.ReadFile("/proc/self/exe") // the test's folder is root's
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(p.bin), os.WriteFile(p.bin, self, 0o755)); err != nil {
		t.Fatal(err)
	}
	p.write("doc.xmd", "<Let as=\"text\" value=\"some words\"/>\n```sh exec with=\"text@file\"\ncat \"$text\"\n```\n<Each in={[1, 2]} let=\"n\" parallel={2}>\n```sh exec\nhead -c 3000000 /dev/zero | tr '\\0' x | fold\n```\n</Each>\n<TempDir as=\"d\">\n```sh exec with=\"d\"\ntouch \"$d/x\" && echo made\n```\n</TempDir>\n")
	for up := p.home; up != "/tmp" && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"", "tmp", "state"} {
		if err := os.Chown(p.at(name), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if stdout := p.must(0o777, "run", "doc.xmd"); !strings.Contains(stdout, "some words") || !strings.Contains(stdout, "made") || len(stdout) < 6_000_000 {
		t.Errorf("%d bytes", len(stdout))
	}
}

// What stands in the place of a file of xmd's and is no such file is refused or replaced, and what a link there points to is not touched.
func TestLinksAreNotFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		at   string // where the link stands
		args []string
		code int
		say  string
	}{
		"the state folder":  {"state/xmd", []string{"run", "doc.xmd"}, 1, "this is a symbolic link, which is not followed"},
		"the database":      {"state/xmd/xmd.db", []string{"run", "doc.xmd"}, 1, "this is a symbolic link, which is not followed"},
		"a log alone":       {"state/xmd/xmd.db-wal", []string{"run", "doc.xmd"}, 1, "the database is gone but its -wal file is there"},
		"the locks":         {"state/xmd/locks", []string{"run", "doc.xmd"}, 1, "this is a symbolic link, which is not followed"},
		"a report":          {"r.html", []string{"run", "doc.xmd", "--report", "html=r.html"}, 0, ""},
		"what is formatted": {"beside.xmd", []string{"fmt", "doc.xmd"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newAccount(t)
			p.write("doc.xmd", "```sh exec\necho ran > ran\n```\n")
			p.write("precious", "precious\n")
			if strings.HasPrefix(c.at, "state/xmd/") {
				if err := os.Mkdir(p.at("state/xmd"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(p.at("precious"), p.at(c.at)); err != nil {
				t.Fatal(err)
			}
			code, _, stderr := p.xmd(0, c.args...)
			if code != c.code || !strings.Contains(stderr, c.say) {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			text, err := os.ReadFile(p.at("precious"))
			info, serr := os.Stat(p.at("precious"))
			if err != nil || serr != nil || string(text) != "precious\n" || info.Mode().Perm() != 0o644 {
				t.Errorf("it was touched: %q %v", text, info.Mode())
			}
			if _, err := os.Stat(p.at("ran")); (err == nil) != (c.code == 0 && c.args[0] == "run") {
				t.Errorf("whether the document ran: %v", err)
			}
		})
	}
}

// Files of another user are not taken for one's own: a state folder, a trace that is there already, and a configuration above the folder of
// the run, which could name any program. One in a project that is another's as a whole counts.
func TestFilesOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	p := newAccount(t)
	p.write("doc.xmd", "```sh exec\necho ran\n```\n")
	if err := os.Mkdir(p.at("below"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write("xmd.toml", "[agents.sim]\ncommand = 'sh'\nargs = ['-c', 'echo owned > owned']\n")
	p.write("ask.xmd", "<Prompt agent=\"sim\" text=\"hello\"/>\n")
	give := func(name string, uid int) {
		t.Helper()
		if err := os.Chown(p.at(name), uid, uid); err != nil {
			t.Fatal(err)
		}
	}
	give("xmd.toml", 65534)
	for _, dir := range []string{".", "below"} {
		if code, _, stderr := p.xmd(0o22, "run", "ask.xmd", "-C", dir); code != 2 || !strings.Contains(stderr, "xmd.toml belongs to another user (65534)") {
			t.Errorf("in %s: exit code %d: %s", dir, code, stderr)
		}
	}
	if code, stdout, _ := p.xmd(0o22, "doctor"); code != 1 || !strings.Contains(stdout, "belongs to another user") {
		t.Errorf("doctor: %d %s", code, stdout)
	}
	if _, err := os.Stat(p.at("owned")); err == nil {
		t.Error("the other user's program was started")
	}
	give("below", 65534)
	if err := os.Rename(p.at("xmd.toml"), p.at("below/xmd.toml")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := p.xmd(0o22, "run", "doc.xmd", "-C", "below"); code != 0 {
		t.Errorf("a project of another's: exit code %d: %s", code, stderr)
	}
	p.write("trace", "theirs\n")
	give("trace", 65534)
	if code, _, stderr := p.xmd(0o22, "run", "doc.xmd", "--trace-acp", "trace"); code != 2 || !strings.Contains(stderr, "--trace-acp trace: it belongs to another user") {
		t.Errorf("a trace: exit code %d: %s", code, stderr)
	}
	if text, err := os.ReadFile(p.at("trace")); err != nil || string(text) != "theirs\n" {
		t.Errorf("%q %v", text, err)
	}
	give("state/xmd", 65534)
	if code, _, stderr := p.xmd(0o22, "run", "doc.xmd"); code != 1 || !strings.Contains(stderr, "this belongs to another user") {
		t.Errorf("a state folder: exit code %d: %s", code, stderr)
	}
}
