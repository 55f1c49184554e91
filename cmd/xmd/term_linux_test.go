package main

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// looked is what somebody sees at a terminal wide enough: the lines that all that was written leaves there.
func looked(raw string) string {
	lines := [][]string{nil}
	row, col := 0, 0
	for raw != "" {
		switch {
		case strings.HasPrefix(raw, "\x1b[J"):
			lines[row] = lines[row][:min(col, len(lines[row]))]
			lines = lines[:row+1]
			raw = raw[3:]
			continue
		case raw[0] == '\x1b':
			end := strings.IndexByte(raw, 'm')
			raw = raw[end+1:]
			continue
		}
		cluster, rest, width, _ := uniseg.FirstGraphemeClusterInString(raw, -1)
		raw = rest
		switch cluster {
		case "\r\n":
			col = 0
			fallthrough
		case "\n":
			if row++; row == len(lines) {
				lines = append(lines, nil)
			}
		case "\r":
			col = 0
		default:
			for len(lines[row]) < col+max(width, 1) {
				lines[row] = append(lines[row], " ")
			}
			lines[row][col] = cluster
			for i := 1; i < width; i++ {
				lines[row][col+i] = ""
			}
			col += max(width, 1)
		}
	}
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(strings.Join(line, ""), " "))
	}
	return b.String()
}

// sits runs a command line of the shell at a terminal.
func (h *home) sits(line string, env ...string) *desk {
	h.t.Helper()
	return h.sitAt(exec.Command("/bin/sh", "-c", "trap : INT; "+line+"; echo =$?="), env)
}

// seen waits for the end and gives the raw bytes and what is seen, without the line that tells the code, which it checks.
func (d *desk) seen(code string) (raw, look string) {
	d.h.t.Helper()
	d.Await("=" + code + "=\r\n")
	d.ends()
	raw = d.Raw()
	return raw, strings.TrimSuffix(looked(raw), "="+code+"=\n")
}

const slow = "# Title\n\nSome **bold** text.\n<Prompt agent=\"sim\" session=\"s\">SLEEP 600</Prompt>\n- a `list`\n"

const slowText = "# Title\n\nSome **bold** text.\nslept\n- a `list`\n"

// A status line stands there while an agent works, and leaves no trace. stdout has nothing of it.
func TestStatusLineComesAndGoes(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		env  []string
		see  string
	}{
		"all at one terminal":   {"xmd run doc.xmd", nil, slowText},
		"stdout is a file":      {"xmd run doc.xmd >out.md", nil, ""},
		"without colours":       {"xmd run doc.xmd >out.md", []string{"NO_COLOR=1"}, ""},
		"of a resume":           {"xmd run doc.xmd >out.md --deny-all && xmd run doc.xmd --no-color", nil, slowText},
		"a program in progress": {"xmd run sh.xmd >out.md", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, slow)
			h.write("sh.xmd", "# Title\n\nSome **bold** text.\n```sh exec\nsleep 0.6; echo slept\n```\n- a `list`\n")
			d := h.sits(c.line, c.env...)
			d.Await(".xmd:4:1 · ")
			raw, look := d.seen("0")
			if look != c.see {
				t.Errorf("left there: %q, raw %q", look, raw)
			}
			if strings.Contains(c.line, "out.md") && h.read("out.md") != slowText {
				t.Errorf("stdout has %q", h.read("out.md"))
			}
			if c.env != nil && strings.Contains(raw, "\x1b") {
				t.Errorf("an escape byte: %q", raw)
			}
			h.check()
		})
	}
}

