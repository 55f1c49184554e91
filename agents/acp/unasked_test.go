package acp

import (
	"strings"
	"testing"

	"xmd/runtime"
)

// An option of the profile gets its value after a new and after a load, and one that has it already is left alone.
func TestOptions(t *testing.T) {
	w := newWorld(t)
	p := simLike()
	p.Options = []Option{{ID: "model", Value: "large"}, {ID: "unheard of", Value: "off"}}
	c := w.startAs(p)
	id := w.open(c, "").ID
	for range 2 {
		if got := w.prompt(c, "SETTINGS"); !strings.Contains(got.text, "model large") {
			t.Errorf("%q", got.text)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		c = w.startAs(p)
		w.open(c, id)
	}
}

func TestOptionRefused(t *testing.T) {
	w := newWorld(t)
	p := simLike()
	p.Options = []Option{{ID: "model", Value: "huge"}}
	_, err := w.startAs(p).Open(t.Context(), "")
	if runtime.KindOf(err) != runtime.KindUnsupported || !strings.Contains(err.Error(), "model") {
		t.Error(err)
	}
}

func TestTook(t *testing.T) {
	for result, want := range map[string]bool{
		`{}`: true,
		`{"configOptions":[{"id":"allow_all","currentValue":"off"}]}`:                                    true,
		`{"configOptions":[{"id":"mode","currentValue":"x"},{"id":"allow_all","currentValue":"on"}]}`:    false,
		`{"configOptions":[{"id":"mode","currentValue":"on"}]}`:                                          true,
		`{"configOptions":[{"id":"allow_all","currentValue":"off"},{"id":"other","currentValue":"on"}]}`: true,
	} {
		if took([]byte(result), Option{"allow_all", "off"}) != want {
			t.Errorf("%s: not %v", result, want)
		}
	}
}
