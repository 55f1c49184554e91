package agenttest

import (
	"context"
	"strings"
	"testing"

	"xmd/agents/agenttest/model"
	"xmd/runtime"
)

const (
	rule = "Always answer in rhymes."
	news = "The working tree was changed by another agent."
)

// apart looks in what reaches the model for what the driver gives it apart from the words: instructions of a conversation that is made without
// a turn, and what is told beside a prompt.
func apart(t *testing.T, target Target) {
	if target.Model == nil {
		t.Skip("the target has no model that shows what it is given")
	}
	server, err := model.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() }) // nobody is left to answer
	target.Model = func(testing.TB) string { return server.URL() }
	l := newPlace(t, target).start(t)
	_, begins := l.Connection.(runtime.Beginner)
	_, informs := l.Connection.(runtime.Informer)
	l.end()
	if !begins && !informs {
		t.Skip("its driver tells nothing apart from the start") // see the case instructions
	}
	claim(t, target, colInstructions)
	if begins {
		t.Run("without a turn", func(t *testing.T) { begun(t, newPlace(t, target), server) })
	}
	if informs {
		t.Run("beside the words", func(t *testing.T) { informed(t, newPlace(t, target), server) })
	}
}

// begun: a conversation that is made with instructions and no turn is kept, and they are there when it goes on.
func begun(t *testing.T, p *place, server *model.Server) {
	before := len(server.Requests())
	l := p.start(t)
	ctx, stop := limit(t)
	defer stop()
	id, err := l.Connection.(runtime.Beginner).NewDurable(ctx, rule)
	if err != nil {
		t.Fatal(err)
	}
	l.end()
	if n := len(server.Requests()); n != before {
		t.Errorf("%d requests reached the model before any prompt", n-before)
	}
	l = p.start(t)
	if o := l.open(id); !o.History.Known || o.History.UserTurns != 0 {
		t.Errorf("opened %+v", o)
	}
	l.good("SAY one")
	told(t, server, rule, 1)
}

// informed: what is told beside a prompt reaches the model once, stays, and is none of the person's words.
func informed(t *testing.T, p *place, server *model.Server) {
	l := p.start(t)
	id := l.open("").ID
	l.Connection.(runtime.Informer).Inform(news)
	l.good("SAY one")
	l.good("SAY two")
	told(t, server, news, 1)
	l.end()
	o := p.start(t).open(id)
	if o.History.UserTurns != 2 || o.History.Newest[0].Words != runtime.FingerprintOf("SAY one") {
		t.Errorf("history %+v", o.History)
	}
}

// told counts how often the model was given a text, in the newest request.
func told(t *testing.T, server *model.Server, text string, want int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), turnLimit)
	defer stop()
	if _, err := server.Await(ctx, 1); err != nil {
		t.Fatal(err)
	}
	all := server.Requests()
	newest := all[len(all)-1]
	given := newest.Instructions
	for _, turn := range newest.Turns {
		given = append(given[:len(given):len(given)], turn.Text)
	}
	if n := strings.Count(strings.Join(given, "\n"), text); n != want {
		t.Errorf("%q reached the model %d times, want %d:\n%s", text, n, want, tailOf(strings.Join(given, "\n"), 2000))
	}
}
