package term_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"xmd/cmd/xmd/term"
)

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// shown is a styled text with its styles as words.
func shown(t *testing.T, color bool, pieces ...string) string {
	t.Helper()
	var b strings.Builder
	m := term.NewMarkdown(&b, color)
	for _, p := range pieces {
		if n, err := m.Write([]byte(p)); err != nil || n != len(p) {
			t.Fatal(n, err)
		}
	}
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer("\x1b[0m", "⟨/⟩", "\x1b[1m", "⟨b⟩", "\x1b[2m", "⟨q⟩", "\x1b[3m", "⟨i⟩", "\x1b[33m", "⟨l⟩", "\x1b[36m", "⟨c⟩").Replace(b.String())
}

func TestMarkdownStyles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"heading", "## A title\nplain\n", "⟨b⟩## A title⟨/⟩\nplain\n"},
		{"no heading", "#tag\n####### x\n", "#tag\n####### x\n"},
		{"bold and italic", "a **b c** d *e* f _g_\n", "a ⟨b⟩**b c**⟨/⟩ d ⟨i⟩*e*⟨/⟩ f ⟨i⟩_g_⟨/⟩\n"},
		{"bold first", "**b** x\n", "⟨b⟩**b**⟨/⟩ x\n"},
		{"code", "a `b *c*` d\n", "a ⟨c⟩`b *c*`⟨/⟩ d\n"},
		{"code of two", "``a`b`` c\n", "⟨c⟩``a`b``⟨/⟩ c\n"},
		{"words and sums", "snake_case_name 2 * 3 * 4, 2*3*4\n", "snake_case_name 2 * 3 * 4, 2*3*4\n"},
		{"left open", "a *b\nc\n", "a ⟨i⟩*b⟨/⟩\nc\n"},
		{"lists", "- a\n  * b\n12. c\n1x\n-x\n", "⟨l⟩-⟨/⟩ a\n⟨l⟩  *⟨/⟩ b\n⟨l⟩12.⟨/⟩ c\n1x\n-x\n"},
		{"quote", "> a **b**\n", "⟨q⟩> a ⟨/⟩⟨b⟩**b**⟨/⟩\n"},
		{"fence", "```go\n# x *y*\n``` no\n\n```\nz *a*\n", "⟨c⟩```go⟨/⟩\n⟨c⟩# x *y*⟨/⟩\n⟨c⟩``` no⟨/⟩\n\n⟨c⟩```⟨/⟩\nz ⟨i⟩*a*⟨/⟩\n"},
		{"fence in fence", "~~~~\n~~~\n~~~~\n*a*\n", "⟨c⟩~~~~⟨/⟩\n⟨c⟩~~~⟨/⟩\n⟨c⟩~~~~⟨/⟩\n⟨i⟩*a*⟨/⟩\n"},
		{"rule", "---\n", "---\n"},
		{"ends in a mark", "a *", "a *"},
		{"ends in a list mark", "-", "⟨l⟩-⟨/⟩"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(t, true, c.text); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

// However a document comes in pieces, a terminal gets its bytes and nothing but styles beside them.
func TestMarkdownKeepsEveryByte(t *testing.T) {
	text := "# Title ä\r\n\n> quote *x* _y_\n\n1) one\n2) two `c``d`\n\n```sh\necho '**'\n```\n\t tab 漢字 e\u0301 **half\n***both*** ~~no~~ \\* ` end\xff\xe4"
	for size := 1; size < 9; size++ {
		var b strings.Builder
		m := term.NewMarkdown(&b, true)
		if _, err := io.CopyBuffer(struct{ io.Writer }{m}, struct{ io.Reader }{strings.NewReader(text)}, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		if err := m.Flush(); err != nil {
			t.Fatal(err)
		}
		if got := sgr.ReplaceAllString(b.String(), ""); got != text {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}

// What a document holds does nothing to a terminal.
func TestMarkdownTakesControlsOut(t *testing.T) {
	for _, color := range []bool{false, true} {
		got := sgr.ReplaceAllString(shown(t, color, "a\x1b]0;title\x07b\x1b[2Jc\u009b1md\x08\u202ee\tf\r\n"), "")
		if got != "a]0;titleb[2Jc1mde\tf\r\n" {
			t.Errorf("%q", got)
		}
	}
}

// Each piece is there as soon as it is written, in a style that ends with it: others write to the terminal too.
func TestMarkdownStreams(t *testing.T) {
	var b strings.Builder
	m := term.NewMarkdown(&b, true)
	for _, piece := range []struct{ text, want string }{
		{"Some **bo", "Some \x1b[1m**bo\x1b[0m"},
		{"ld** te", "\x1b[1mld**\x1b[0m te"},
		{"xt", "xt"},
		{"\n#", "\n"},
		{" T", "\x1b[1m# T\x1b[0m"},
	} {
		before := b.Len()
		_, _ = m.Write([]byte(piece.text))
		if got := b.String()[before:]; got != piece.want {
			t.Errorf("%q gave %q, want %q", piece.text, got, piece.want)
		}
	}
}

func TestMarkdownTellsOfALostTerminal(t *testing.T) {
	if _, err := term.NewMarkdown(failing{}, true).Write([]byte("x")); err == nil {
		t.Error("the error is gone")
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
