package wire

import (
	"bytes"
	"io"
)

const (
	firstBuffer = 64 << 10 // one full pipe
	keepBuffer  = 4 << 20  // a larger buffer is given back after its line
	headSize    = 200      // of a skipped line, kept for the report
)

// lineReader cuts a stream into lines without copying them.
type lineReader struct {
	r       io.Reader
	max     int
	buf     []byte
	from    int // start of the unread part of buf
	scanned int // up to here, from included, there is no newline
	to      int // end of the unread part
	err     error
}

// longLine is what is known of a line that was too long to be kept.
type longLine struct {
	size int64
	head []byte
	skim skim
}

// next returns the next line without its newline, or what is known of an overlong
// one. The line is valid until the following call. The last line needs no newline.
func (l *lineReader) next() ([]byte, *longLine, error) {
	l.shrink()
	for {
		if n := bytes.IndexByte(l.buf[l.scanned:l.to], '\n'); n >= 0 {
			end := l.scanned + n
			line := l.buf[l.from:end]
			l.from, l.scanned = end+1, end+1
			if len(line) > l.max {
				return nil, long(line), nil
			}
			return line, nil, nil
		}
		l.scanned = l.to
		if l.to-l.from > l.max {
			return nil, l.skip(), nil
		}
		if l.err != nil {
			return l.last()
		}
		l.fill()
	}
}

func (l *lineReader) last() ([]byte, *longLine, error) {
	if l.from == l.to {
		return nil, nil, l.err
	}
	line := l.buf[l.from:l.to]
	l.from, l.scanned = l.to, l.to
	return line, nil, nil
}

// shrink gives the memory of a long line back.
func (l *lineReader) shrink() {
	if len(l.buf) > keepBuffer && l.to-l.from <= firstBuffer {
		small := make([]byte, firstBuffer)
		l.to = copy(small, l.buf[l.from:l.to])
		l.buf, l.from, l.scanned = small, 0, 0
	}
}

// fill reads once, behind what is there.
func (l *lineReader) fill() {
	if l.from > 0 && (l.from == l.to || l.to == len(l.buf)) {
		l.to = copy(l.buf, l.buf[l.from:l.to])
		l.from, l.scanned = 0, l.to
	}
	if l.to == len(l.buf) {
		size := max(2*len(l.buf), firstBuffer)
		if size-firstBuffer > l.max { // so written that no bound overflows
			size = l.max + firstBuffer
		}
		bigger := make([]byte, size)
		copy(bigger, l.buf[:l.to])
		l.buf = bigger
	}
	n, err := l.r.Read(l.buf[l.to:])
	l.to += n
	l.err = err
}

// skip reads on to the newline of a line beyond the bound and keeps only what the
// skim needs.
func (l *lineReader) skip() *longLine {
	out := long(l.buf[l.from:l.to])
	l.from, l.scanned, l.to = 0, 0, 0
	for l.err == nil {
		l.fill()
		n := bytes.IndexByte(l.buf[:l.to], '\n')
		end := n
		if n < 0 {
			end = l.to
		}
		out.size += int64(end)
		out.skim.feed(l.buf[:end])
		if n >= 0 {
			l.from, l.scanned = n+1, n+1
			return out
		}
		l.to = 0
	}
	return out
}

func long(line []byte) *longLine {
	out := &longLine{size: int64(len(line)), head: bytes.Clone(line[:min(len(line), headSize)])}
	out.skim.feed(line)
	return out
}
