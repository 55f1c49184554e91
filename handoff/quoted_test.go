package handoff

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"xmd/runtime"
)

// TestCase18NoNesting: a block that is quoted is not handed on again, however it is quoted; blocks do not grow with the switches.
func TestCase18NoNesting(t *testing.T) {
	log := []runtime.Entry{entry(1, "a", "begin", "well"), entry(2, "a", "go", "on")}
	var sizes []int
	for i := range 8 {
		handed, b := block(t, runtime.Handover{}, log...)
		sizes = append(sizes, utf8.RuneCountInString(handed.Text))
		if strings.Count(handed.Text, frameBegins) != 1 {
			t.Fatalf("after %d switches a block is in the block:\n%s", i, handed.Text)
		}
		var inBody strings.Builder
		for line := range strings.SplitSeq(escape(handed.Text), "\n") {
			inBody.WriteString("| " + line + "\n")
		}
		log = append(log[:2:2], entry(3, "b", "You were told:\n> "+handed.Text+"\nand now?", "as written: "+inBody.String()+" end"))
		if i > 0 {
			if got := spell(b.Turns[2].Asked); !strings.HasPrefix(got, "You were told:\n> [an earlier conversation of ") || !strings.HasSuffix(got, "quoted here]\nand now?") {
				t.Errorf("%q", got)
			}
			if got := spell(b.Turns[2].Pieces); !strings.HasPrefix(got, "as written: | [an earlier") || !strings.HasSuffix(got, "quoted here]\n end") {
				t.Errorf("%q", got)
			}
		}
	}
	for _, size := range sizes[2:] {
		if size > sizes[1]+4 {
			t.Errorf("the block grows: %v", sizes)
		}
	}
}

// TestOnlyLikeABlock: what is no whole block stays in its place, and many beginnings cost no more than one.
func TestOnlyLikeABlock(t *testing.T) {
	for _, text := range []string{opening + " and " + closing, opening + "\n" + frameBegins, frameBegins + closing} {
		if got := unquoted(text); got != text {
			t.Errorf("%q becomes %q", text, got)
		}
	}
	timed := func(n int) time.Duration {
		many := strings.Repeat(opening+frameBegins+"\n", n)
		return fastest(func() {
			if unquoted(many) != many {
				t.Error("the text is changed")
			}
		})
	}
	if few, many := timed(3000), timed(12_000); many > 9*few+time.Millisecond {
		t.Errorf("four times as many take %v instead of %v", many, few)
	}
}

// TestDeepQuotes: a block that was quoted in a block that was quoted is found by the spelling of its tags.
func TestDeepQuotes(t *testing.T) {
	handed, _ := block(t, runtime.Handover{}, entry(1, "codex", "a", "b"))
	text := handed.Text
	for depth := range 8 {
		got := unquoted("see " + text + ".")
		if !strings.HasPrefix(got, "see [an earlier conversation of ") || !strings.HasSuffix(got, " characters was quoted here].") {
			t.Errorf("%d deep: %.300q", depth, got)
		}
		text = escape(text)
	}
}
