package format

import (
	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/syntax"
)

// maxRounds is how often a text is put into form until it stays as it is; a second round is nearly always the last.
const maxRounds = 4

// maxTrials bounds how often a round may parse what it made while it looks for the edits that change a document.
const maxTrials = 40

// Source returns a document in its one form: tags, frontmatter spacing and the indentation of bodies are rewritten, all else stays byte
// for byte. The result renders and does what the document does, so its plan has the same digest, and it is in its form: Source of it
// returns it again. A tag or body that cannot be put into form without changing the document stays as it was written.
//
// A document with errors is refused: the text is empty then, and the list holds them. The list may hold warnings otherwise. What is
// only wrong in meaning, such as an unknown component, is no error here. Source does no I/O and may be called concurrently.
func Source(src *diag.Source) (string, diag.List) {
	doc, list := lang.Parse(src.Name, src.Text)
	if list.HasErrors() {
		return "", list
	}
	canon := canons{}
	want := canon.shape(doc)
	text := src.Text
	for range maxRounds {
		next := round(src.Name, text, want, canon)
		if next == text {
			return text, list
		}
		text = next
	}
	return src.Text, list // it has no form that stays
}

// round puts a text into form once. What it returns has the shape that is wanted.
func round(name, text, want string, canon canons) string {
	doc, _ := syntax.Parse(diag.NewSource(name, text)) // as it was written: not laid out
	t := &trial{name: name, survey: newSurvey(doc), want: want, canon: canon, left: maxTrials}
	t.on = make([]bool, t.survey.units)
	t.settle(0, len(t.on))
	return t.survey.render(t.on)
}

// trial finds the edits of one round that leave the document as it is.
type trial struct {
	name   string
	survey *survey
	want   string // the document's shape
	canon  canons
	on     []bool // by unit: its edits are made
	left   int    // how many more may be tried
}

// settle switches on the units lo to hi, leaving out those that would change the document.
func (t *trial) settle(lo, hi int) {
	if lo == hi || t.left == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		t.on[i] = true
	}
	t.left--
	if t.same(t.survey.render(t.on)) {
		return
	}
	for i := lo; i < hi; i++ {
		t.on[i] = false
	}
	if hi-lo > 1 {
		mid := (lo + hi) / 2
		t.settle(lo, mid)
		t.settle(mid, hi)
	}
}

// same tells whether a text is the document that is wanted.
func (t *trial) same(text string) bool {
	doc, list := lang.Parse(t.name, text)
	return !list.HasErrors() && t.canon.shape(doc) == t.want
}
