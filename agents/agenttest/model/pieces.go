package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// runs groups neighbouring pieces that belong to one item of an answer: texts
// with texts, thoughts with thoughts, each tool alone.
func runs(pieces []piece) [][]piece {
	var out [][]piece
	for i, p := range pieces {
		if i > 0 && p.kind != use && p.kind == pieces[i-1].kind {
			out[len(out)-1] = append(out[len(out)-1], p)
			continue
		}
		out = append(out, []piece{p})
	}
	return out
}

func joined(run []piece) string {
	var b strings.Builder
	for _, p := range run {
		b.WriteString(p.text)
	}
	return b.String()
}

// token makes ids that are the same whenever the request is the same, and
// differ within a conversation, which only ever grows.
func token(req Request) string {
	sum := sha256.Sum256(req.Raw)
	return hex.EncodeToString(sum[:10])
}

// usage counts plausibly: a token for every four bytes.
func usage(req Request, p reply) (in, out int) {
	for _, t := range req.Turns {
		in += len(t.Text)/4 + 1
	}
	for _, pc := range p.pieces {
		out += len(pc.text)/4 + 1
	}
	return in, out
}

// jsonText is v as JSON the way a model writes it: <, > and & as they are.
func jsonText(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "{}"
	}
	return strings.TrimSuffix(b.String(), "\n")
}
