package scan

import (
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
)

// The oracle: what is a fence, a code span or a comment agrees with an independent CommonMark parser. Letters are compared: each is in
// a fence's content (F), in a code span (S), in a comment (C) or in none (.).

// inert marks the letters of a document as this package sees them. ok is false where it departs from CommonMark on purpose:
// a fence in a list that goes on behind its item, a comment that goes on behind its paragraph or container or has no end.
func inert(src string) (marks []byte, ok bool) {
	marks = []byte(strings.Repeat(".", len(src)))
	s := New(src)
	for {
		// the state that a token is found in: one token at a time
		t := s.Next()
		switch t.Kind {
		case EOF:
			return marks, len(s.Diagnostics()) == 0
		case Fence:
			if !s.staysInside(t, false) {
				return nil, false
			}
			fill(marks[s.lineAfter(t.Start):max(s.lineAfter(t.Start), s.closingLine(t))], 'F')
		case CodeSpan:
			fill(marks[t.Start:t.End], 'S')
		case Comment:
			block := !s.multi && isBlank(strings.TrimLeft(src[s.line:t.Start], "> \t-+*0123456789.)"))
			if !block && strings.Contains(src[t.Start:t.End], "\n") && !s.multi || !s.staysInside(t, s.multi) {
				return nil, false
			}
			fill(marks[t.Start:t.End], 'C')
		}
	}
}

func fill(b []byte, c byte) {
	for i := range b {
		b[i] = c
	}
}

// closingLine returns where the closing line of a fence begins, or the fence's end where it has none.
func (s *Scanner) closingLine(t Token) int {
	last := strings.LastIndexByte(s.src[t.Start:t.End], '\n')
	if last < 0 {
		return t.End
	}
	line := s.src[t.Start+last+1 : t.End]
	body := strings.TrimRight(strings.TrimLeft(line, "> \t"), " \t\r")
	if strings.Trim(body, s.src[t.Start:t.Start+1]) == "" && len(body) >= s.fenceRun(t.Start) && s.fenceRun(t.Start) > 0 {
		return t.Start + last + 1
	}
	return t.End
}

// staysInside tells whether all lines of a token go on with the containers that are open, and with their paragraph if there is one.
func (s *Scanner) staysInside(t Token, para bool) bool {
	for p := s.lineAfter(t.Start); p < t.End; p = s.lineAfter(p) {
		c, n := s.match(p)
		blank := s.atEnd(func() int { c, _ := s.skip(c, anyIndent); return c.pos }())
		if para {
			if _, ok := s.continuation(p); !ok {
				return false
			}
		} else if n < len(s.stack) && !(blank && s.quotes == 0) {
			return false
		}
	}
	return true
}

