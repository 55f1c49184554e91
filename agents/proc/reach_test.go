package proc

import "testing"

func TestReach(t *testing.T) {
	whole, words := Reach()
	if whole == (words != "") {
		t.Errorf("whole %v, and it says %q", whole, words)
	}
}
