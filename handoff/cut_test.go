package handoff

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// boundaries are the places in text at which a grapheme ends, and those inside of one that is too long.
func boundaries(text string) []int {
	at, all := 0, []int{0}
	for g := uniseg.NewGraphemes(text); g.Next(); {
		if runes := g.Runes(); len(runes) > maxGrapheme {
			end := at
			for _, r := range runes {
				end += utf8.RuneLen(r)
				all = append(all, end)
			}
		}
		at += len(g.Str())
		all = append(all, at)
	}
	return all
}

func TestCutsAreBetweenGraphemes(t *testing.T) {
	family, flag := "👨‍👩‍👧", "🇩🇪"
	for name, text := range map[string]string{
		"families": strings.Repeat(family, 40), "flags": strings.Repeat(flag, 80), "one flag off": "🇩" + strings.Repeat(flag, 80),
		"marks": strings.Repeat("e\u0301", 60), "long": "ab" + strings.Repeat("\u0301", 200) + "cd", "lines": strings.Repeat("a\r\n", 60),
		"hangul": strings.Repeat("\u1112\u1161\u11ab", 40), "escapes": strings.Repeat("<\\&lt;", 30), "mixed": strings.Repeat("a"+family+"é<"+flag+"\n", 20),
		"only marks": strings.Repeat("\u0301", 300),
	} {
		places := boundaries(text)
		for room := range 130 {
			to, from := beginning(text, room), ending(text, room)
			if !slices.Contains(places, to) || !slices.Contains(places, from) {
				t.Fatalf("%s: %d: cut at %d and %d inside a grapheme", name, room, to, from)
			}
			head, tail := cost(text, 0, to), cost(text, from, len(text))
			if head > room || tail > room {
				t.Fatalf("%s: %d: %d and %d are kept", name, room, head, tail)
			}
			if i := slices.Index(places, to); i+1 < len(places) && places[i+1] > to && cost(text, 0, places[i+1]) <= room {
				t.Fatalf("%s: %d: the beginning could be longer", name, room)
			}
			if back, err := unescape(escape(text[:to])); back != text[:to] || err != nil {
				t.Fatalf("%s: %q, %v", name, back, err)
			}
		}
	}
}

// TestEndingOfLongTexts: the end of a long text is found without looking at all of it, and is the same.
func TestEndingOfLongTexts(t *testing.T) {
	text := strings.Repeat("🇩🇪 und 👨‍👩‍👧\r\n", 2000)
	for _, room := range []int{10, 100, 999} {
		if from, short := ending(text, room), text[len(text)-room*20:]; text[from:] != short[ending(short, room):] {
			t.Errorf("%d: %q", room, text[from:])
		}
	}
	if cost("a\n<", 0, 3) != 1+3+6 || !fits("a\n<", 10) || fits("a\n<", 9) || !fits("", 0) {
		t.Error("the cost is wrong")
	}
}

func FuzzCut(f *testing.F) {
	f.Add("a👨‍👩‍👧<\r\n", uint16(5))
	f.Fuzz(func(t *testing.T, text string, room uint16) {
		text = valid(text)
		places := boundaries(text)
		to, from := beginning(text, int(room)), ending(text, int(room))
		if cost(text, 0, to) > int(room) || cost(text, from, len(text)) > int(room) {
			t.Fatalf("%q: %d: %d %d", text, room, to, from)
		}
		if longest := maxRun(text); longest <= maxGrapheme && (!slices.Contains(places, to) || !slices.Contains(places, from)) {
			t.Fatalf("%q: %d: cut at %d and %d of %v", text, room, to, from, places)
		}
	})
}

// maxRun is how many characters the longest grapheme has.
func maxRun(text string) int {
	longest := 0
	for g := uniseg.NewGraphemes(text); g.Next(); {
		longest = max(longest, len(g.Runes()))
	}
	return longest
}
