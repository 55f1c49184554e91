package handoff

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"xmd/runtime"
)

var update = flag.Bool("update", false, "write goldens")

// TestCase1Joined: one who never took part gets all in order, is told so, and does not get the words of its own turn here.
func TestCase1Joined(t *testing.T) {
	handed, b := block(t, runtime.Handover{}, entry(1, "codex", "hello", "hi"))
	if len(b.Turns) != 1 || spell(b.Turns[0].Asked) != "hello" || spell(b.Turns[0].Pieces) != "hi" || b.Turns[0].Agent.Text != "codex" {
		t.Errorf("%+v", b)
	}
	if !strings.Contains(handed.Text, "The conversation began before you joined it") || handed.UpTo != 1 || b.Reason != runtime.ReasonJoined {
		t.Error(handed)
	}
	if strings.Index(handed.Text, "hello") > strings.Index(handed.Text, "| hi") {
		t.Error("not in order")
	}
}

func TestReasons(t *testing.T) {
	for _, w := range why {
		handed, b := block(t, runtime.Handover{Reason: w.reason}, entry(1, "codex", "a", "b"))
		if b.Reason != w.reason || strings.Contains(handed.Text, "lost") != (w.reason == runtime.ReasonLost) {
			t.Errorf("%s: %s", w.reason, handed.Text)
		}
		if w.reason == runtime.ReasonLost && !strings.Contains(handed.Text, "could not be continued") {
			t.Error(handed.Text)
		}
	}
}

