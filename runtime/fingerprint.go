package runtime

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fingerprint is what is kept of a text to recognise it in a provider's history without storing it.
type Fingerprint struct {
	Digest  string // SHA-256, hex, of the normalised text; "" for no text
	Letters int    // letters and digits in it: short texts prove little
}

// reminders are spans that some adapters drop from a replay.
var reminders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
})

// FingerprintOf normalises text the way histories are compared: leading handoff block and reminder spans, all white space and
// control characters are left out, the rest is NFC. Both sides of a comparison go through it.
func FingerprintOf(text string) Fingerprint {
	text = withoutLeadingBlock(text)
	if strings.Contains(text, "<system-reminder>") {
		text = reminders().ReplaceAllString(text, "")
	}
	var b strings.Builder
	letters := 0
	for _, r := range norm.NFC.String(text) {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			continue
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			letters++
		}
		b.WriteRune(r)
	}
	if b.Len() == 0 {
		return Fingerprint{}
	}
	sum := sha256.Sum256([]byte(b.String()))
	return Fingerprint{Digest: hex.EncodeToString(sum[:]), Letters: letters}
}

// withoutLeadingBlock drops a handoff block in front of the words; one inside them stays.
func withoutLeadingBlock(text string) string {
	const open, end = "<earlier-conversation>", "</earlier-conversation>"
	trimmed := strings.TrimLeftFunc(text, unicode.IsSpace)
	if !strings.HasPrefix(trimmed, open) {
		return text
	}
	if _, rest, ok := strings.Cut(trimmed, end); ok {
		return rest
	}
	return text
}
