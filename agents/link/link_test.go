package link

import (
	"errors"
	"io"
	"strings"
	"testing"

	"xmd/agents/wire"
	"xmd/runtime"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ message, data, want string }{
		{"Internal error", `{"details":"no rollout"}`, "no rollout"},
		{"Internal error: it broke", ``, "it broke"},
		{"bad", `"more"`, "bad: more"}, {"bad more", `"more"`, "bad more"}, {"bad", `{"x":1}`, "bad"}, {"", `{"reason":"r"}`, "r"}, {"a\nb", ``, "a b"},
	} {
		if got := Words(&wire.Error{Message: c.message, Data: []byte(c.data)}); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	got := strings.Join(Environment([]string{"A=1", "XMD_AGENT=x", "B=2"}, []string{"A=3"}), " ")
	if got != "A=1 B=2 A=3" {
		t.Errorf("%q", got)
	}
}

func TestReason(t *testing.T) {
	l := Link{Info: runtime.AgentInfo{Name: "a", Shown: "A"}, Proc: ended{}}
	for want, err := range map[string]error{
		"no":                                    &wire.Error{Code: 1, Message: "no"},
		"exit code 3; it wrote:\n  last\n  two": &wire.EndedError{Cause: io.EOF},
		"plain":                                 errors.New("plain"),
	} {
		if got := l.Reason(err); got.Error() != want || !errors.Is(got, err) {
			t.Errorf("%v: %q", err, got)
		}
	}
	e := l.FailRetryable(runtime.KindBusy, "x %d", 1)
	if e.Kind != runtime.KindBusy || !e.Retryable || e.Agent != "a" || e.Message != "x 1" {
		t.Errorf("%+v", e)
	}
}