// TestCase3Stretch: twelve actions in a row are all shown, of more the first four and the last seven.
func TestCase3Stretch(t *testing.T) {
	for n, want := range map[int]string{
		0: "", 1: names(1, 1), 11: names(1, 11), 12: names(1, 12), 13: names(1, 4) + " -2 actions " + names(7, 13),
		30: names(1, 4) + " -19 actions " + names(24, 30),
	} {
		_, b := block(t, runtime.Handover{}, withActions(1, n))
		want = strings.Join(strings.Fields("I begin. "+want+" I am done."), " ")
		if got := spell(b.Turns[0].Pieces); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	_, b := block(t, runtime.Handover{}, runtime.Entry{Number: 1, Parts: append(withActions(1, 12).Parts, withActions(1, 13).Parts...)})
	if got := spell(b.Turns[0].Pieces); strings.Count(got, "-") != 1 || strings.Count(got, "a12") != 2 {
		t.Errorf("words part stretches: %q", got)
	}
}

// TestCase5Newest: the newest turns are kept whole, without a gap, and those that are left out are counted.
func TestCase5Newest(t *testing.T) {
	var all []runtime.Entry
	for i := range 200 {
		all = append(all, entry(i+1, "codex", strings.Repeat("q", 500), strings.Repeat("a", 500)))
	}
	for _, h := range []runtime.Handover{{}, {First: &runtime.Entry{Number: 1, Words: strings.Repeat("q", 500), Agent: "codex"}}} {
		handed, b := block(t, h, all...)
		if b.LeftOut+len(b.Turns) != 200 || len(b.Turns) < 50 || handed.UpTo != 200 {
			t.Errorf("%d turns, %d left out", len(b.Turns), b.LeftOut)
		}
		for i, turn := range b.Turns {
			if turn.Number != b.LeftOut+1+i || len(spell(turn.Asked)) != 500 || len(spell(turn.Pieces)) != 500 {
				t.Fatalf("turn %d stands at %d", turn.Number, i)
			}
		}
		if b.First == nil || b.First.Number != 1 || len(spell(b.First.Asked)) != 500 {
			t.Error("the first request is not there")
		}
		if room := maxBlock - utf8.RuneCountInString(handed.Text); room > 1300 {
			t.Errorf("%d code points are not used", room)
		}
	}
}

// TestCountsWithoutBeingTold: a log that says neither how long it is nor what came first is read to its end for that.
func TestCountsWithoutBeingTold(t *testing.T) {
	var all []runtime.Entry
	for i := range 300 {
		all = append(all, entry(i+1, "codex", fmt.Sprint("request ", i+1), strings.Repeat("a", 1000)))
	}
	handed := Writer{}.Block(runtime.Handover{Reason: runtime.ReasonLost, Entries: runtime.Newest(all)})
	b := proved(t, handed)
	if b.First == nil || spell(b.First.Asked) != "request 1" || b.LeftOut+len(b.Turns) != 300 {
		t.Errorf("%d, %+v", b.LeftOut, b.First)
	}
	if handed := (Writer{}).Block(runtime.Handover{}); handed != (runtime.Handed{}) {
		t.Errorf("of nothing: %+v", handed)
	}
	if handed := (Writer{}).Block(runtime.Handover{Entries: runtime.Newest(nil)}); handed != (runtime.Handed{}) {
		t.Errorf("of nothing: %+v", handed)
	}
}

// TestReadsNoFurther: a log is read as far as the block can hold.
func TestReadsNoFurther(t *testing.T) {
	read := 0
	handed := Writer{}.Block(runtime.Handover{Count: 10_000, First: &runtime.Entry{Number: 1, Words: "first"},
		Entries: func(yield func(runtime.Entry) bool) {
			for i := 10_000; i > 0 && yield(entry(i, "codex", "q", strings.Repeat("a", 1000))); i-- {
				read++
			}
		}})
	if read > 70 || proved(t, handed).LeftOut < 9930 || handed.UpTo != 10_000 {
		t.Errorf("%d are read, %d left out", read, handed.LeftOut)
	}
}

// TestCase7LongMessage: of a long message its halves stay, with the exact number between; other messages stay.
func TestCase7LongMessage(t *testing.T) {
	long := strings.Repeat("0123456789", 5000)
	for name, e := range map[string]runtime.Entry{
		"request": entry(2, "codex", long, "short"), "answer": entry(2, "codex", "short", long),
		"escaped": entry(2, "codex", "short", strings.Repeat("<&lt;\\\x1b", 5000)), "wide": entry(2, "codex", "short", strings.Repeat("äöü\n", 10_000)),
	} {
		handed, b := block(t, runtime.Handover{}, entry(1, "codex", "before", "it"), e, entry(3, "codex", "after", "it"))
		if len(b.Turns) != 3 || spell(b.Turns[0].Asked) != "before" || spell(b.Turns[2].Pieces) != "it" {
			t.Fatalf("%s: %d turns", name, len(b.Turns))
		}
		pieces, whole := b.Turns[1].Pieces, e.Parts[0].Text
		if name == "request" {
			pieces, whole = b.Turns[1].Asked, e.Words
		}
		if len(pieces) != 3 || pieces[1].Left == nil {
			t.Fatalf("%s: %d pieces", name, len(pieces))
		}
		head, tail, left := pieces[0].Text, pieces[2].Text, pieces[1].Left.N
		if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) {
			t.Errorf("%s: not the beginning and the end", name)
		}
		if got := utf8.RuneCountInString(head) + left + utf8.RuneCountInString(tail); got != utf8.RuneCountInString(whole) {
			t.Errorf("%s: %d characters are told of, not %d", name, got, utf8.RuneCountInString(whole))
		}
		if n := sizeOf(handed.Text, name); n > maxMessage || n < maxMessage-100 {
			t.Errorf("%s: the message takes %d code points", name, n)
		}
		if d := cost(head, 0, len(head)) - cost(tail, 0, len(tail)); d < -10 || d > 10 {
			t.Errorf("%s: the halves differ by %d", name, d)
		}
	}
}

