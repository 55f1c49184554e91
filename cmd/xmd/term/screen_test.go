package term_test

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"xmd/cmd/xmd/term"
)

// Writers of every kind at once never meet the line, and nothing of it is left. With blanks in place of escapes too.
func TestScreenHasOneWriter(t *testing.T) {
	for escape, drawn := range map[bool]string{
		true:  `(?:\r\x1b\[2mline \d+ +end\x1b\[0m\x1b\[J\r)+\r\x1b\[J`,
		false: `(?:\rline \d+ +end *\r)+\r +\r`,
	} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan string)
		go func() { all, _ := io.ReadAll(r); read <- string(all) }()
		var n atomic.Int64
		s := term.NewScreen(w, func() string {
			i := n.Add(1)
			return fmt.Sprintf("line %d %send", i, strings.Repeat(" ", int(i*7%50)))
		}, escape)
		out, errs := s.Through(w), s.Through(w)
		var wg sync.WaitGroup
		for i, to := range []io.Writer{out, errs} {
			wg.Go(func() {
				for j := range 3 {
					_, _ = fmt.Fprintf(to, "writer %d says %d\n", i, j)
					for was := n.Load(); n.Load() == was; { // the line is drawn in between
						s.Changed()
					}
				}
			})
		}
		wg.Go(func() {
			for range 3 {
				release := s.Hold()
				_, _ = io.WriteString(w, "alone\n") // as an editor does
				release()
				release()
			}
		})
		wg.Wait()
		_, _ = io.WriteString(out, "unfinished")
		s.Close()
		s.Close()
		_, _ = io.WriteString(out, " line\n")
		_ = w.Close()
		raw := <-read
		text := regexp.MustCompile(drawn).ReplaceAllString(raw, "")
		got := strings.Split(text, "\n")
		slices.Sort(got)
		want := "\nalone\nalone\nalone\nunfinished line\nwriter 0 says 0\nwriter 0 says 1\nwriter 0 says 2\nwriter 1 says 0\nwriter 1 says 1\nwriter 1 says 2"
		if strings.Join(got, "\n") != want || !strings.Contains(raw, "line ") {
			t.Errorf("escape %v: %q left of %q", escape, text, raw)
		}
	}
}

// A nil screen and one that is given up are no obstacle.
func TestScreenThatIsNone(t *testing.T) {
	var none *term.Screen
	none.Changed()
	none.Hold()()
	none.Abandon()
	none.Close()
	var b strings.Builder
	if _, err := io.WriteString(none.Through(&b), "x"); err != nil || b.String() != "x" {
		t.Error(b.String(), err)
	}
	_, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := term.NewScreen(w, func() string { return "x" }, true)
	s.Abandon()
	s.Close()
}
