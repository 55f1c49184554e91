package runtime

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNativeID bounds the id of a conversation, in bytes.
const maxNativeID = 1024

// CheckNativeID refuses what cannot be meant as the id of a provider conversation. An id stands in command lines, in names of files and in
// messages: what would be an option, a pattern or a control sequence there is none, whoever says it.
func CheckNativeID(id string) error {
	switch {
	case id == "":
		return errors.New("the id of the conversation is empty")
	case len(id) > maxNativeID:
		return fmt.Errorf("the id of the conversation is longer than %d bytes", maxNativeID)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, func(c rune) bool { return unicode.IsControl(c) || unicode.IsSpace(c) }):
		return fmt.Errorf("the id %q holds white space or a control character", id)
	case strings.HasPrefix(id, "-"):
		return fmt.Errorf("the id %q would be an option in a command line", id)
	case strings.ContainsAny(id, `*?`):
		return fmt.Errorf("the id %q would be a pattern of files", id)
	}
	return nil
}
