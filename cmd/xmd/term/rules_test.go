package term_test

import (
	"testing"

	"xmd/cmd/xmd/term"
)

func TestRules(t *testing.T) {
	type env = map[string]string
	both := term.Rules{Line: true, Tools: true, Color: true, Clean: true, Styled: true}
	for _, c := range []struct {
		name string
		s    term.Surroundings
		env  env
		want term.Rules
	}{
		{"a terminal", term.Surroundings{Stdout: true, Stderr: true}, env{"TERM": "xterm"}, both},
		{"pipes", term.Surroundings{}, env{"TERM": "xterm"}, term.Rules{}},
		{"stdout is a pipe", term.Surroundings{Stderr: true}, env{"TERM": "xterm"}, term.Rules{Line: true, Tools: true, Color: true}},
		{"stderr is a pipe", term.Surroundings{Stdout: true}, env{"TERM": "xterm"}, term.Rules{Clean: true, Styled: true}},
		{"NO_COLOR", term.Surroundings{Stdout: true, Stderr: true}, env{"TERM": "xterm", "NO_COLOR": "1"}, term.Rules{Line: true, Tools: true, Clean: true}},
		{"--no-color", term.Surroundings{Stdout: true, Stderr: true, NoColor: true}, env{"TERM": "xterm", "CLICOLOR_FORCE": "1"}, term.Rules{Line: true, Tools: true, Clean: true}},
		{"NO_COLOR is empty", term.Surroundings{Stdout: true, Stderr: true}, env{"TERM": "xterm", "NO_COLOR": ""}, both},
		{"TERM=dumb", term.Surroundings{Stdout: true, Stderr: true}, env{"TERM": "dumb"}, term.Rules{Tools: true, Clean: true}},
		{"no TERM", term.Surroundings{Stdout: true, Stderr: true}, nil, term.Rules{Tools: true, Clean: true}},
		{"CI", term.Surroundings{Stdout: true, Stderr: true}, env{"TERM": "xterm", "CI": "true"}, term.Rules{Tools: true, Clean: true}},
		{"CI=false", term.Surroundings{Stdout: true, Stderr: true}, env{"TERM": "xterm", "CI": "false"}, both},
		{"forced into pipes", term.Surroundings{}, env{"CLICOLOR_FORCE": "1"}, term.Rules{Color: true}},
		{"forced to 0", term.Surroundings{}, env{"CLICOLOR_FORCE": "0"}, term.Rules{}},
		{"forced in CI at a terminal", term.Surroundings{Stdout: true, Stderr: true}, env{"TERM": "xterm", "CI": "1", "CLICOLOR_FORCE": "1"}, term.Rules{Tools: true, Color: true, Clean: true, Styled: true}},
		{"NO_COLOR beats force", term.Surroundings{}, env{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, term.Rules{}},
		{"-q", term.Surroundings{Stdout: true, Stderr: true, Quiet: true}, env{"TERM": "xterm"}, term.Rules{Color: true, Clean: true, Styled: true}},
		{"-v", term.Surroundings{Verbose: true}, nil, term.Rules{Tools: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.s.Getenv = func(name string) string { return c.env[name] }
			if got := term.Decide(c.s); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
