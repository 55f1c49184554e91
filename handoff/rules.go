package handoff

import (
	"embed"
	"regexp"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"

	"xmd/runtime/secret"
)

//go:embed rules/gitleaks.toml rules/more.toml
var ruleFiles embed.FS

// rule recognises the secrets of one provider.
type rule struct {
	ID       string
	Regex    string
	Keywords []string // in small letters; one of them stands in every text with such a secret

	once    sync.Once
	pattern *regexp.Regexp
}

// ruleList finds which rules a text is worth trying.
type ruleList struct {
	rules []*rule
	pairs [1 << 16]bool   // with which two bytes keywords begin
	by    [256][]ruleWord // by their first byte
}

type ruleWord struct {
	word string
	rule int
}

// knownRules reads the rules when they are first needed. Their patterns are compiled one by one, when a text has a keyword of theirs.
var knownRules = sync.OnceValue(func() *ruleList {
	l := &ruleList{}
	for _, name := range []string{"gitleaks", "more"} {
		data, err := ruleFiles.ReadFile("rules/" + name + ".toml")
		var file struct{ Rules []*rule }
		if err == nil {
			err = toml.Unmarshal(data, &file)
		}
		if err != nil {
			panic("handoff: the embedded rules " + name + ": " + err.Error())
		}
		l.rules = append(l.rules, file.Rules...)
	}
	for i, r := range l.rules {
		for _, word := range r.Keywords {
			l.pairs[int(word[0])<<8|int(word[1])] = true
			l.by[word[0]] = append(l.by[word[0]], ruleWord{word, i})
		}
	}
	return l
})

// Their end asks for a quote, a space or the end of text, as in files of code; in prose a full stop or a bracket may follow.
const (
	endInCode  = `(?:[\x60'"\s;]|\\[nr]|$)`
	endInProse = `(?:[^0-9A-Za-z_-]|$)`
)

func (r *rule) compiled() *regexp.Regexp {
	r.once.Do(func() { r.pattern = regexp.MustCompile(strings.ReplaceAll(r.Regex, endInCode, endInProse)) })
	return r.pattern
}

// find lists where secrets of known providers stand, in no order.
func (l *ruleList) find(text string) []secret.Span {
	var found []secret.Span
	for _, r := range l.worth(text) {
		for _, at := range l.rules[r].compiled().FindAllStringSubmatchIndex(text, -1) {
			found = append(found, group(at))
		}
	}
	return found
}

// group is where the secret itself is in a match: the first group that took part, or all.
func group(at []int) secret.Span {
	for i := 2; i+1 < len(at); i += 2 {
		if at[i] >= 0 && at[i+1]-at[i] >= (at[1]-at[0])/2 { // else it is a part of the pattern, not the secret
			return secret.Span{Start: at[i], End: at[i+1]}
		}
	}
	return secret.Span{Start: at[0], End: at[1]}
}

// worth lists the rules of which text has a keyword.
func (l *ruleList) worth(text string) []int {
	var worth []int
	var seen []bool
	for i := 0; i+1 < len(text); i++ {
		first := lower(text[i])
		if !l.pairs[int(first)<<8|int(lower(text[i+1]))] {
			continue
		}
		for _, w := range l.by[first] {
			if (seen == nil || !seen[w.rule]) && len(text)-i >= len(w.word) && strings.EqualFold(text[i:i+len(w.word)], w.word) {
				if seen == nil {
					seen = make([]bool, len(l.rules))
				}
				seen[w.rule] = true
				worth = append(worth, w.rule)
			}
		}
	}
	return worth
}

func lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}
