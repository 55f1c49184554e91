package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Span is a place in a text, in bytes.
type Span struct{ Start, End int }

// Hider finds values where they leave for somewhere else: as they are, as JSON and URLs write them, and inside of base64 at any
// alignment. What it finds cannot be put back; for records there is Set. It is immutable and safe for concurrent use; a nil Hider finds
// nothing.
type Hider struct{ m *matcher }

// NewHider makes a Hider of the values that s, which may be nil, has by now, and of more values. Of these, what could not be a secret (Check) is
// passed over. It is nil if there is no value.
func NewHider(s *Set, more ...string) *Hider {
	var words []string
	known := s.words()
	for _, name := range known.names {
		words = append(words, forms(known.values[name])...)
	}
	for _, value := range known.passing {
		words = append(words, forms(value)...)
	}
	for _, value := range more {
		if Check("VALUE", value) == nil {
			words = append(words, forms(value)...)
		}
	}
	if words == nil {
		return nil
	}
	return &Hider{m: newMatcher(words)}
}

// Find lists the places of values in text, in order. Where some begin at one place the longest counts; none overlap.
func (h *Hider) Find(text string) []Span {
	if h == nil {
		return nil
	}
	var found []Span
	h.m.each(text, func(start, end, _ int) { found = append(found, Span{start, end}) })
	return found
}

// Hide is text with Mark in the place of each value, and how many there were.
func (h *Hider) Hide(text string) (string, int) {
	found := h.Find(text)
	if found == nil {
		return text, 0
	}
	var b strings.Builder
	from := 0
	for _, at := range found {
		b.WriteString(text[from:at.Start])
		b.WriteString(Mark)
		from = at.End
	}
	b.WriteString(text[from:])
	return b.String(), len(found)
}

// Masker begins a stream in which Mark stands in the place of each value.
func (h *Hider) Masker() *Masker {
	fixed := &Set{}
	if h != nil {
		fixed.now.Store(&words{found: h.m, shown: h.m})
	}
	return fixed.Masker()
}

// forms are the ways in which a value is commonly written. Those of base64 that stand inside of a longer text lack the characters
// which also hold bits of their neighbours.
func forms(value string) []string {
	all := []string{value, inJSON(value)}
	query := url.QueryEscape(value)
	path := url.PathEscape(value)
	all = append(all, query, path, strings.ReplaceAll(query, "+", "%20"), lowerHex(query), lowerHex(path))
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		raw := enc.WithPadding(base64.NoPadding)
		all = append(all, enc.EncodeToString([]byte(value)), raw.EncodeToString([]byte(value)))
		for before := range 3 {
			all = append(all, inside(raw, value, before))
		}
	}
	return all
}

// inside is what the base64 of any text holds that has value behind a number of bytes which leaves such a rest by 3.
func inside(enc *base64.Encoding, value string, before int) string {
	text := enc.EncodeToString([]byte(strings.Repeat("\x00", before) + value))
	from := (before*8 + 5) / 6
	to := (before + len(value)) * 8 / 6
	return text[from:to]
}

// inJSON is how a JSON string holds the value.
func inJSON(value string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // a string into memory
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// lowerHex writes the escapes of a URL with small letters.
func lowerHex(text string) string {
	out := []byte(text)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:], strings.ToLower(text[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}

// endings are those of the names of variables whose values are secrets by custom.
var endings = []string{
	"_API_KEY", "_APIKEY", "_TOKEN", "_SECRET", "_SECRET_KEY", "_ACCESS_KEY", "_ACCESS_KEY_ID", "_PRIVATE_KEY", "_AUTH_KEY", "_PASSWORD",
	"_PASSWD", "_PASSPHRASE", "_CREDENTIAL", "_PAT", "_WEBHOOK_URL",
}

// WellKnown lists the values of those of the variables (NAME=value, as os.Environ has them) that hold secrets by the custom of their
// names: OPENAI_API_KEY, GH_TOKEN, AWS_SECRET_ACCESS_KEY, PGPASSWORD and so on. Values that NewHider would pass over are left out.
func WellKnown(environ []string) []string {
	var values []string
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if customary(strings.ToUpper(name)) && utf8.ValidString(value) && utf8.RuneCountInString(value) >= MinLength {
			values = append(values, value)
		}
	}
	return values
}

func customary(name string) bool {
	if name == "PGPASSWORD" || name == "MYSQL_PWD" {
		return true
	}
	for _, ending := range endings {
		if strings.HasSuffix(name, ending) || name == ending[1:] {
			return true
		}
	}
	return false
}
