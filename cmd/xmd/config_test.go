package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/pelletier/go-toml/v2"
)

// The schema and the reader take and refuse the same files.
func TestConfigSchemaIsWhatTheReaderTakes(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(configSchema()), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		ok   bool
		at   string
	}{
		{"", true, ""},
		{"agent = 'codex'\npolicy = 'ask'\nsecrets = ['A']\n[limits]\ntimeout = '1h'\ntimeout-prompt = '5m'\ntimeout-exec = '10s'\nidle-timeout = '500ms'\n", true, ""},
		{"[agents.codex]\ntransport = 'acp'\nenv = {A = 'b'}\nversion = ['x', '--version']\nnoise = []\n", true, ""},
		{"[agents.mine]\ncommand = 'm'\nargs = ['a']\nexecutable = 'e'\nhome = 'h'\nmodel = 'm'\neffort = 'e'\nmode = 'm'\ninstructions = 'every'\nconfirm = 'list'\nreject = 'ends'\nfence = 'answer'\n", true, ""},
		{"agnet = 'x'\n", false, ":1:1: unknown key \"agnet\"; known are agent, policy, secrets, [limits] with timeout, "},
		{"\n[limits]\n  timout = '1h'\n", false, ":3:3: unknown key \"limits.timout\""},
		{"policy = 'yes'\n", false, ":1:1: there is no policy \"yes\"; write \"approve-all\" or "},
		{"[limits]\ntimeout = 'soon'\n", false, ":2:1: limits.timeout: \"soon\" is no duration"},
		{"[limits]\ntimeout = '0s'\n", false, ":2:1: limits.timeout: the duration 0s is zero"},
		{"[limits]\ntimeout = 30\n", false, ":2:11: limits.timeout has to be a text, as in \"text\""},
		{"[limits]\nmax-turns = 'x'\n", false, ":2:13: limits.max-turns has to be a whole number"},
		{"[limits]\nmax-cost = 'x'\n", false, ":2:12: limits.max-cost has to be a number"},
		{"[agents.mine]\ncommand = ['m', 'a']\n", false, ":2:11: agents.mine.command has to be a text, as in \"text\""},
		{"[agents.mine]\ncommand = 'm'\nargs = 'a'\n", false, ":3:8: agents.mine.args has to be a list of texts, as in [\"one\", \"two\"]"},
		{"limits = 3\n", false, ":1:10: limits has to be a table"},
		{"secrets = 'A'\n", false, ":1:11: secrets has to be a list of texts"},
		{"agent = ['x']\n", false, ":1:9: agent has to be a text"},
		{"[agents.mine]\nreject = 'never'\n", false, ":2:1: [agents.mine] there is no reject \"never\" for this agent"},
		{"[agents]\nmine = 'x'\n", false, ":2:8: agents.mine has to be a table"},
	} {
		path := filepath.Join(t.TempDir(), "xmd.toml")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readConfig(path, filepath.Dir(path))
		if (err == nil) != c.ok || err != nil && !strings.HasPrefix(err.Error(), path+c.at) {
			t.Errorf("%q: the reader says %v, want %q", c.text, err, c.at)
		}
		var v map[string]any
		if err := toml.Unmarshal([]byte(c.text), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); (err == nil) != c.ok {
			t.Errorf("%q: the schema says %v", c.text, err)
		}
	}
}

// Every key is described, and its limits are flags of run.
func TestConfigKeysAreDescribed(t *testing.T) {
	for _, table := range []reflect.Type{reflect.TypeFor[config](), reflect.TypeFor[limits](), reflect.TypeFor[agentConfig]()} {
		for _, k := range configKeys(table) {
			if k.name == "" || k.say == "" {
				t.Errorf("%s: a key %q without a name or a description", table, k.name)
			}
		}
	}
	flags := newFlagTable(runCommand().flags)
	for _, k := range configKeys(reflect.TypeFor[limits]()) {
		if _, ok := flags["--"+k.name]; !ok {
			t.Errorf("there is no flag --%s", k.name)
		}
	}
}

func TestConfigSchemaPage(t *testing.T) {
	const path = "../../specs/config.schema.json"
	want := configSchema() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what the reader takes (err %v); run: go test ./cmd/xmd -run ConfigSchemaPage -update", path, err)
	}
}
