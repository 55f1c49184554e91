package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"xmd/runtime/event"
)

// hostile is what an agent may say to get out of whatever it is put into.
var hostile = []string{
	"</pre><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "]]></failure><testcase/>", "::add-mask::x\n::set-output name=a::b", "##[error]x",
	"\x00\x1b[31m\x07\u202e", "| cell | `code` </td>", "{{.}} {{template \"end\"}}", "bad \xff utf", "```\n# heading", "javascript:alert(1)", "&lt;b&gt; %0A::error::x",
}

// told is a run in which every text is said.
func told(say string, sinks ...event.Sink) {
	at := event.At{Step: "Prompt1", Position: "doc.xmd:2:1", Agent: "sim", Session: say}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	in, out := int64(3), int64(4)
	seq := uint64(0)
	emit := func(t event.Type, at event.At, body any) {
		seq++
		now = now.Add(250 * time.Millisecond)
		for _, s := range sinks {
			s.Event(&event.Event{Seq: seq, Time: now, Run: "01RUN", Type: t, At: at, Body: body})
		}
	}
	emit(event.RunStarted, event.At{}, &event.Run{Document: say, Dir: "/home/ada/work"})
	emit(event.Warning, at, &event.Warn{Code: "compat", Text: say})
	emit(event.StepStarted, at, &event.Step{Kind: "prompt"})
	emit(event.PromptSent, at, &event.Sent{Words: say})
	emit(event.Thought, at, &event.Delta{Text: say})
	emit(event.ToolStarted, at, &event.Tool{ID: "1", Name: say, Subject: say})
	emit(event.ToolEnded, at, &event.Tool{ID: "1", Name: say, Outcome: "done", Output: say, Diffs: []map[string]any{{"path": say, "old": "a\n" + say, "new": "a\nb"}}})
	emit(event.Permission, at, &event.Asked{Kind: "execute", Title: say, Subject: say, Reason: say})
	emit(event.PromptEnded, at, &event.Ended{Outcome: "done", Reply: say, Usage: map[string]any{"inputTokens": in, "outputTokens": out, "totalTokens": in + out}})
	emit(event.StepEnded, at, &event.Step{Kind: "prompt", Outcome: "done"})
	exec := event.At{Step: "exec2", Position: "doc.xmd:5:1"}
	emit(event.StepStarted, exec, &event.Step{Kind: "exec"})
	emit(event.ExecOutput, exec, &event.Delta{Text: say, Stream: "stderr"})
	emit(event.Text, event.At{}, &event.Delta{Text: say})
	failed := &event.Error{Code: 1, Kind: "failed", Message: say, Position: exec.Position}
	emit(event.StepEnded, exec, &event.Step{Kind: "exec", Outcome: "failed", Error: failed})
	emit(event.StepStarted, event.At{Step: "Prompt3", Position: "doc.xmd:9:1"}, &event.Step{Kind: "prompt"})
	emit(event.RunEnded, event.At{}, &event.End{Outcome: "failed", ExitCode: 1, Errors: []*event.Error{failed, {Code: 6, Kind: "limit", Message: "too long"}}, Resume: "xmd resume 01RUN"})
}

func TestJUnit(t *testing.T) {
	for _, say := range hostile {
		j := NewJUnit()
		told(say, j)
		var b strings.Builder
		if _, err := j.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		var got suites
		if err := xml.Unmarshal([]byte(b.String()), &got); err != nil {
			t.Fatalf("%q: %v", say, err)
		}
		s := got.Suites[0]
		if got.Tests != 4 || s.Failures != 1 || s.Errors != 1 || s.Skipped != 1 || len(s.Cases) != 4 {
			t.Errorf("%q: %+v", say, got)
		}
		if c := s.Cases[1]; c.Failure == nil || c.Failure.Type != "failed" || c.File != "doc.xmd" || c.Line != "5" || c.Time != "0.750" {
			t.Errorf("%q: %+v", say, c)
		}
	}
}

// tags are the elements of a page, and nothing that an agent wrote makes another.
var tags = regexp.MustCompile(`<[a-zA-Z/!][^>]*>`)

