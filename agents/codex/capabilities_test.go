package codex

import (
	"slices"
	"testing"

	"xmd/agents/link"
)

func TestCapabilities(t *testing.T) {
	for answer, out := range map[string]bool{
		`{"account":null,"requiresOpenaiAuth":true}`:              true,
		`{"account":null,"requiresOpenaiAuth":false}`:             false,
		`{"account":{"type":"apiKey"},"requiresOpenaiAuth":true}`: false,
	} {
		timed(t, func(t *testing.T) {
			p := newPeer(t)
			defer p.close()
			told := make(chan link.Capabilities, 1)
			go func() { told <- p.c.Capabilities(t.Context()) }()
			p.expect("account/read")
			p.answer(answer)
			got := <-told
			if got.SignedOut != out || got.Version != "1.2.3" || !got.Load || !got.List || !slices.Equal(got.Servers, []string{"http", "stdio"}) {
				t.Errorf("%s: %+v", answer, got)
			}
		})
	}
}
