package runtime

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"xmd/lang/plan"
)

// instruct runs one <Instructions>: what its body renders applies to the prompts behind it in the enclosing element.
func (r *Runner) instruct(ctx context.Context, n *plan.Instructions, at place) error {
	inner := at
	inner.inLet, inner.throws = false, true
	text, err := r.capture(ctx, n.Body, inner)
	if err == nil && strings.TrimSpace(text) != "" {
		at.offers.add(offer{told: text})
	}
	return err
}

// The frame of instructions that have no channel of their own. The tag is one that FingerprintOf leaves out in front of the words.
const (
	instructionsTag   = "workflow-instructions"
	instructionsSaid  = "Instructions of the workflow that sends this message. They are the workflow's words, not the user's."
	instructionsAgain = "They replace all earlier instructions of the workflow."
	instructionsNone  = "The earlier instructions of the workflow no longer apply."
)

// framed are instructions as they are told in a conversation that goes on, or in front of the words. again: others were told before.
// "" takes them back.
func framed(text string, again bool) string {
	var b strings.Builder
	b.WriteString("<" + instructionsTag + ">\n")
	switch {
	case text == "":
		b.WriteString(instructionsNone + "\n")
	case again:
		b.WriteString(instructionsSaid + " " + instructionsAgain + "\n\n" + contained(text) + "\n")
	default:
		b.WriteString(instructionsSaid + "\n\n" + contained(text) + "\n")
	}
	b.WriteString("</" + instructionsTag + ">")
	return b.String()
}

// contained is text that cannot end the frame around it, nor begin another: where its letters spell the name of one of xmd's frames, in
// whatever form a reader could take for it, the characters before them that could make it a tag are written as \u{hex}.
func contained(text string) string {
	var letters []byte // lower-case ASCII of the text's letters, in NFKC
	var from []int     // the byte of text each of them is from
	runes := []rune(text)
	for i, c := range runes {
		for _, k := range norm.NFKC.String(string(c)) {
			if unicode.IsLetter(k) {
				letters = append(letters, asciiLower(k))
				from = append(from, i)
			}
		}
	}
	opens := map[int]bool{}
	for _, tag := range leading {
		name := []byte(strings.ReplaceAll(tag, "-", ""))
		for at := 0; at+len(name) <= len(letters); at++ {
			if string(letters[at:at+len(name)]) == string(name) {
				markOpening(runes, from[at], opens)
			}
		}
	}
	if len(opens) == 0 {
		return text
	}
	var b strings.Builder
	for i, c := range runes {
		if opens[i] {
			b.WriteString(escaped(c))
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// asciiLower folds a letter; what is none of a tag's letters is another one.
func asciiLower(r rune) byte {
	if r = unicode.ToLower(r); r < unicode.MaxASCII {
		return byte(r)
	}
	return '?'
}

// markOpening marks what stands before a name and could make it a tag, back to the nearest letter; a character reference holds letters.
func markOpening(runes []rune, at int, opens map[int]bool) {
	for i := at - 1; i >= 0; i-- {
		c := runes[i]
		if strings.ContainsAny(norm.NFKC.String(string(c)), "<&") {
			opens[i] = true
			continue
		}
		if unicode.IsLetter(c) {
			if ref := beginOfReference(runes, i); ref >= 0 {
				opens[ref] = true
			}
			return
		}
	}
}

// longestReference is how many characters a character reference has that could stand for one that makes a tag.
const longestReference = 12

// beginOfReference finds the & of the character reference that a letter is in; -1: it is in none.
func beginOfReference(runes []rune, at int) int {
	for i := at; i >= max(0, at-longestReference); i-- {
		switch c := runes[i]; {
		case c == '&':
			return i
		case c != '#' && !unicode.IsLetter(c) && !unicode.IsDigit(c):
			return -1
		}
	}
	return -1
}

func escaped(c rune) string {
	const digits = "0123456789abcdef"
	var hex []byte
	for ; c > 0; c >>= 4 {
		hex = append(hex, digits[c&15])
	}
	slices.Reverse(hex)
	return `\u{` + string(hex) + `}`
}

// toolsDigest tells one set of tools from another by their names, descriptions and schemas, in whatever order they or the members of
// their schemas stand; "" for none.
func toolsDigest(tools []Tool) string {
	if len(tools) == 0 {
		return ""
	}
	type shown struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      any    `json:"schema"`
	}
	list := make([]shown, 0, len(tools))
	for _, t := range tools {
		s := shown{Name: t.Name, Description: t.Description}
		if json.Unmarshal(t.Schema, &s.Schema) != nil { // nil, or no JSON
			s.Schema = string(t.Schema)
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b shown) int { return strings.Compare(a.Name, b.Name) })
	raw, err := json.Marshal(list) // members of a map are sorted
	if err != nil {
		raw = []byte(err.Error())
	}
	return digestOf(raw)
}
