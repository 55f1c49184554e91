package runtime

import (
	"strings"
	"testing"
	"time"
)

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, yes, no string // paths, by blanks
	}{
		{"*", "a a.go ü", ".a a/b"},
		{"*.go", "a.go", "a.go.txt a/b.go .go .a.go"},
		{"**", "a a/b a/b/c", ".a a/.b .a/b"},
		{"**/*.go", "a.go a/b.go a/b/c.go", ".git/a.go a/.b/c.go a.txt"},
		{"src/**", "src/a src/a/b", "src2/a a/src/b"},
		{"src/**/test/*.go", "src/test/a.go src/x/test/a.go src/x/y/test/a.go", "src/test/x/a.go test/a.go"},
		{"a/**/**/b", "a/b a/x/b a/x/y/b", "a/x"},
		{"**/a/**/b", "a/b x/a/y/a/b a/a/b", "b a b/a"},
		{"?.txt", "a.txt é.txt", "ab.txt .txt"},
		{"[a-c].txt", "a.txt", "d.txt"},
		{"[!a-c].txt", "d.txt", "a.txt"},
		{"{a,b}.go", "a.go b.go", "c.go {a,b}.go"},
		{"{src,test}/**/*.{ts,tsx}", "src/a.ts test/x/b.tsx", "lib/a.ts src/a.js"},
		{"{a,{b,c}d}", "a bd cd", "b d"},
		{".github/**", ".github/a .github/w/b", "github/a .github/.x"},
		{".*", ".a", "a"},
		{`\*`, "*", "a"},
		{`a\{b\}`, "a{b}", "ab"},
		{"a}b", "a}b", "ab"},
	} {
		p, err := compilePattern(c.pattern, false)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, path := range strings.Fields(c.yes) {
			if !p.match(path) {
				t.Errorf("%s does not match %s", c.pattern, path)
			}
		}
		for _, path := range strings.Fields(c.no) {
			if p.match(path) {
				t.Errorf("%s matches %s", c.pattern, path)
			}
		}
	}
	for _, bad := range []string{"[a", `a\`, "{a,b", strings.Repeat("{a,b}", 11)} {
		if _, err := compilePattern(bad, false); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	hidden, _ := compilePattern("**/*.go", true)
	if !hidden.match(".git/.a.go") {
		t.Error("hidden names are not matched")
	}
}

func TestMatchersAreFast(t *testing.T) {
	start := time.Now()
	p, err := compilePattern(strings.Repeat("**/a/", 30)+"b", false)
	if err != nil {
		t.Fatal(err)
	}
	p.match(strings.Repeat("a/", 2000) + "c")
	wild(strings.Repeat("*a", 40)+"b", strings.Repeat("a", 20_000), shellMarks)
	for _, text := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<18), strings.Repeat(`["[ `, 1<<18), strings.Repeat(`{"{`, 1<<18)} {
		_, _ = findJSON(text, nil)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %s", d)
	}
}

func TestCommandGlob(t *testing.T) {
	for _, c := range []struct {
		glob, line      string
		matches, denies bool
	}{
		{"git status", "git status", true, true},
		{"git *", "git log --oneline -5", true, true},
		{"git *", "git", false, false},
		{"git*", "git", true, true},
		{"git *", "git log; rm -rf /", false, true},
		{"git *", "git log && rm x", false, true},
		{"git *", "git log & rm x", false, true},
		{"git *", "git log | sh", false, true},
		{"git *", "git log\nrm x", false, true},
		{"git *", "git log\rrm x", false, true},
		{"git *", "git log `rm x`", false, true},
		{"git *", "git log $(rm x)", false, true},
		{"git *", "git log $HOME", false, true},
		{"git *", "git log > /etc/passwd", false, true},
		{"git *", "git log < /etc/passwd", false, true},
		{"git *", "git log <(rm x)", false, true},
		{"git *", "git log \x00rm", false, true},
		{"git ?tatus", "git ;tatus", false, true},
		{"*", "ls; rm", false, true},
		{"*", "ls -la", true, true},
		{"**", "ls; rm", false, true},
		{"*rm*", "rm -rf $HOME", false, true},
		{"rm *", "true; rm -rf /", false, true},
		{"rm *", "(rm -rf /)", false, true},
		{"rm *", "echo `rm -rf /`", false, true},
		{"rm *", "if true\nthen\n  rm -rf /\nfi", false, true},
		{"rm *", "charm x", false, false},
		{"npm test && npm run lint", "npm test && npm run lint", true, true},
		{"npm test && *", "npm test && rm x", true, true},
		{"npm test && *", "npm test && rm x; ls", false, true},
		{"echo [a]", "echo [a]", true, true},
		{"echo [a]", "echo a", false, false},
		{"echo *", "echo " + strings.Repeat("ä", 100), true, true},
	} {
		g := compileCommand(c.glob)
		if got := g.matches(c.line); got != c.matches {
			t.Errorf("allow %q on %q: %v", c.glob, c.line, got)
		}
		if got := g.touches(c.line); got != c.denies {
			t.Errorf("deny %q on %q: %v", c.glob, c.line, got)
		}
	}
}

func FuzzWildNeverCrosses(f *testing.F) {
	f.Add("git *", "git log; rm")
	f.Add("*a*?", "aa`b")
	f.Fuzz(func(t *testing.T, glob, line string) {
		if strings.ContainsAny(glob, shellMarks) || !strings.ContainsAny(line, shellMarks) {
			return
		}
		if compileCommand(glob).matches(line) {
			t.Errorf("%q matches %q", glob, line)
		}
	})
}
