package syntax

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/scan"
)

// fence makes a node of an exec or filled fence.
func (b *builder) fence(open scan.Token, body, end *scan.Token) Node {
	text := b.src.Text
	info := open.Start
	for info < open.End && text[info] == text[open.Start] {
		info++
	}
	pos := Span{Start: open.Start, End: open.End}
	bodyEnd := open.End
	if body != nil {
		pos.End, bodyEnd = body.End, body.End
	}
	if end != nil {
		pos.End = end.End
		if nl := strings.LastIndexByte(text[open.End:bodyEnd], '\n'); nl >= 0 { // what stands before the closing fence on its line
			bodyEnd = open.End + nl + 1
		}
	}
	words := b.infoWords(info, open.End)
	if len(words) > 1 && words[1].Name == "exec" && !words[1].HasValue {
		return b.exec(open, words, pos, bodyEnd)
	}
	return b.fill(open, info, pos, bodyEnd, end)
}

// exec makes an exec block. Its program ends at bodyEnd.
func (b *builder) exec(open scan.Token, words []*InfoWord, pos Span, bodyEnd int) *Exec {
	e := &Exec{Pos: pos, Lang: words[0].text(b.src.Text), LangSpan: words[0].Pos, Words: words[2:], Quotes: int(open.Quotes)}
	for _, w := range e.Words {
		b.checkWord(w)
	}
	body := b.src.Text[open.End:bodyEnd]
	if nl := strings.IndexByte(body, '\n'); nl >= 0 {
		body = body[nl+1:]
	}
	var program strings.Builder
	program.Grow(len(body))
	for line := range strings.Lines(body) {
		line = scan.Unindent(scan.Unquote(line, e.Quotes), int(open.Indent))
		if cut, ok := strings.CutSuffix(line, "\r\n"); ok {
			line = cut + "\n"
		}
		program.WriteString(line)
	}
	e.Program = program.String()
	return e
}

// text returns the word as it was written.
func (w *InfoWord) text(src string) string { return src[w.Pos.Start:w.Pos.End] }

// infoWords cuts src[from:to] into words: name, name=value, name="value". A quoted value may hold blanks.
func (b *builder) infoWords(from, to int) []*InfoWord {
	src := b.src.Text
	var out []*InfoWord
	for p := from; ; {
		for p < to && strings.IndexByte(" \t\r", src[p]) >= 0 {
			p++
		}
		if p >= to {
			return out
		}
		w := &InfoWord{Pos: Span{Start: p}}
		for p < to && strings.IndexByte(" \t\r=", src[p]) < 0 {
			p++
		}
		w.Name = src[w.Pos.Start:p]
		if p < to && src[p] == '=' {
			w.HasValue = true
			p = infoValue(w, src, p+1, to)
		}
		w.Pos.End = p
		out = append(out, w)
	}
}

// infoValue reads the value of a word at p and returns where the word ends.
func infoValue(w *InfoWord, src string, p, to int) int {
	if p < to && (src[p] == '"' || src[p] == '\'') {
		if n := strings.IndexByte(src[p+1:to], src[p]); n >= 0 {
			w.Value, w.ValueSpan = src[p+1:p+1+n], Span{Start: p + 1, End: p + 1 + n}
			for p += n + 2; p < to && strings.IndexByte(" \t\r", src[p]) < 0; p++ { // what is glued to the quote is malformed
			}
			return p
		}
	}
	start := p
	for p < to && strings.IndexByte(" \t\r", src[p]) < 0 {
		p++
	}
	w.Value, w.ValueSpan = src[start:p], Span{Start: start, End: p}
	return p
}

// checkWord reports a malformed word of an exec block; which words there are is not decided here.
func (b *builder) checkWord(w *InfoWord) {
	src := b.src.Text
	switch {
	case w.Name == "":
		b.diags.Add(diag.CodeExecInfo, w.Pos, "= needs a word before it", `write as="name"`)
	case !w.HasValue:
	case w.Value != "" && (w.Value[0] == '"' || w.Value[0] == '\''):
		b.diags.Add(diag.CodeExecInfo, w.ValueSpan, "string is not closed", "end it with "+w.Value[:1]+" on the same line")
	case w.ValueSpan.Start == w.ValueSpan.End && w.Pos.End == w.ValueSpan.End:
		b.diags.Add(diag.CodeExecInfo, w.Pos, w.Name+"= has no value", "write "+w.Name+`="text"`)
	case w.ValueSpan.Start > 0 && (src[w.ValueSpan.Start-1] == '"' || src[w.ValueSpan.Start-1] == '\'') && w.Pos.End > w.ValueSpan.End+1:
		b.diags.Add(diag.CodeExecInfo, Span{Start: w.ValueSpan.End + 1, End: w.Pos.End}, "a blank is missing behind the string",
			"words of an exec fence stand apart; a string holds no quote of its own kind")
	}
}

// fill makes a filled fence, whose info string begins at info. Its body ends at bodyEnd.
func (b *builder) fill(open scan.Token, info int, pos Span, bodyEnd int, end *scan.Token) *Fill {
	src := b.src.Text
	f := &Fill{Pos: pos, Marker: src[open.Start:info], Quotes: int(open.Quotes)}
	from := open.End
	if nl := strings.IndexByte(src[open.End:bodyEnd], '\n'); nl >= 0 {
		from = open.End + nl + 1
	}
	f.Open = f.Marker + dropFill(src[info:open.End]) + src[open.End:from]
	if end != nil {
		f.Close = src[max(bodyEnd, from):end.End]
	}
	for _, t := range scan.Fill(src, from, max(bodyEnd, from)) {
		f.Body = b.appendToken(f.Body, t)
	}
	return f
}

// dropFill takes the word fill out of an info string, with the blanks before it.
func dropFill(info string) string {
	for at := 0; ; {
		word := at
		for word < len(info) && (info[word] == ' ' || info[word] == '\t') {
			word++
		}
		end := word
		for end < len(info) && info[end] != ' ' && info[end] != '\t' {
			end++
		}
		if word == end {
			return info
		}
		if info[word:end] == "fill" {
			return info[:at] + info[end:]
		}
		at = end
	}
}
