package sim

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestFlags(t *testing.T) {
	env := map[string]string{"HOME": "/h"}
	for name, test := range map[string]struct {
		args   []string
		env    map[string]string
		code   int
		stdout string
		stderr string
	}{
		"version":       {args: []string{"--version"}, stdout: "xmd-sim 1.0.0\n"},
		"help":          {args: []string{"--help"}, stdout: "load-hangs"},
		"unknown fault": {args: []string{"--fault", "nope"}, code: 2, stderr: "short-history"},
		"bad value":     {args: []string{"--fault", "crash=later"}, code: 2, stderr: "mid-turn"},
		"no value":      {args: []string{"--fault", "junk=1"}, code: 2, stderr: "takes no value"},
		"bad number":    {args: []string{"--fault", "burst=many"}, code: 2, stderr: "whole number"},
		"bad code":      {args: []string{"--fault", "new-error=x:y"}, code: 2, stderr: "CODE:MESSAGE"},
		"needs value":   {args: []string{"--fault", "version"}, code: 2, stderr: "needs a value"},
		"fault in env":  {env: map[string]string{"XMD_SIM_FAULT": "junk, nope"}, code: 2, stderr: `XMD_SIM_FAULT: unknown fault "nope"`},
		"unknown flag":  {args: []string{"--nope"}, code: 2, stderr: "usage: xmd sim"},
		"argument":      {args: []string{"x"}, code: 2, stderr: `unexpected argument "x"`},
		"no home":       {env: map[string]string{"HOME": ""}, code: 2, stderr: "--home DIR"},
		"version by env": {args: []string{"--version"}, env: map[string]string{"XMD_SIM_FAULT": `junk,version=a\, b`},
			stdout: "a, b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			code := Main(context.Background(), test.args, strings.NewReader(""), &stdout, &stderr, func(k string) string {
				if v, ok := test.env[k]; ok {
					return v
				}
				return env[k]
			})
			if code != test.code || !strings.Contains(stdout.String(), test.stdout) || !strings.Contains(stderr.String(), test.stderr) {
				t.Errorf("code %d\nstdout: %s\nstderr: %s", code, &stdout, &stderr)
			}
			if code == 2 && stdout.Len() > 0 {
				t.Errorf("an error wrote to stdout: %s", &stdout)
			}
		})
	}
}

func TestDefaultHome(t *testing.T) {
	env := map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/s", "XMD_SIM_HOME": "/x"}
	get := func(k string) string { return env[k] }
	for _, step := range []struct{ drop, want string }{{"", "/x"}, {"XMD_SIM_HOME", "/s/xmd-sim"}, {"XDG_STATE_HOME", "/h/.local/state/xmd-sim"}} {
		delete(env, step.drop)
		if got := defaultHome(get); got != step.want {
			t.Errorf("home %q, want %q", got, step.want)
		}
	}
}
