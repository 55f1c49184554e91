package scan

// Fill cuts the body of a filled fence, src[from:to], into Text, Interp and Escape tokens: nothing else acts there.
func Fill(src string, from, to int) []Token {
	var out []Token
	text := from
	emit := func(k Kind, start, end int) {
		if text < start {
			out = append(out, Token{Kind: Text, Start: text, End: start})
		}
		out = append(out, Token{Kind: k, Start: start, End: end})
		text = end
	}
	for p := from; p < to; {
		switch src[p] {
		case '{':
			if n := Path(src[p:to]); n > 0 {
				emit(Interp, p, p+n)
				p += n
				continue
			}
			p++
		case '\\':
			q := p
			for q < to && src[q] == '\\' {
				q++
			}
			if Path(src[q:to]) > 0 {
				emit(Escape, p, q)
				q += (q - p) % 2 // what follows an odd one is text
			}
			p = q
		default:
			p++
		}
	}
	if text < to {
		out = append(out, Token{Kind: Text, Start: text, End: to})
	}
	return out
}
