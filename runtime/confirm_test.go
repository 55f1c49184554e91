package runtime

import "testing"

// A conversation is the one that was asked for if any one of the provider's own words says so. A list that leaves it out is no word
// against it: it may be of another folder, or end early; our own newest turn in what was loaded counts. An echo never does.
func TestWhatConfirmsIdentity(t *testing.T) {
	words := FingerprintOf("words that are long enough to count by themselves")
	older := FingerprintOf("the words of an earlier turn, which are as long")
	both := []KnownTurn{{Words: older}, {Words: words}}
	with := func(turns ...Fingerprint) History {
		h := History{Known: true, UserTurns: len(turns)}
		for _, t := range turns {
			h.Newest = append(h.Newest, PastTurn{Words: t})
		}
		return h
	}
	strange := FingerprintOf("nothing that we have ever said to anybody")
	for name, c := range map[string]struct {
		info  AgentInfo
		got   Opened
		known []KnownTurn
		want  Identity
		kind  Kind
	}{
		"stated":                               {AgentInfo{}, Opened{Asserted: "id", History: with(strange)}, both, IdentityAsserted, ""},
		"stated, another":                      {AgentInfo{ConfirmList: true}, Opened{Asserted: "other", Listed: ListNames, History: with(older, words)}, both, "", KindMismatch},
		"listed":                               {AgentInfo{ConfirmList: true}, Opened{Listed: ListNames, History: with(strange)}, both, IdentityListed, ""},
		"the load itself":                      {AgentInfo{ConfirmLoad: true}, Opened{History: with(strange)}, both, IdentityLoaded, ""},
		"history, no list":                     {AgentInfo{ConfirmList: true}, Opened{History: with(older, words)}, both, IdentityHistory, ""},
		"history, the list omits it":           {AgentInfo{ConfirmList: true}, Opened{Listed: ListOmits, History: with(older, words)}, both, IdentityHistory, ""},
		"only an earlier turn, the list omits": {AgentInfo{ConfirmList: true}, Opened{Listed: ListOmits, History: with(older)}, both, "", KindUnasserted},
		"nothing of ours, the list omits it":   {AgentInfo{ConfirmList: true}, Opened{Listed: ListOmits, History: with(strange)}, both, "", KindUnasserted},
		"no turn of ours, the list omits it":   {AgentInfo{ConfirmList: true}, Opened{Listed: ListOmits, History: with(strange)}, nil, "", KindUnasserted},
		"emptied, though listed":               {AgentInfo{ConfirmList: true}, Opened{Listed: ListNames, History: with()}, both, "", KindEmpty},
		"only the list may, and omits it":      {AgentInfo{ConfirmList: true, ListOnly: true}, Opened{Listed: ListOmits, History: with(older, words)}, both, "", KindUnasserted},
		"a list that may not":                  {AgentInfo{}, Opened{Listed: ListNames, History: with(strange)}, both, "", KindUnasserted},
	} {
		identity, _, err := judge(c.info, "id", c.got, c.known)
		kind := Kind("")
		if err != nil {
			kind = err.Kind
		}
		if identity != c.want || kind != c.kind {
			t.Errorf("%s: %q, %v", name, identity, err)
		}
	}
}
