package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fingerprint is what is kept of a text to recognise it in a provider's history without storing it.
type Fingerprint struct {
	Digest  string // SHA-256, hex, of the normalised text; "" for no text
	Letters int    // letters and digits in it: short texts prove little
}

// spans are the tags of what adapters put into a user turn, or take out of one when they show a history, even where the author
// wrote them.
var spans = []string{
	"system-reminder", "task-notification",
	"command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr",
}

// leading are the tags of the blocks that xmd puts in front of the words: what was said elsewhere, and the workflow's instructions.
var leading = []string{"earlier-conversation", "workflow-instructions"}

// maxPasses bounds how often what is left is stripped again: a span taken out can join the parts of another one. Text beyond that
// is not recognised, nothing worse.
const maxPasses = 8

// FingerprintOf normalises text the way histories are compared. Spans that adapters add or drop, the leading blocks of xmd, all
// white space, control and format characters are left out; the rest is NFC. Both sides of a comparison go through it. What an agent
// wraps around a user's words is no part of it: the driver takes that off.
func FingerprintOf(text string) Fingerprint {
	var b strings.Builder
	for _, r := range stripped(text) {
		if !ignored(r) {
			b.WriteRune(r)
		}
	}
	plain := norm.NFC.String(b.String())
	if plain == "" {
		return Fingerprint{}
	}
	letters := 0
	for _, r := range plain {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
	}
	sum := sha256.Sum256([]byte(plain))
	return Fingerprint{Digest: hex.EncodeToString(sum[:]), Letters: letters}
}

// ignored says whether a character takes no part in a comparison: agents and their adapters trim, fold and drop these.
func ignored(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}

// stripped takes the spans and the leading blocks away. Spans go first: an adapter that drops them knows nothing of blocks.
func stripped(text string) string {
	if !strings.Contains(text, "</") {
		return text
	}
	for range maxPasses {
		less := withoutLeadingBlock(withoutSpans(text))
		if len(less) == len(text) {
			break
		}
		text = less
	}
	return text
}

// withoutSpans takes out each span from its opening tag to the nearest closing one, whatever is between them. A tag that is never
// closed is text.
func withoutSpans(text string) string {
	var b strings.Builder
	from := 0
	open := make(map[string]bool, len(spans)) // tags known to have no closing one ahead
	for at := strings.IndexByte(text, '<'); at >= 0; {
		end := spanAt(text, at, open)
		if end > at {
			b.WriteString(text[from:at])
			from = end
		} else {
			end = at + 1
		}
		next := strings.IndexByte(text[end:], '<')
		if next < 0 {
			break
		}
		at = end + next
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// spanAt gives the end of the span that begins at that place, or the place itself if none does.
func spanAt(text string, at int, open map[string]bool) int {
	for _, tag := range spans {
		body, ok := strings.CutPrefix(text[at:], "<"+tag+">")
		if !ok || open[tag] {
			continue
		}
		end := strings.Index(body, "</"+tag+">")
		if end < 0 {
			open[tag] = true
			return at
		}
		return at + 2*len(tag) + len("<></>") + end
	}
	return at
}

// withoutLeadingBlock drops a block of xmd's in front of the words; one inside them stays, and one that is never closed.
func withoutLeadingBlock(text string) string {
	trimmed := strings.TrimLeftFunc(text, ignored)
	for _, tag := range leading {
		body, ok := strings.CutPrefix(trimmed, "<"+tag+">")
		if !ok {
			continue
		}
		if _, rest, ok := strings.Cut(body, "</"+tag+">"); ok {
			return rest
		}
	}
	return text
}
