package handoff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"xmd/runtime"
)

// Block is what a rendered block holds.
type Block struct {
	Reason  runtime.Reason
	Secrets int   // known secrets that were replaced
	First   *Turn // of the first request alone, if the block does not hold its turn; else nil
	LeftOut int   // turns
	Turns   []Turn
	Now     []Item
	More    []int // items that are only counted, by kind: in work, planned, waiting, running, the working tree
}

// Turn is one turn as a block holds it.
type Turn struct {
	Number  int
	Agent   Field
	Asked   []Piece // one text; or the beginning, what is left out, and the end
	Pieces  []Piece // what was said and done
	Outcome string  // done, failed, cancelled, refused, unknown; "" of a request alone
	Failure Field
}

// Piece is one of a text, an action, a question, or what is left out there.
type Piece struct {
	Text     string
	Action   *Action
	Question *Question
	Left     *Left
}

// Left is how many of something are left out.
type Left struct {
	What string // characters, actions, questions, parts
	N    int
}

// Field is a text within a bound.
type Field struct {
	Text string
	Cut  bool // it is the beginning of a longer one
}

// Action is an action as a block holds it.
type Action struct {
	Name            Field
	Outcome         string // done, failed, not run, unknown
	Subject, Result Field
	Files           []Field
	MoreFiles       int
}

// Question is a question as a block holds it.
type Question struct {
	Question, Reply Field
	Answered        bool
}

// Item is one thing of where things stand.
type Item struct {
	Kind string // in work, planned, waiting for an answer, still running, working tree
	Field
}

// Parse reads a block that Writer made, and nothing else: an error names the first line that is none of it.
func Parse(text string) (*Block, error) {
	p := &parser{lines: strings.Split(text, "\n")}
	b := &Block{More: make([]int, len(kinds))}
	if err := p.block(b); err != nil {
		return nil, fmt.Errorf("line %d of the block: %w", p.at+1, err)
	}
	return b, nil
}

type parser struct {
	lines []string
	at    int
}

func (p *parser) line() string {
	if p.at < len(p.lines) {
		return p.lines[p.at]
	}
	return ""
}

// take goes on if the line is want.
func (p *parser) take(want string) bool {
	if p.at >= len(p.lines) || p.line() != want {
		return false
	}
	p.at++
	return true
}

func (p *parser) expect(want string) error {
	if !p.take(want) {
		return fmt.Errorf("%.40q stands where %.40q is expected", p.line(), want)
	}
	return nil
}

// number goes on if the line is a format with a number.
func (p *parser) number(format string) (int, bool) {
	before, after, _ := strings.Cut(format, "%d")
	rest, begins := strings.CutPrefix(p.line(), before)
	digits, ends := strings.CutSuffix(rest, after)
	n, err := strconv.Atoi(digits)
	if !begins || !ends || err != nil || p.line() != fmt.Sprintf(format, n) {
		return 0, false
	}
	p.at++
	return n, true
}

func (p *parser) block(b *Block) error {
	for line := range strings.SplitSeq(opening+"\n"+strings.TrimSuffix(frame, "\n"), "\n") {
		if err := p.expect(line); err != nil {
			return err
		}
	}
	for _, w := range why {
		if p.take(w.says) {
			b.Reason = w.reason
			break
		}
	}
	b.Secrets, _ = p.number(leftSecrets)
	for p.take("") {
		if err := p.section(b); err != nil {
			return err
		}
	}
	if err := p.expect(closing); err != nil {
		return err
	}
	if p.at != len(p.lines) {
		return fmt.Errorf("%.40q stands behind the end", p.line())
	}
	return nil
}

// section is what stands behind an empty line.
func (p *parser) section(b *Block) error {
	if n, ok := p.number(leftTurns); ok {
		b.LeftOut = n
		return nil
	}
	if p.take(ofStanding) {
		return p.standing(b)
	}
	var t Turn
	if err := p.turn(&t); err != nil {
		return err
	}
	if t.Outcome == "" {
		b.First = &t
		return nil
	}
	b.Turns = append(b.Turns, t)
	return nil
}

func (p *parser) standing(b *Block) error {
	for {
		kind := slices.IndexFunc(kinds, func(k struct{ header, more string }) bool { return p.is(k.header) })
		if kind < 0 {
			return nil
		}
		f, err := p.field(kinds[kind].header)
		if err != nil {
			return err
		}
		b.Now = append(b.Now, Item{kinds[kind].header, f})
		if n, ok := p.number(kinds[kind].more); ok {
			b.More[kind] = n
		}
	}
}

