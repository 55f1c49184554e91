package secret

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// TestHide: what the run made for itself is hidden from then on, everywhere, also in streams that go on.
func TestHide(t *testing.T) {
	s, err := New(map[string]string{"TOKEN": "declared-token"})
	if err != nil {
		t.Fatal(err)
	}
	shown, kept := s.Masker(), s.Encoder()
	first := shown.Write("declared-") + "|" + kept.Write("declared-")
	s.Hide("passing-key")
	s.Hide("passing-key")
	s.Hide("short")
	if got := first + "/" + shown.Write("token passing-") + shown.Write("key!") + shown.Flush(); got != "|/*** ***!" {
		t.Errorf("shown %q", got)
	}
	if got := kept.Write("x passing-key declared-token\x1a") + kept.Flush(); got != "declared-x *** \x1aTOKEN\x1a\x1a\x1a" {
		t.Errorf("recorded %q", got)
	}
	if got := s.Mask("a passing-key, a declared-token, short"); got != "a ***, a ***, short" {
		t.Errorf("shown %q", got)
	}
	if got, err := s.EncodeJSON([]byte(`{"passing-key": "Bearer passing-key"}`)); err != nil || string(got) != `{"***": "Bearer ***"}` {
		t.Errorf("recorded %s, %v", got, err)
	}
	if back, err := s.Decode(s.Encode("passing-key declared-token")); err != nil || back != "*** declared-token" {
		t.Errorf("comes back as %q, %v", back, err)
	}
	if len(s.Names()) != 1 || s.Empty() {
		t.Errorf("names %v", s.Names())
	}
	var none *Set
	none.Hide("passing-key")
	if !none.Empty() || none.Mask("passing-key") != "passing-key" {
		t.Error("the nil Set hides")
	}
}

// TestHideAtOnce: keys are added while others are looked for.
func TestHideAtOnce(t *testing.T) {
	s := &Set{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			key := fmt.Sprintf("key-number-%d", i)
			s.Hide(key)
			m := s.Masker()
			if got := m.Write("a "+key) + m.Flush(); strings.Contains(got, key) {
				t.Errorf("shown %q", got)
			}
		})
	}
	wg.Wait()
}
