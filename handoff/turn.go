package handoff

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"xmd/runtime"
)

// sheet is text of a block under way, with its size in code points.
type sheet struct {
	b    strings.Builder
	size int
}

func (s *sheet) line(text string) {
	s.b.WriteString(text)
	s.b.WriteByte('\n')
	s.size += utf8.RuneCountInString(text) + 1
}

func (s *sheet) linef(format string, n int) { s.line(fmt.Sprintf(format, n)) }

// add writes what stands on another sheet.
func (s *sheet) add(other *sheet) {
	s.b.WriteString(other.b.String())
	s.size += other.size
}

// body writes text behind a header.
func (s *sheet) body(header, text string) {
	s.line(header)
	for line := range strings.SplitSeq(escape(text), "\n") {
		s.line("| " + line)
	}
}

// field is body within a bound.
func (s *sheet) field(header, text string, bound int) {
	if fits(text, bound) {
		s.body(header, text)
	} else {
		s.body(header+isCut, text[:beginning(text, bound)])
	}
}

// optional is field of what may be empty, which is then not written.
func (s *sheet) optional(header, text string, bound int) {
	if text != "" {
		s.field(header, text, bound)
	}
}

// page is a turn in its parts: what stands at its begin and its end in any case, and what was said and done between.
type page struct {
	begin, end sheet
	parts      []*sheet
	redactor
}

// pageOf writes a turn.
func pageOf(e runtime.Entry, redactor redactor) *page {
	p := &page{redactor: redactor}
	p.request(e)
	p.answer(e.Parts)
	p.questions(e.Questions)
	p.end.line(ofOutcome + oneOf(e.Outcome, turnOutcomes))
	p.end.optional(ofFailure, p.text(e.Failure), maxResult)
	return p
}

// requestOf writes what was asked in a turn, and nothing else of it.
func requestOf(e runtime.Entry, redactor redactor) *page {
	p := &page{redactor: redactor}
	p.request(e)
	p.end.line(onlyRequest)
	return p
}

func (p *page) request(e runtime.Entry) {
	p.begin.line("")
	p.begin.linef(ofTurn, e.Number)
	shown := e.Shown
	if shown == "" {
		shown = e.Agent
	}
	p.begin.field(ofAgent, p.text(shown), maxName)
	p.begin.message(ofRequest, halves([]string{p.text(e.Words)}, len(ofRequest)+1)[0])
}

// message writes what is kept of a text.
func (s *sheet) message(header string, k kept) {
	if k.head != "" || !k.cut {
		s.body(header, k.head)
	}
	if k.left > 0 {
		s.linef(leftCharacters, k.left)
	}
	if k.tail != "" {
		s.body(header, k.tail)
	}
}

// answer writes texts and actions in the order in which they came. All texts together are one message.
func (p *page) answer(all []runtime.Part) {
	texts := make([]string, len(all))
	for i, part := range all {
		texts[i] = part.Text
	}
	texts = p.texts(texts)
	var said []string
	for _, text := range texts {
		if text != "" {
			said = append(said, text)
		}
	}
	cuts := halves(said, len(ofAnswer)+1)
	var actions []*runtime.Action
	for i, part := range all {
		if texts[i] != "" {
			p.actions(actions)
			actions = nil
			p.add(func(s *sheet) { s.message(ofAnswer, cuts[0]) })
			cuts = cuts[1:]
		}
		if part.Action != nil {
			actions = append(actions, part.Action)
		}
	}
	p.actions(actions)
}

// add appends a part, unless nothing is written.
func (p *page) add(write func(s *sheet)) {
	s := &sheet{}
	write(s)
	if s.size > 0 {
		p.parts = append(p.parts, s)
	}
}

// actions writes a stretch of actions.
func (p *page) actions(all []*runtime.Action) {
	outline(len(all), func(i int) {
		p.add(func(s *sheet) { p.action(s, all[i]) })
	}, func(left int) {
		p.add(func(s *sheet) { s.linef(leftActions, left) })
	})
}

// outline calls each for all of n, or, if they are too many, for the first and last ones with left between.
func outline(n int, each func(i int), left func(n int)) {
	for i := 0; i < n; i++ {
		if n > stretch && i == stretchFirst {
			i = n - stretchLast
			left(i - stretchFirst)
		}
		each(i)
	}
}

func (p *page) action(s *sheet, a *runtime.Action) {
	s.field(ofAction+oneOf(a.Outcome, actionOutcomes), p.text(a.Name), maxName)
	s.optional(ofSubject, p.text(a.Subject), maxSubject)
	s.optional(ofResult, p.text(a.Result), maxResult)
	for i, file := range a.Files {
		if i == maxFiles {
			s.linef(leftFiles, len(a.Files)-i)
			break
		}
		s.field(ofFile, p.text(file), maxSubject)
	}
}

func (p *page) questions(all []runtime.Asked) {
	outline(len(all), func(i int) {
		p.add(func(s *sheet) { p.question(s, all[i]) })
	}, func(left int) {
		p.add(func(s *sheet) { s.linef(leftQuestions, left) })
	})
}

func (p *page) question(s *sheet, q runtime.Asked) {
	if !q.Answered {
		s.field(ofQuestion+isWaiting, p.text(q.Question), maxQuestion)
		return
	}
	s.field(ofQuestion+isReplied, p.text(q.Question), maxQuestion)
	s.field(ofReply, p.text(q.Answer), maxQuestion)
}

func oneOf(outcome string, all []string) string {
	if slices.Contains(all, outcome) {
		return outcome
	}
	return unknown
}

// sheet is the whole turn. If it is longer than a turn may be, the first of what was said and done is left out.
func (p *page) sheet() *sheet {
	room := maxTurn - p.begin.size - p.end.size
	for _, part := range p.parts {
		room -= part.size
	}
	from := 0
	if room < 0 {
		for room -= ofLeftOut; room < 0 && from < len(p.parts); from++ {
			room += p.parts[from].size
		}
	}
	s := &sheet{}
	s.add(&p.begin)
	if from > 0 {
		s.linef(leftParts, from)
	}
	for _, part := range p.parts[from:] {
		s.add(part)
	}
	s.add(&p.end)
	return s
}