// sizeOf is what the long message of turn 2 takes, with its headers.
func sizeOf(text, name string) int {
	_, text, _ = strings.Cut(text, "\nturn 2\nagent\n| codex\n")
	text, _, _ = strings.Cut(text, "outcome: done\n")
	if name == "request" {
		return utf8.RuneCountInString(strings.TrimSuffix(text, "answered\n| short\n"))
	}
	return utf8.RuneCountInString(strings.TrimPrefix(text, "asked\n| short\n"))
}

// TestMessageOverParts: the texts between actions are one message; what is left out of it takes no action away.
func TestMessageOverParts(t *testing.T) {
	e := runtime.Entry{Number: 1, Words: "do", Outcome: "done"}
	total := 0
	for i := range 40 {
		text := strings.Repeat(string(rune('a'+i%26)), 1000)
		total += len(text)
		e.Parts = append(e.Parts, runtime.Part{Text: text}, runtime.Part{Action: &runtime.Action{Name: "Read", Outcome: "done"}})
	}
	_, b := block(t, runtime.Handover{}, e)
	said, left, actions := 0, 0, 0
	for _, p := range b.Turns[0].Pieces {
		switch {
		case p.Left != nil && p.Left.What == "characters":
			left += p.Left.N
		case p.Left != nil:
			actions += p.Left.N
		case p.Action != nil:
			actions++
		}
		said += len(p.Text)
	}
	if said+left != total || actions != 40 || said < 11_000 || said > maxMessage {
		t.Errorf("%d said, %d left out, %d actions", said, left, actions)
	}
}

// TestCase9Standing: where things stand is there although older turns are left out.
func TestCase9Standing(t *testing.T) {
	var all []runtime.Entry
	for i := range 100 {
		all = append(all, entry(i+1, "codex", "q", strings.Repeat("a", 1000)))
	}
	all[98].Todo = []runtime.TodoItem{{Text: "read", Status: "completed"}, {Text: "fix", Status: "in_progress"}, {Text: "test", Status: "pending"}}
	all[97].Questions = []runtime.Asked{{Question: "which?"}, {Question: "done?", Answer: "yes", Answered: true}}
	all[99].Questions = []runtime.Asked{{Question: "when?"}}
	now := runtime.StandingOf(all)
	now.Running = []string{"npm test"}
	now.Tree = "on main\n2 files changed"
	handed, b := block(t, runtime.Handover{Now: now}, all...)
	var got []string
	for _, it := range b.Now {
		got = append(got, it.Kind+": "+it.Text)
	}
	want := "in work: fix, planned: test, waiting for an answer: which?, waiting for an answer: when?, still running: npm test, " +
		"working tree: on main\n2 files changed"
	if strings.Join(got, ", ") != want || b.LeftOut == 0 {
		t.Errorf("%q, %d left out", got, b.LeftOut)
	}
	all[99].Todo = []runtime.TodoItem{{Text: "read", Status: "completed"}}
	_, b = block(t, runtime.Handover{Now: runtime.Standing{Todo: runtime.StandingOf(all).Todo}}, all...)
	if len(b.Now) > 0 || strings.Contains(handed.Text, "| read\n") {
		t.Errorf("%+v", b.Now)
	}
}

// TestStandingIsFilledByShortening: items get shorter, none of a later kind is dropped for an earlier one.
func TestStandingIsFilledByShortening(t *testing.T) {
	for _, n := range []int{1, 3, 10, 40, 200, 5000} {
		now := runtime.Standing{Tree: strings.Repeat("t", 3000)}
		for range n {
			now.Todo = append(now.Todo, runtime.TodoItem{Text: strings.Repeat("<", 400)}, runtime.TodoItem{Text: "b", Status: "in_progress"})
			now.Questions = append(now.Questions, strings.Repeat("w", 3000))
		}
		now.Running = []string{"r"}
		handed, b := block(t, runtime.Handover{Now: now}, entry(1, "codex", "a", "b"))
		_, rest, _ := strings.Cut(handed.Text, "\n"+ofStanding)
		size := utf8.RuneCountInString("\n"+ofStanding+rest) - len(closing)
		if size > maxStanding || size < maxStanding-150 {
			t.Errorf("%d: where things stand takes %d", n, size)
		}
		counts := map[string]int{}
		for _, it := range b.Now {
			counts[it.Kind]++
		}
		for kind, want := range []int{n, n, n, 1, 1} {
			if counts[kinds[kind].header] == 0 || counts[kinds[kind].header]+b.More[kind] != want {
				t.Errorf("%d: %s: %d and %d more", n, kinds[kind].header, counts[kinds[kind].header], b.More[kind])
			}
		}
	}
}

