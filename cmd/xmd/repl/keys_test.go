package repl

import (
	"io"
	"strings"
	"testing"
)

// Nobody who presses a key waits, however often and with nobody reading; a key that was not read yet is pressed once.
func TestPressNeverWaits(t *testing.T) {
	typed, w := io.Pipe()
	defer w.Close()
	k := newKeys(typed, func(string) {})
	defer k.Close()
	for range 100 {
		k.press(keyResize)
	}
	k.press(keyCancel)
	k.press(keyResize)
	buf := make([]byte, 100)
	n, err := k.Read(buf)
	if got, want := string(buf[:n]), string(keyResize)+string(keyCancel); got != want || err != nil {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := io.Copy(w, strings.NewReader("a")); err != nil {
		t.Fatal(err)
	}
	k.press(keyResize)
	for got := ""; got != "a"+string(keyResize) && got != string(keyResize)+"a"; {
		n, err := k.Read(buf)
		if err != nil || len(got) > 10 {
			t.Fatalf("%q %v", got, err)
		}
		got += string(buf[:n])
	}
}
