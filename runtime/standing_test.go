package runtime

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestStandingOf: the newest list counts, also one that was emptied, and comes back from the store as it was.
func TestStandingOf(t *testing.T) {
	list := []TodoItem{{Text: "fix", Status: "pending"}}
	for name, c := range map[string]struct {
		entries []Entry
		todo    int
		asked   []string
	}{
		"none":    {nil, 0, nil},
		"kept":    {[]Entry{{Todo: list}, {Number: 2}}, 1, nil},
		"emptied": {[]Entry{{Todo: list}, {Todo: []TodoItem{}}}, 0, nil},
		"asked":   {[]Entry{{Questions: []Asked{{Question: "a"}, {Question: "b", Answered: true}}}, {Questions: []Asked{{Question: "c"}}}}, 0, []string{"a", "c"}},
	} {
		raw, err := json.Marshal(c.entries)
		if err != nil {
			t.Fatal(err)
		}
		var stored []Entry
		if err := json.Unmarshal(raw, &stored); err != nil {
			t.Fatal(err)
		}
		for _, entries := range [][]Entry{c.entries, stored} {
			if now := StandingOf(entries); len(now.Todo) != c.todo || !slices.Equal(now.Questions, c.asked) {
				t.Errorf("%s: %+v", name, now)
			}
		}
	}
	var numbers []int
	for e := range Newest([]Entry{{Number: 1}, {Number: 2}, {Number: 3}}) {
		if numbers = append(numbers, e.Number); e.Number == 2 {
			break
		}
	}
	if !slices.Equal(numbers, []int{3, 2}) {
		t.Error(numbers)
	}
}