// TestStandingShowsBeforeItCounts: as long as twelve characters of each fit, every item is shown.
func TestStandingShowsBeforeItCounts(t *testing.T) {
	for n, more := range map[int]bool{45: false, 60: true} {
		var now runtime.Standing
		for range n {
			now.Todo = append(now.Todo, runtime.TodoItem{Text: strings.Repeat("t", 100)})
		}
		_, b := block(t, runtime.Handover{Now: now}, entry(1, "codex", "a", "b"))
		if len(b.Now)+b.More[planned] != n || (b.More[planned] > 0) != more || len(b.Now[0].Text) < minItem {
			t.Errorf("%d: %d shown, %d counted", n, len(b.Now), b.More[planned])
		}
	}
}

// TestCase11LateResult: an action has its result although words came between, and one without an end is unknown, never done.
func TestCase11LateResult(t *testing.T) {
	e := runtime.Entry{Number: 1, Words: "do", Parts: []runtime.Part{
		{Text: "Let me see."}, {Action: &runtime.Action{Name: "Bash", Subject: "make", Outcome: "failed", Result: "no rule"}}, {Text: "Meanwhile."},
		{Action: &runtime.Action{Name: "Read"}}, {Action: &runtime.Action{Name: "Edit", Outcome: "not run"}}, {Action: &runtime.Action{Name: "X", Outcome: "\n<odd>"}},
	}}
	_, b := block(t, runtime.Handover{}, e)
	p := b.Turns[0].Pieces
	if a := p[1].Action; a.Result.Text != "no rule" || a.Outcome != "failed" || a.Subject.Text != "make" {
		t.Errorf("%+v", a)
	}
	if p[3].Action.Outcome != "unknown" || p[4].Action.Outcome != "not run" || p[5].Action.Outcome != "unknown" || b.Turns[0].Outcome != "unknown" {
		t.Errorf("%+v", b.Turns[0])
	}
}

// TestRoomForTheFirst: however small the turns are, as many give way as the first request needs.
func TestRoomForTheFirst(t *testing.T) {
	all := []runtime.Entry{entry(1, "codex", strings.Repeat("f", 11_000), "x")}
	for i := range 3000 {
		all = append(all, entry(i+2, "c", "q", "a"))
	}
	handed, b := block(t, runtime.Handover{}, all...)
	if room := maxBlock - utf8.RuneCountInString(handed.Text); len(spell(b.First.Asked)) != 11_000 || room > 250 {
		t.Errorf("%d code points are not used", room)
	}
}

