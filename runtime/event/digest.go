package event

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// DigestSink takes the digest of the rendered document: of the text events joined.
type DigestSink struct {
	sum   hash.Hash
	bytes int64
	buf   [4 << 10]byte // a hash takes bytes
}

// NewDigestSink makes one.
func NewDigestSink() *DigestSink { return &DigestSink{sum: sha256.New()} }

// Event adds a text event.
func (s *DigestSink) Event(e *Event) {
	if e.Type != Text {
		return
	}
	if d, ok := e.Body.(*Delta); ok {
		for text := d.Text; text != ""; {
			n := copy(s.buf[:], text)
			_, _ = s.sum.Write(s.buf[:n]) // a hash never fails
			text = text[n:]
		}
		s.bytes += int64(len(d.Text))
	}
}

// Sum is the digest of the text so far. It is for after the last event: it does not wait for one that is being shown.
func (s *DigestSink) Sum() *Digest {
	return &Digest{Bytes: s.bytes, SHA256: hex.EncodeToString(s.sum.Sum(nil))}
}
