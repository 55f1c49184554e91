package syntax

import (
	"strings"

	"xmd/lang/diag"
	"xmd/lang/scan"
)

// closeTag closes the innermost open element of its name, and with it those inside, each of which is reported. A closing tag that names
// nothing open is kept until it is known whether the element around it is closed.
func (b *builder) closeTag(t scan.Token) {
	name := b.closerName(t)
	if b.opened[name] == 0 {
		b.strayCloser(t, name)
		return
	}
	for b.frames[len(b.frames)-1].el.Name != name {
		b.pop(&t)
	}
	f := &b.frames[len(b.frames)-1]
	if f.mismatch != nil {
		b.reportStray(*f.mismatch)
		f.mismatch = nil
	}
	f.el.Close, f.el.CloseQuotes = t.Span(), int(t.Quotes)
	f.el.Pos.End = t.End
	f.broken = true // closed: nothing to report
	b.pop(nil)
}

// closerName returns the component that a closing tag names.
func (b *builder) closerName(t scan.Token) string {
	name := b.src.Text[t.Start+len("</") : t.End]
	if i := strings.IndexAny(name, " \t\r\n>"); i >= 0 {
		name = name[:i]
	}
	return name
}

// pop takes the innermost element off the stack. If it was not closed, that is reported: closer is the closing tag of an outer element that
// ends it, nil at the end of the text.
func (b *builder) pop(closer *scan.Token) {
	last := len(b.frames) - 1
	f := b.frames[last]
	if last <= MaxDepth {
		f.el.Body = f.nodes
	}
	if end := f.el.Close; end.Start == end.End { // broken off: it ends where its content does
		if n := len(f.el.Body); n > 0 {
			f.el.Pos.End = f.el.Body[n-1].Span().End
		}
		f.el.Close = Span{Start: f.el.Pos.End, End: f.el.Pos.End}
	}
	b.frames = b.frames[:last]
	b.opened[f.el.Name]--
	if f.broken || last > MaxDepth {
		return
	}
	if closer != nil {
		b.forced[f.el.Name]++
	}
	b.reportUnclosed(f, closer)
}

func (b *builder) reportUnclosed(f frame, closer *scan.Token) {
	if f.mismatch != nil {
		name := b.closerName(*f.mismatch)
		b.diags.Add(diag.CodeMismatch, f.mismatch.Span(), "</"+name+"> does not close <"+f.el.Name+">", "write </"+f.el.Name+">",
			diag.Related{Summary: "<" + f.el.Name + "> is opened here", Span: f.el.Open})
		return
	}
	var related []diag.Related
	summary := "<" + f.el.Name + "> is not closed"
	if closer != nil {
		outer := b.closerName(*closer)
		summary += " before </" + outer + ">"
		related = append(related, diag.Related{Summary: "</" + outer + "> stands here", Span: closer.Span()})
	}
	b.diags.Add(diag.CodeUnclosed, f.el.Open, summary, b.unclosedHint(f.el), related...)
}

// unclosedHint says how to close an element, or how to write it as text where it may be a type parameter or an HTML tag.
func (b *builder) unclosedHint(el *Element) string {
	if _, ok := Builtins[el.Name]; ok {
		return "close it with </" + el.Name + "> or write <" + el.Name + " …/>"
	}
	return `write \<` + el.Name + "> or use backticks; HTML tags are lower-case"
}

// strayCloser takes a closing tag that names nothing that is open.
func (b *builder) strayCloser(t scan.Token, name string) {
	if b.forced[name] > 0 { // its element was reported as not closed
		b.forced[name]--
		return
	}
	if f := &b.frames[len(b.frames)-1]; f.el != nil && f.mismatch == nil && !f.broken {
		kept := t
		f.mismatch = &kept
		return
	}
	b.reportStray(t)
}

func (b *builder) reportStray(t scan.Token) {
	name := b.closerName(t)
	b.diags.Add(diag.CodeStrayCloser, t.Span(), "</"+name+"> closes nothing", "delete it, or write \\</"+name+"> for the text")
}

// end closes what is open at the end of the text. A fence that runs to the end is named: it may have swallowed the closing tags.
func (b *builder) end(open []scan.Open) {
	before := len(b.diags)
	for len(b.frames) > 1 {
		b.pop(nil)
	}
	for _, o := range open {
		if o.What != "fence" {
			continue
		}
		for i := before; i < len(b.diags); i++ {
			if d := &b.diags[i]; d.Code == diag.CodeUnclosed && d.Span.Start < o.Span.Start {
				d.Related = append(d.Related, diag.Related{Summary: "the fence that opens here runs to the end of the text", Span: o.Span})
			}
		}
	}
}
