package main

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const replayed = `<Prompt agent="mine" session="s">one</Prompt>
<Parallel>
<Prompt agent="mine">two</Prompt>
<Prompt agent="mine" session="p">CHUNKS 50 100</Prompt>
</Parallel>
` + "```bash exec\necho out; echo err >&2\n```" + `
<File path="a.txt">written</File>
<Glob include="*.txt"/>
<TempDir as="dir"><File path={dir + "/x"}>kept</File>{dir}</TempDir>
<Each in={[1, 2]} let="n" parallel={2}><Prompt agent="mine" as="r">SAY {n}</Prompt>{r} </Each>
`

// Case: a complete journal is replayed with the agents gone, byte for byte, and nothing is done for it: no process, no socket, and no
// file is written but SQLite's own.
func TestReplayDoesNothing(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	h := newHome(t, replayed)
	h.write("xmd.toml", "[agents.mine]\ncommand = \"./mine\"\nexecutable = \"./mine\"\nversion = [\"./mine\", \"--version\"]\n")
	h.write("mine", "#!/bin/sh\n[ \"$1\" = --version ] && { echo 1.0.0; exit; }\nexec ./xmd sim\n")
	if err := os.Chmod(filepath.Join(h.dir, "mine"), 0o755); err != nil {
		t.Fatal(err)
	}
	was := h.xmd(nil, "run", "doc.xmd", "--approve-all")
	if was.code != 0 {
		t.Fatalf("%+v", was)
	}
	if err := os.Remove(filepath.Join(h.dir, "mine")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, h.dir)
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-qq", "-o", trace, "-e", "trace=process,network,%file,write,pwrite64,ftruncate", filepath.Join(h.dir, "xmd"), "replay", "last")
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), "GO_TEST_AS_XMD=1", quickExit, "HOME="+h.dir, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || string(out) != was.stdout || errs.String() != "" {
		t.Errorf("replay: %v\n%s\nstderr %s", err, out, errs.String())
	}
	if now := tree(t, h.dir); now != before {
		t.Error("the replay changed something outside of the store's -wal and -shm")
	}
	calls, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range misdeeds(string(calls)) {
		t.Errorf("the replay did: %s", line)
	}
	if code := h.xmd(nil, "run", "doc.xmd").code; code != 4 { // the agent really is gone
		t.Errorf("a run without the agent ends with %d", code)
	}
}

// tree is the digest of all files below dir, SQLite's -wal and -shm left out.
func tree(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-shm") {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		sum.Write([]byte(path + info.Mode().String()))
		if e.Type().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum.Write(text)
			sum.Write([]byte(info.ModTime().String()))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(sum.Sum(nil))
}

var (
	// A thread is no process.
	newProcess = regexp.MustCompile(`\b(fork|vfork|clone3?|execve|execveat)\(`)
	sockets    = regexp.MustCompile(`\b(socket|socketpair|connect|bind|listen|accept4?)\(`)
	changes    = regexp.MustCompile(`\b(unlink|unlinkat|rename|renameat2?|mkdir|mkdirat|rmdir|chmod|fchmodat2?|truncate|link|linkat|symlink|symlinkat|utimensat|creat)\(`)
	writing    = regexp.MustCompile(`O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)`)
	opened     = regexp.MustCompile(`\bopen(at)?\([^"]*"([^"]*)", ([A-Z_|]+)`)
)

// misdeeds are the calls of a trace that a replay must not make.
func misdeeds(trace string) []string {
	var bad []string
	first := true
	for line := range strings.Lines(trace) {
		switch m := opened.FindStringSubmatch(line); {
		case newProcess.MatchString(line) && !strings.Contains(line, "CLONE_THREAD"):
			if !first {
				bad = append(bad, line)
			}
			first = false // the program itself
		case sockets.MatchString(line), changes.MatchString(line) && !strings.Contains(line, "-wal\"") && !strings.Contains(line, "-shm\""):
			bad = append(bad, line)
		case m != nil && writing.MatchString(m[3]):
			if !strings.HasSuffix(m[2], "-wal") && !strings.HasSuffix(m[2], "-shm") && m[2] != "/dev/null" {
				bad = append(bad, line)
			}
		}
	}
	return bad
}

// A run that a signal or a closed stdout ended is replayed to where it ended.
func TestReplayOfAnInterruptedRun(t *testing.T) {
	const text = "begun\n<Parallel>\n<Prompt agent=\"sim\" session=\"s\">SLEEP 60000</Prompt>\n<Prompt agent=\"sim\">SAY ready</Prompt>\n</Parallel>\nnever\n"
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		x := startXMD(t, "", text)
		x.await("begun")
		x.awaitTurn()
		x.signal(sig)
		rest, _ := io.ReadAll(x.stdout)
		code := x.code()
		h := &home{t: t, dir: x.home, mark: x.mark}
		if o := h.xmd(nil, "replay", "last"); o.code != code || o.stdout != "begun\n"+string(rest) {
			t.Errorf("%v: code %d, %q; replay %+v", sig, code, rest, o)
		}
	}
	x := startXMD(t, "", "begun\n<Prompt agent=\"sim\">CHUNKS 200000 100</Prompt>\n")
	x.await("begun")
	_ = x.pipe.Close()
	code := x.code()
	h := &home{t: t, dir: x.home, mark: x.mark}
	started := time.Now()
	if o := h.xmd(nil, "replay", "last"); o.code != code || !strings.HasPrefix(o.stdout, "begun\nx") || time.Since(started) > 20*time.Second {
		t.Errorf("a closed stdout: code %d; replay ends with %d, %d bytes, %s", code, o.code, len(o.stdout), o.stderr)
	}
}
