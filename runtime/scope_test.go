package runtime_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"xmd/runtime"
)

// Prompts of one session never overlap, and those at the beginning of branches come in the order of the document.
func TestPromptsOfOneSessionAreFIFO(t *testing.T) {
	for range 10 {
		b := newBench(t)
		var now atomic.Int64
		b.agents["fake"].onPrompt = func(runtime.Turn) (runtime.TurnResult, error) {
			if now.Add(1) != 1 {
				t.Error("two turns of one session at once")
			}
			defer now.Add(-1)
			return runtime.TurnResult{}, nil
		}
		doc, want := "<Session name=\"s\"><Parallel max={64}>", []string{}
		for i := range 20 {
			doc += fmt.Sprintf("<Prompt text=\"turn %d\"/>", i)
			want = append(want, fmt.Sprintf("turn %d", i))
		}
		r := b.flow(doc + "</Parallel></Session>")
		if f := b.agents["fake"]; !slices.Equal(f.prompts, want) || f.starts != 1 || len(f.homes) != 1 || r.err != nil {
			t.Fatalf("sent %q in %d conversations (%v)", f.prompts, len(f.homes), r.err)
		}
	}
}

// Each scope has an unnamed conversation of its own, closed with the scope; a named session is one everywhere.
func TestUnnamedSessionsBelongToTheirScope(t *testing.T) {
	b := newBench(t)
	f := b.agents["fake"]
	var mu sync.Mutex
	at := map[string][]string{}
	live := 0
	f.onTurn = func(_ context.Context, conversation string, turn runtime.Turn) (runtime.TurnResult, error) {
		mu.Lock()
		defer mu.Unlock()
		at[conversation] = append(at[conversation], turn.Words)
		f.mu.Lock()
		live = max(live, f.live)
		f.mu.Unlock()
		return runtime.TurnResult{}, nil
	}
	r := b.flow(`<Prompt text="run 1"/>
<Parallel max={1}>
<If condition={true}><Prompt text="branch a 1"/><Prompt text="branch a 2"/></If>
<Prompt text="branch b"/>
<Session><Prompt text="session in branch 1"/><Prompt text="session in branch 2"/></Session>
<Prompt session="named" text="named 1"/>
</Parallel>
<Each in={[1,2]} let="i" parallel={1}>
<Prompt>each {i} 1</Prompt><Prompt>each {i} 2</Prompt><Loop max={2}><Session><Prompt>each {i} loop {loop.index}</Prompt></Session></Loop>
</Each>
<Each in={[1,2]} let="i"><Prompt>run each {i}</Prompt></Each>
<Session><Prompt text="s 1"/><Session name="named"><Prompt text="named 2"/></Session><Prompt text="s 2"/></Session>
<Prompt text="run 2"/>`)
	if r.err != nil {
		t.Fatal(r.err)
	}
	var got []string
	for _, words := range at {
		got = append(got, strings.Join(words, ","))
	}
	slices.Sort(got)
	want := []string{
		"branch a 1,branch a 2", "branch b", "each 1 1,each 1 2", "each 1 loop 1", "each 1 loop 2", "each 2 1,each 2 2", "each 2 loop 1", "each 2 loop 2",
		"named 1,named 2", "run 1,run each 1,run each 2,run 2", "s 1,s 2", "session in branch 1,session in branch 2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("conversations:\n got %q\nwant %q", got, want)
	}
	if live > 4 { // the run's, the named one, the scope's, one around it
		t.Errorf("%d attachments at once: some were not closed with their scope", live)
	}
}

// Branches do not see each other's names; all are bound when the Parallel ends, in the order of the document.
func TestNamesOfBranches(t *testing.T) {
	for _, c := range []struct{ name, doc, out string }{
		{"bound at the end", "<Parallel><Let as=\"a\" value={1}/><Let as=\"b\" value={2}/></Parallel>{a}{b}", "12"},
		{"not seen beside", "<Let as=\"a\" value={0}/><Parallel max={1}><Let as=\"a\" value={1}/><If condition={true}>{a}</If></Parallel>{a}", "01"},
		{"seen inside", "<Let as=\"a\" value={0}/><Parallel><If condition={true}>{a}</If></Parallel>", "0"},
		{"in a loop", "<Loop max={2}><Parallel><Let as=\"a\" value={loop.index}/></Parallel></Loop>{a}", "2"},
		{"nested", "<Parallel><Let as=\"x\"><Parallel><Let as=\"y\" value={1}/><If condition={true}>in</If></Parallel>{y}</Let></Parallel>{x}", "in1"},
		{"parallel each keeps its own", "<Let as=\"a\" value={0}/><Each in={[1,2]} let=\"i\" parallel={2}><Let as=\"a\" value={i}/>{a}</Each>{a}", "120"},
	} {
		if r := newBench(t).flow(c.doc); r.out != c.out || r.err != nil {
			t.Errorf("%s: %q, want %q (%v)", c.name, r.out, c.out, r.err)
		}
	}
	// Children of a component may stand in several of its branches.
	r := newBench(t).flow("<Let as=\"k\" value={1}/><Both><Prompt>child {k}</Prompt></Both>", "Both",
		"<Parallel><If condition={true}><Content/></If><If condition={true}><Content/></If></Parallel><Each in={[1,2,3]} let=\"i\" parallel={3}><Content/></Each>")
	if want := strings.Repeat("«child 1»", 5); r.out != want || r.err != nil {
		t.Errorf("children at once: %q, want %q (%v)", r.out, want, r.err)
	}
}