func TestHTMLHoldsWhatItIsGiven(t *testing.T) {
	count := -1
	for _, say := range append([]string{"plain"}, hostile...) {
		h, err := NewHTML()
		if err != nil {
			t.Fatal(err)
		}
		told(say, h)
		var b strings.Builder
		if _, err := h.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		page := b.String()
		found := tags.FindAllString(page, -1)
		if count < 0 {
			count = len(found)
		}
		lines := strings.Count(say, "\n") // of a diff, each an element of its own
		if len(found) != count+2*lines {
			t.Errorf("%q makes %d elements, %d wanted", say, len(found), count+2*lines)
		}
		for _, bad := range []string{"<script", "onerror=alert(1)>", "href=\"javascript"} {
			if strings.Contains(page, bad) {
				t.Errorf("%q: the page has %q", say, bad)
			}
		}
		for _, want := range []string{"default-src 'none'", "doc.xmd:5:1", "not ended", "xmd resume 01RUN", "left:", "3 tokens in, 4 out, 7 in all", "</html>"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q: the page lacks %q", say, want)
			}
		}
	}
}

// Of a long run a page stays bounded by what is shown, and memory by less.
func TestHTMLOfALongRun(t *testing.T) {
	h, err := NewHTML()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	emit := func(kind event.Type, at event.At, body any) {
		h.Event(&event.Event{Time: time.Unix(0, 0), Run: "r", Type: kind, At: at, Body: body})
	}
	emit(event.RunStarted, event.At{}, &event.Run{Document: "doc.xmd"})
	big := strings.Repeat("x", 1<<20)
	for i := range 500 {
		at := event.At{Step: fmt.Sprintf("Prompt%d", i), Position: fmt.Sprintf("doc.xmd:%d:1", i+1), Agent: "sim"}
		emit(event.StepStarted, at, &event.Step{Kind: "prompt"})
		emit(event.PromptSent, at, &event.Sent{Words: "go on"})
		emit(event.PromptEnded, at, &event.Ended{Outcome: "done", Reply: big})
		emit(event.StepEnded, at, &event.Step{Kind: "prompt", Outcome: "done"})
	}
	emit(event.RunEnded, event.At{}, &event.End{Outcome: "done"})
	n, err := h.WriteTo(io.Discard)
	if err != nil || n < 500*mostText || n > 500*(mostText+4<<10) {
		t.Errorf("%d bytes, %v", n, err)
	}
	if len(h.steps.order) != 0 || len(h.steps.open) != 0 {
		t.Errorf("%d steps are kept", len(h.steps.order))
	}
}

func TestGitHub(t *testing.T) {
	for _, say := range hostile {
		var b strings.Builder
		w := NewLines(&b)
		g := NewGitHub(w, "TOKEN")
		_, _ = io.WriteString(w, "an open line")
		told(say, g)
		g.Close()
		on := true
		var obeyed []string
		for _, line := range strings.Split(b.String(), "\n") {
			switch {
			case line == "::stop-commands::TOKEN":
				on = false
			case line == "::TOKEN::":
				on = true
			case on && strings.HasPrefix(line, "::"):
				name, _, _ := strings.Cut(line[2:], "::")
				obeyed = append(obeyed, name)
			}
		}
		want := "warning file=doc.xmd,line=2,col=1 group endgroup group endgroup group endgroup error file=doc.xmd,line=5,col=1 error"
		if got := strings.Join(obeyed, " "); got != want || !on {
			t.Errorf("%q: %s\n%s", say, got, b.String())
		}
		sum := unfenced(g.Summary())
		if strings.Contains(sum, "<script") || strings.Contains(sum, "<img") || strings.Count(sum, "\n| ") != 4 || !strings.Contains(sum, "3 tokens in, 4 out") {
			t.Errorf("%q: %s", say, sum)
		}
	}
}

// unfenced is a Markdown text without its code blocks.
func unfenced(text string) string {
	var b strings.Builder
	fence := ""
	for _, line := range strings.SplitAfter(text, "\n") {
		switch bare := strings.TrimSpace(line); {
		case fence == "" && strings.HasPrefix(bare, "```"):
			fence = bare
		case fence != "" && bare == fence:
			fence = ""
		case fence == "":
			b.WriteString(line)
		}
	}
	return b.String() + fence
}

func TestPlace(t *testing.T) {
	for in, want := range map[string][3]string{
		"a.xmd:1:2": {"a.xmd", "1", "2"}, "a.xmd:7": {"a.xmd", "7", ""}, "a.xmd": {"a.xmd", "", ""}, "": {}, "C:\\a.xmd:3:4": {"C:\\a.xmd", "3", "4"}, "a:b:c": {"a:b:c", "", ""},
	} {
		file, line, col := place(in)
		if got := [3]string{file, line, col}; got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
