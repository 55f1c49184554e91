package handoff

import (
	"cmp"
	"slices"
	"strings"

	"xmd/runtime/secret"
)

// redactor takes known secrets out of the texts of one part of a block, and counts them.
type redactor struct {
	hide  *secret.Hider
	found int
}

// text is what goes into the block of one field: valid, without known secrets and without an earlier block.
func (r *redactor) text(text string) string {
	return r.texts([]string{text})[0]
}

// texts is text of several that were one stream: a secret that begins in one and ends in another is taken out of both.
func (r *redactor) texts(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = valid(text)
	}
	spans := r.spans(strings.Join(out, ""))
	r.found += len(spans)
	begin := 0
	for i, text := range out {
		end := begin + len(text)
		out[i] = unquoted(without(text, begin, spans))
		for len(spans) > 0 && spans[0].End <= end {
			spans = spans[1:]
		}
		begin = end
	}
	return out
}

// spans lists where secrets are: declared ones and those of known providers, in order, those that touch as one.
func (r *redactor) spans(text string) []secret.Span {
	all := append(r.hide.Find(text), knownRules().find(text)...)
	slices.SortFunc(all, func(a, b secret.Span) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	var merged []secret.Span
	for _, at := range all {
		if last := len(merged) - 1; last >= 0 && at.Start < merged[last].End {
			merged[last].End = max(merged[last].End, at.End)
			continue
		}
		merged = append(merged, at)
	}
	return merged
}

// without is text, which begins at a place of the stream, with a mark where a secret begins and nothing for the rest of it.
func without(text string, begin int, spans []secret.Span) string {
	var b strings.Builder
	from := 0
	for _, at := range spans {
		start, end := at.Start-begin, min(at.End-begin, len(text))
		if start >= len(text) {
			break
		}
		if start >= 0 {
			b.WriteString(text[from:start])
			b.WriteString(secret.Mark)
		}
		from = end
	}
	if from == 0 && b.Len() == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}
