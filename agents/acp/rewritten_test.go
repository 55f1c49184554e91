package acp

import (
	"testing"

	"xmd/agents/past"
	"xmd/runtime"
)

// What the adapter shows in other words than the file has them is taken from the replay of the same turn.
func TestRewrittenReplies(t *testing.T) {
	codexLike := &Profile{Rewritten: "codex-file-citation{"}
	replay := func(words, reply string) runtime.History {
		h := past.New(&codexLike.Forms)
		h.User("1", words)
		h.Agent(reply)
		return h.History(true)
	}
	recorded := func(reply string) runtime.History { return replay("one", reply) }
	const cited, link = "See :codex-file-citation{path=\"a.go\"}.", "See [a.go](/w/a.go)."
	for name, c := range map[string]struct {
		recorded, replay runtime.History
		want             *string
	}{
		"the same turn": {recorded(cited), replay("one", link), new(link)},
		"another turn":  {recorded(cited), replay("two", link), nil},
		"no replay":     {recorded(cited), runtime.History{}, nil},
		"nothing to do": {recorded("plain"), replay("one", "from a database"), new("plain")},
	} {
		t.Run(name, func(t *testing.T) {
			got := codexLike.asShown(c.recorded, c.replay)
			if (got.LastReply == nil) != (c.want == nil) || c.want != nil && *got.LastReply != *c.want {
				t.Errorf("last reply %v", got.LastReply)
			}
			if c.want != nil && got.Newest[0].Reply != runtime.FingerprintOf(*c.want) {
				t.Error("the fingerprint is another text's")
			}
		})
	}
}
