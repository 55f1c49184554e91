package resolve

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"xmd/lang/expr"
)

// MaxSessionName is how many characters the name of a session may have.
const MaxSessionName = 128

// SessionName says why a session cannot have a name; nil if it can: 1 to 128 letters, digits, spaces and ._-/ without
// spaces at the ends.
func SessionName(name string) error {
	if name == "" {
		return errors.New("a session's name cannot be empty")
	}
	if n := utf8.RuneCountInString(name); n > MaxSessionName {
		return fmt.Errorf("a session's name has at most %d characters, this one has %d", MaxSessionName, n)
	}
	if strings.HasPrefix(name, " ") || strings.HasSuffix(name, " ") {
		return fmt.Errorf("the session name %q has a space at its end", name)
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-/", r) {
			return fmt.Errorf("the session name %q holds %q; it can hold letters, digits, spaces and ._-/", name, r)
		}
	}
	return nil
}

// ServerName says why an MCP server of the document cannot have a name; nil if it can: up to 64 letters, digits, _ and -, but not
// OwnServer.
func ServerName(name string) error {
	switch {
	case name == OwnServer:
		return errors.New("the server name " + OwnServer + " is reserved: it is the workflow's own")
	case name == "" || len(name) > MaxToolName || strings.Trim(name, toolLetters) != "":
		return errors.New("an MCP server's name is up to 64 letters, digits, _ and -")
	}
	return nil
}

// Milliseconds of the units of durations.
var units = map[string]int64{"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}

var durationForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]+)(ms|s|m|h)$`) })

// maxDuration is a year: what is longer is a mistake.
const maxDuration = 365 * 24 * 3_600_000

// Duration reads a duration, a whole number above zero with a unit (ms, s, m, h), and gives its milliseconds.
func Duration(text string) (ms int64, err error) {
	m := durationForm().FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is no duration; write a whole number with ms, s, m or h, as in 30s", text)
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	if err != nil || n > maxDuration/units[m[2]] {
		return 0, fmt.Errorf("the duration %s is longer than a year", text)
	}
	if n == 0 {
		return 0, fmt.Errorf("the duration %s is zero", text)
	}
	return n * units[m[2]], nil
}

// badName says why a document cannot bind a name; "" if it can.
func badName(name string) string {
	switch {
	case !expr.IsName(name):
		return fmt.Sprintf("%q is no name; names are letters, digits and _, and begin with no digit", name)
	case reserved[name]:
		return name + " is reserved and cannot be bound"
	case expr.IsWord(name):
		return name + " is a word of the expression language and cannot be bound"
	}
	return ""
}