// oracle marks the letters as goldmark sees them. ok is false where the document holds what is not compared: indented code, HTML
// blocks other than comments, raw tags, autolinks, reference definitions.
func oracle(src string) (marks []byte, ok bool) {
	marks = []byte(strings.Repeat(".", len(src)))
	ctx := parser.NewContext()
	root := goldmark.DefaultParser().Parse(gtext.NewReader([]byte(src)), parser.WithContext(ctx))
	ok = len(ctx.References()) == 0
	_ = ast.Walk(root, func(n ast.Node, enter bool) (ast.WalkStatus, error) {
		if !enter {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeBlock, *ast.AutoLink:
			ok = false
		case *ast.FencedCodeBlock:
			markLines(marks, n.Lines(), 'F')
		case *ast.HTMLBlock:
			ok = ok && n.HTMLBlockType == ast.HTMLBlockType2
			markLines(marks, n.Lines(), 'C')
			if n.HasClosure() {
				line := n.ClosureLine
				fill(marks[line.Start:line.Stop], 'C')
			}
		case *ast.RawHTML:
			ok = ok && strings.HasPrefix(string(n.Segments.Value([]byte(src))), "<!--")
			markLines(marks, n.Segments, 'C')
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, isText := c.(*ast.Text); isText {
					fill(marks[t.Segment.Start:t.Segment.Stop], 'S')
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return marks, ok
}

func markLines(marks []byte, lines *gtext.Segments, c byte) {
	for i := range lines.Len() {
		seg := lines.At(i)
		fill(marks[seg.Start:seg.Stop], c)
	}
}

// behindComment finds what stands behind a comment's end on the last line of a comment block: Markdown has it in the block, here it
// acts as elsewhere, so it is not compared.
var behindComment = regexp.MustCompile(`(?m)^[> \t\-+*0-9.)]*<!--(?:-?>|(?s:.*?)-->)([^\n]*)`)

// deepFence finds fences indented by four columns or more, which are fences here only.
var deepFence = regexp.MustCompile("(?m)(    |\t)[ \t]*(```|~~~)")

// crlfItem finds empty list items before \r\n, which goldmark does not see.
var crlfItem = regexp.MustCompile(`([-+*]|[0-9][.)])[ \t]*\r\n`)

// emptyItem finds an empty list item before a blank line. Where it stands in another item, goldmark closes that one too, which CommonMark
// does not.
var (
	emptyItem = regexp.MustCompile(`([-+*]|[0-9][.)])[ \t\r]*\n[> \t\r]*(\n|$)`)
	marker    = regexp.MustCompile(`(?m)(^|[> \t])([-+*]|[0-9]+[.)])([ \t\r]|$)`)
)

// agree compares both views of a document and returns the first offset at which they differ, or -1. compared is false where the
// document is none of those that are compared.
func agree(src string) (at int, compared bool) {
	if deepFence.MatchString(src) || crlfItem.MatchString(src) || emptyItem.MatchString(src) && len(marker.FindAllString(src, 2)) > 1 {
		return -1, false
	}
	theirs, ok := oracle(src)
	if !ok {
		return -1, false
	}
	ours, ok := inert(src)
	if !ok {
		return -1, false
	}
	for _, m := range behindComment.FindAllStringSubmatchIndex(src, -1) {
		copy(ours[m[2]:m[3]], theirs[m[2]:m[3]])
	}
	for i := range ours {
		if isLetter(src[i]) && ours[i] != theirs[i] {
			return i, true
		}
	}
	return -1, true
}

// pieces are what the generated documents are made of.
var pieces = []string{"a", "b", " ", "\n", "\n", "\n\n", "`", "`", "``", "```", "```\n", "~~~\n", "> ", ">", "- ", "1. ", "2) ", "  ", "   ", "    ", "# ", "<!--", "-->",
	"[", "]", "](", "(", ")", "\"", "\\", "===\n", "---\n", "***\n", "!", "<", ">", "\t", "+ \n", "'", "* a\n", "-\n", "_",
	"\r\n", "\r\n\r\n", "\f", "\v", "\u00a0", "0123456789) ", "1234567890. ", "####### ", "#\t", "&lt;", "\u3000", "é", "*", "**", "--", "=", "- - -", "->", "--->", "<!", "``````", "~~~~ ", "{", "}", "{a", "\\\n", "  \n", "\t\t", "1)", "+"}

// document makes a document of a seed: each byte picks a piece. A letter follows most pieces, so that there is something to compare.
func document(seed []byte) string {
	var b strings.Builder
	for i, c := range seed {
		p := pieces[int(c)%len(pieces)]
		b.WriteString(p)
		if c >= 128 && p != " " {
			b.WriteByte('c' + byte(i%20))
		}
	}
	return b.String()
}

// Documents of whole lines reach deeper than those of pieces: containers that go on, links and spans over lines.
var (
	starts = []string{"", "", "", "> ", ">", "- ", "  ", "   ", "1. ", "> - ", "> > ", "  > ", "      ", " > ", "-\t", "\t", "10) ", "- - "}
	bodies = []string{"a `b", "c` d", "```", "~~~", "e", "", "", "# f `g", "h` ==", "===", "---", "<!-- i", "j -->", "[k](l `m", "n` o)", "[p](", "<q`", "r>)",
		"\"s `t\")", "2. u", "``", "v `` w `x`", "[[y](z `a) b](c `d)", "![e [f](g `h)](i `j) ` k", "\\`e`", "\\\\`f`", "<!-- g --> h `i", "```` j", "~~~ k ` l", "``` m ` n", "* * *",
		"o <!-- p", "q --> r `s", "[t]( u 'v `w')", "x [y](z\\)`a) b`", "c (d `e) f", "![g](<h `i>) j`", "+ ", "-", "`` k", "l ``", "[m](n(o(p`q)r)s) t`", "`u`v", "[w](x \"y", "z\") `a", "b\\"}
)

func lined(seed []byte) string {
	var b strings.Builder
	for i := 0; i+1 < len(seed); i += 2 {
		b.WriteString(starts[int(seed[i])%len(starts)])
		b.WriteString(bodies[int(seed[i+1])%len(bodies)])
		b.WriteByte('\n')
	}
	return b.String()
}

func reportDifference(t *testing.T, src string) {
	t.Helper()
	at, _ := agree(src)
	ours, _ := inert(src)
	theirs, _ := oracle(src)
	t.Errorf("differ at %d in\n%q\nours   %s\ntheirs %s", at, src, strings.Trim(string(ours), "\x00"), theirs)
}

// documents is how many random documents are compared; XMD_ORACLE gives another number.
func documents() int {
	if n, err := strconv.Atoi(os.Getenv("XMD_ORACLE")); err == nil {
		return n
	}
	return 30000
}

func TestOracleRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	compared, kinds := 0, map[byte]int{}
	for range documents() {
		seed := make([]byte, 2+r.IntN(24))
		for i := range seed {
			seed[i] = byte(r.IntN(256))
		}
		make := document
		if r.IntN(2) == 0 {
			make = lined
		}
		src := make(seed)
		at, ok := agree(src)
		if ok {
			compared++
			marks, _ := inert(src)
			for _, c := range "FSC" {
				if strings.ContainsRune(string(marks), c) {
					kinds[byte(c)]++
				}
			}
		}
		if at >= 0 {
			reportDifference(t, shrink(make, seed))
			return
		}
	}
	t.Logf("%d documents compared: with a fence %d, a span %d, a comment %d", compared, kinds['F'], kinds['S'], kinds['C'])
	if min(kinds['F'], kinds['S'], kinds['C']) < documents()/100 {
		t.Errorf("too few documents were compared: %v", kinds)
	}
}

// shrink takes pieces out of a document while the difference stays.
func shrink(make func([]byte) string, seed []byte) string {
	for i := 0; i < len(seed); {
		less := slices.Delete(slices.Clone(seed), i, i+1)
		if at, _ := agree(make(less)); at >= 0 {
			seed, i = less, 0
			continue
		}
		if seed[i] >= 128 {
			same := slices.Clone(seed)
			same[i] = byte(int(seed[i]) % len(pieces)) // without its letter
			if at, _ := agree(make(same)); at >= 0 {
				seed, i = same, 0
				continue
			}
		}
		i++
	}
	return make(seed)
}

func FuzzOracle(f *testing.F) {
	f.Add([]byte("\x06\x80\x06"))
	f.Add([]byte{9, 3, 0, 3, 9})
	f.Fuzz(func(t *testing.T, seed []byte) {
		if len(seed) > 64 {
			return
		}
		for _, make := range []func([]byte) string{document, lined} {
			if at, _ := agree(make(seed)); at >= 0 {
				reportDifference(t, shrink(make, seed))
			}
		}
	})
}
