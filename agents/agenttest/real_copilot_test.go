package agenttest

import (
	"testing"

	"xmd/runtime"
)

const autopilot = "https://agentclientprotocol.com/protocol/session-modes#autopilot"

// Copilot keeps the mode of a conversation, and in the mode autopilot it asks for nothing: a conversation that was left in it, by xmd or
// in Copilot's own interface, asks again when xmd has loaded it, and so does one whose author's choice is taken back.
func TestRealCopilotAsksAgain(t *testing.T) {
	Wanted(t)
	for _, v := range []string{"1.0.89", "1.0.102"} {
		t.Run(v, func(t *testing.T) {
			Record(t, Evidence{Agent: "Copilot", Versions: v, Over: overItself, Shown: "a conversation left in a mode that asks for nothing asks again"})
			target := Copilot(v)
			ready(t, target)
			p := newPlace(t, target)
			l := p.start(t)
			id := l.open("").ID
			l.chooses(autopilot)
			l.good("SAY hello")
			l.chooses("")
			l.refused(p.file("taken back.txt"), refuse)
			l.chooses(autopilot)
			l.good("SAY hello again")
			l.end()
			l = p.start(t)
			l.open(id)
			l.refused(p.file("loaded.txt"), refuse)
		})
	}
}

// chooses sets the mode; "" takes the choice back.
func (l *line) chooses(mode string) {
	l.t.Helper()
	if err := l.Connection.(runtime.Configurer).Configure(l.t.Context(), runtime.Settings{Mode: mode}); err != nil {
		l.t.Fatal(err)
	}
}