// TestNewestTurnIsKept: with everything at its bound the newest turn and the first request still are in the block.
func TestNewestTurnIsKept(t *testing.T) {
	long := strings.Repeat("<w>", 5_000)
	var files []string
	for range 30 {
		files = append(files, long)
	}
	e := runtime.Entry{Agent: long, Words: long, Outcome: "failed", Failure: long}
	for i := range 60 {
		if i%5 == 0 {
			e.Parts = append(e.Parts, runtime.Part{Text: long})
		}
		e.Parts = append(e.Parts, runtime.Part{Action: &runtime.Action{Name: long, Subject: long, Outcome: "done", Result: long, Files: files}})
		e.Questions = append(e.Questions, runtime.Asked{Question: long, Answer: long, Answered: true})
	}
	first, newest := e, e
	first.Number, newest.Number = 1, 2
	_, b := block(t, runtime.Handover{Now: runtime.Standing{Tree: long}}, first, newest)
	if b.First == nil || b.First.Number != 1 || len(b.Turns) != 1 || b.Turns[0].Number != 2 || len(b.Now) != 1 {
		t.Fatalf("%d turns, first %v", len(b.Turns), b.First)
	}
	p := b.Turns[0].Pieces
	if p[0].Left == nil || p[0].Left.What != "parts" || b.Turns[0].Failure.Text == "" || !b.Turns[0].Agent.Cut {
		t.Errorf("%+v", p[0])
	}
	if n := spell(p); !strings.Contains(n, "-49 questions") {
		t.Error("the questions are not counted")
	}
}

func TestFieldBounds(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	var files []string
	for range 25 {
		files = append(files, long)
	}
	e := runtime.Entry{Number: 1, Shown: long, Words: "w", Failure: long, Outcome: "refused",
		Parts:     []runtime.Part{{Action: &runtime.Action{Name: long, Subject: long, Outcome: "done", Result: long, Files: files}}},
		Questions: []runtime.Asked{{Question: long, Answer: long, Answered: true}, {Question: long}}}
	_, b := block(t, runtime.Handover{}, e)
	turn := b.Turns[0]
	a, q := turn.Pieces[0].Action, turn.Pieces[1].Question
	for name, c := range map[string]struct {
		field Field
		want  int
	}{
		"agent": {turn.Agent, 80}, "name": {a.Name, 80}, "subject": {a.Subject, 200}, "result": {a.Result, 160}, "file": {a.Files[0], 200},
		"question": {q.Question, 300}, "reply": {q.Reply, 300}, "waiting": {turn.Pieces[2].Question.Question, 300}, "failure": {turn.Failure, 160},
	} {
		if len(c.field.Text) != c.want || !c.field.Cut {
			t.Errorf("%s: %d, %v", name, len(c.field.Text), c.field.Cut)
		}
	}
	if len(a.Files) != 20 || a.MoreFiles != 5 || turn.Outcome != "refused" {
		t.Errorf("%d files and %d", len(a.Files), a.MoreFiles)
	}
}

// TestGolden shows a block as an agent gets it.
func TestGolden(t *testing.T) {
	handed, _ := block(t, runtime.Handover{Reason: runtime.ReasonMissed, Now: runtime.Standing{
		Todo: []runtime.TodoItem{{Text: "Fix it", Status: "completed"}, {Text: "Add a test", Status: "in_progress"}}, Questions: []string{"Which release?"},
		Running: []string{"make test"}, Tree: "on main, 1 file changed"}},
		entry(3, "codex", "Find the bug in parser.go.", "The loop never ends if the input is empty."),
		runtime.Entry{Number: 4, Agent: "claude", Shown: "Claude Code", Words: "Write the fix.", Outcome: "done", Parts: []runtime.Part{
			{Text: "I look at it first."}, {Action: &runtime.Action{Name: "Read", Subject: "parser.go", Outcome: "done", Result: "120 lines"}},
			{Action: &runtime.Action{Name: "Edit", Subject: "parser.go", Outcome: "done", Files: []string{"parser.go"}}},
			{Action: &runtime.Action{Name: "Bash", Subject: "go test ./...", Outcome: "failed", Result: "FAIL <parser> & more:\n\x1b[31mred"}},
			{Text: "The token is ghp_0123456789abcdefghijABCDEFGHIJ012345."}},
			Questions: []runtime.Asked{{Question: "Keep the old name?", Answer: "yes", Answered: true}}})
	if *update {
		if err := os.WriteFile("testdata/block.golden", []byte(handed.Text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/block.golden")
	if err != nil || handed.Text != string(want) {
		t.Errorf("%v\n%s", err, handed.Text)
	}
}
