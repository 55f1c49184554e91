package agenttest

import "testing"

// Upgrade establishes a conversation with the first target and continues it with each of the others in turn, always in a new
// process and in the same home: every one must know the codeword that only the first one was told.
func Upgrade(t *testing.T, targets ...Target) {
	p := newPlace(t, targets[0])
	id := p.told(t)
	for i, target := range targets[1:] {
		p.target = target
		p.continues(t, id, i+1)
	}
}