// Where there is no person, or nothing that can be drawn on, there is no status line and no escape byte anywhere.
func TestNothingIsDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		env  []string
	}{
		"stderr is a file": {"xmd run doc.xmd 2>err.txt | cat", nil},
		"TERM=dumb":        {"xmd run doc.xmd", []string{"TERM=dumb"}},
		"CI":               {"xmd run doc.xmd", []string{"CI=true"}},
		"-q":               {"xmd run -q --no-color doc.xmd", nil},
		"pipes":            {"xmd run doc.xmd 2>&1 | cat", nil},
		"pipes in colour":  {"xmd run doc.xmd 2>err.txt | cat", []string{"CLICOLOR_FORCE=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t, slow)
			d := h.sits(c.line, c.env...)
			raw, _ := d.seen("0")
			if want := strings.ReplaceAll(slowText, "\n", "\r\n") + "=0=\r\n"; raw != want {
				t.Errorf("%q, want %q", raw, want)
			}
			if err := h.read("err.txt"); err != "" {
				t.Errorf("on stderr: %q", err)
			}
		})
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// The same bytes go to a pipe as to a terminal, minus escapes.
func TestPipeGetsWhatTheTerminalGets(t *testing.T) {
	h := newHome(t, slow+"\n> quote *x*\n\n```txt\n# code **x**\n```\n<Prompt agent=\"sim\">CHUNKS 20 7</Prompt>\n```sh exec\nprintf '漢字 \\303'; sleep 0.1; printf '\\244 **half'; sleep 0.1; echo '** whole'\n```\n| a | b |\n\t\\*no\\* 3 * 4 * 5 `\n{1 + 1}")
	piped := h.plain(nil, "run", "doc.xmd")
	if piped.code != 0 || piped.stderr != "" || strings.ContainsAny(piped.stdout, "\x1b\r") {
		t.Fatalf("%+v", piped)
	}
	d := h.sits("xmd run doc.xmd 2>err.txt")
	raw, _ := d.seen("0")
	text, styled := strings.ReplaceAll(sgr.ReplaceAllString(raw, ""), "\r\n", "\n"), strings.Count(raw, "\x1b[")
	if got := strings.TrimSuffix(text, "=0=\n"); got != piped.stdout || styled < 10 {
		t.Errorf("%d styles; at the terminal\n%q, in a pipe\n%q", styled, got, piped.stdout)
	}
	d = h.sits("xmd replay last 2>err.txt")
	again, _ := d.seen("0")
	if got := strings.ReplaceAll(sgr.ReplaceAllString(again, ""), "\r\n", "\n"); got != text {
		t.Errorf("the replay shows %q", again)
	}
}

// A line never is as wide as the terminal, whatever becomes of its width.
func TestStatusLineAfterAResize(t *testing.T) {
	h := newHome(t, "<Prompt agent=\"sim\" session=\"a-session-with-a-long-name-漢字漢字\">SLEEP 6000</Prompt>\n")
	d := h.sits("xmd run doc.xmd")
	d.Await("to begin")
	d.Resize(24, 31)
	d.Await("…")
	narrow := d.Raw()
	narrow = narrow[strings.LastIndex(narrow, "\x1b[2m"):]
	line, _, _ := strings.Cut(narrow[len("\x1b[2m"):], "\x1b")
	if w := uniseg.StringWidth(line); w > 30 || w < 28 {
		t.Errorf("%d columns: %q", w, line)
	}
	d.Resize(24, 120)
	d.Await("to begin")
	d.Type("\x03")
	_, look := d.seen("130")
	if !strings.HasPrefix(look, "^C") && !strings.HasPrefix(look, "doc.xmd") && !strings.HasPrefix(look, "go on with") || strings.Contains(look, " · ") {
		t.Errorf("left there: %q", look)
	}
	h.check()
}

// A second Ctrl-C ends xmd at once; the line is gone all the same.
func TestStatusLineGoesWithTheSecondSignal(t *testing.T) {
	h := newHome(t, "```sh exec\ntrap '' INT TERM; sleep 30\n```\n")
	d := h.sits("xmd run doc.xmd")
	d.Await("waiting for the program to end")
	d.Type("\x03")
	d.Await("^C")
	d.Type("\x03")
	if _, look := d.seen("130"); strings.Contains(look, " · ") {
		t.Errorf("left there: %q", look)
	}
}

// Tool calls are a line each at a terminal, and with -v; agents' words do nothing to it.
func TestToolLines(t *testing.T) {
	h := newHome(t, "<Prompt agent=\"sim\" session=\"s\">TOOLS 2</Prompt>\n")
	h.write("rules.script", "<WhenPrompt template=\"go\"><ToolCall kind=\"execute\" title=\"Bash\" input={{\"command\": \"a\\u001b]0;x\\u0007\\nb\"}} outcome=\"failed\"/>done</WhenPrompt>\n")
	h.write("go.xmd", "<Prompt agent=\"sim\">go</Prompt>\n")
	d := h.sits("xmd run doc.xmd")
	_, look := d.seen("0")
	if n := len(regexp.MustCompile(`(?m)^sim: Read .* \(done, 0\.\ds\)$`).FindAllString(look, -1)); n != 2 || !strings.HasSuffix(look, "\ndone\n") {
		t.Errorf("%q", look)
	}
	d = h.sits("xmd run go.xmd", "XMD_SIM_SCRIPT="+h.dir+"/rules.script")
	raw, look := d.seen("0")
	if !strings.Contains(look, "(failed, ") || strings.ContainsAny(raw, "\x07") || strings.Contains(raw, "\x1b]") {
		t.Errorf("%q", raw)
	}
	if o := h.plain(nil, "run", "doc.xmd"); o.stderr != "" {
		t.Errorf("without a terminal: %q", o.stderr)
	}
	if o := h.plain(nil, "run", "-v", "doc.xmd"); strings.Count(o.stderr, "sim: Read ") != 2 || strings.Contains(o.stderr, "\x1b") {
		t.Errorf("with -v: %q", o.stderr)
	}
	if o := h.plain(nil, "replay", "last"); o.stderr != "" {
		t.Errorf("a replay: %q", o.stderr)
	}
}

// Who is asked about an edit sees it, and no secret of the run.
func TestPermissionQuestionShowsTheDiff(t *testing.T) {
	h := newHome(t, "---\nenv:\n  TOKEN: {secret: true}\n---\n<Prompt agent=\"sim\">go</Prompt>\n")
	h.write("rules.script", "<WhenPrompt template=\"go\"><ToolCall kind=\"edit\" title=\"Edit a.go\" diff={{\"path\": \"a.go\", \"oldText\": \"one\\ntwo\\n\", \"newText\": \"one\\n2\\u001b[2J hunter22\\n\"}} ask/>done</WhenPrompt>\n")
	d := h.sits("xmd run doc.xmd", "XMD_SIM_SCRIPT="+h.dir+"/rules.script", "TOKEN=hunter22")
	d.Await("--- " + h.dir + "/a.go")
	d.Await("-two\r\n+2[2J ***\r\n")
	d.Await("allow it once? [y/N] ")
	d.Type("y\r")
	raw, look := d.seen("0")
	if !strings.Contains(raw, "\x1b[31m-two\x1b[0m") || strings.Contains(raw, "hunter22") || !strings.HasSuffix(look, "done\n") {
		t.Errorf("%q", raw)
	}
}