// is says whether a body with this header follows.
func (p *parser) is(header string) bool { return p.line() == header || p.line() == header+isCut }

// field reads a header and its body.
func (p *parser) field(header string) (Field, error) {
	cut := p.take(header + isCut)
	if !cut {
		if err := p.expect(header); err != nil {
			return Field{}, err
		}
	}
	from := p.at
	var lines []string
	for strings.HasPrefix(p.line(), "| ") {
		lines = append(lines, p.line()[2:])
		p.at++
	}
	if p.at == from {
		return Field{}, fmt.Errorf("%.40q stands where a quoted line is expected", p.line())
	}
	text, err := unescape(strings.Join(lines, "\n"))
	return Field{text, cut}, err
}

func (p *parser) optional(header string) (Field, error) {
	if !p.is(header) {
		return Field{}, nil
	}
	return p.field(header)
}

func (p *parser) turn(t *Turn) (err error) {
	n, ok := p.number(ofTurn)
	if !ok {
		return fmt.Errorf("%.40q stands where a turn is expected", p.line())
	}
	t.Number = n
	if t.Agent, err = p.field(ofAgent); err != nil {
		return err
	}
	if t.Asked, err = p.pieces(p.asked); err != nil {
		return err
	}
	if p.take(onlyRequest) {
		return nil
	}
	if t.Pieces, err = p.pieces(p.done); err != nil {
		return err
	}
	for _, outcome := range turnOutcomes {
		if p.take(ofOutcome + outcome) {
			t.Outcome = outcome
		}
	}
	if t.Outcome == "" {
		return fmt.Errorf("%.40q stands where an outcome is expected", p.line())
	}
	t.Failure, err = p.optional(ofFailure)
	return err
}

// pieces reads as long as there are any.
func (p *parser) pieces(one func() (*Piece, error)) ([]Piece, error) {
	var all []Piece
	for {
		piece, err := one()
		if piece == nil || err != nil {
			return all, err
		}
		all = append(all, *piece)
	}
}

func (p *parser) asked() (*Piece, error) { return p.said(ofRequest) }

// said is a text or what is left out of it; nil: neither.
func (p *parser) said(header string) (*Piece, error) {
	if p.line() == header {
		f, err := p.field(header)
		return &Piece{Text: f.Text}, err
	}
	if n, ok := p.number(leftCharacters); ok {
		return &Piece{Left: &Left{"characters", n}}, nil
	}
	return nil, nil
}

func (p *parser) done() (*Piece, error) {
	for _, left := range []struct{ what, format string }{{"actions", leftActions}, {"questions", leftQuestions}, {"parts", leftParts}} {
		if n, ok := p.number(left.format); ok {
			return &Piece{Left: &Left{left.what, n}}, nil
		}
	}
	for _, outcome := range actionOutcomes {
		if p.is(ofAction + outcome) {
			a, err := p.action(outcome)
			return &Piece{Action: a}, err
		}
	}
	if p.is(ofQuestion+isReplied) || p.is(ofQuestion+isWaiting) {
		q, err := p.question()
		return &Piece{Question: q}, err
	}
	return p.said(ofAnswer)
}

func (p *parser) action(outcome string) (a *Action, err error) {
	a = &Action{Outcome: outcome}
	if a.Name, err = p.field(ofAction + outcome); err != nil {
		return nil, err
	}
	if a.Subject, err = p.optional(ofSubject); err != nil {
		return nil, err
	}
	if a.Result, err = p.optional(ofResult); err != nil {
		return nil, err
	}
	for p.is(ofFile) {
		file, err := p.field(ofFile)
		if err != nil {
			return nil, err
		}
		a.Files = append(a.Files, file)
	}
	a.MoreFiles, _ = p.number(leftFiles)
	return a, nil
}

func (p *parser) question() (q *Question, err error) {
	q = &Question{Answered: p.is(ofQuestion + isReplied)}
	if !q.Answered {
		q.Question, err = p.field(ofQuestion + isWaiting)
		return q, err
	}
	if q.Question, err = p.field(ofQuestion + isReplied); err != nil {
		return nil, err
	}
	q.Reply, err = p.field(ofReply)
	return q, err
}
