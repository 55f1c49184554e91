package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"xmd/runtime"
)

func TestConfigure(t *testing.T) {
	w := newWorld(t)
	p := simLike()
	p.Mode = "ask"
	c := w.startAs(p, "mode-auto")
	w.open(c, "")
	for _, step := range []struct {
		want      runtime.Settings
		err, says string
	}{
		{runtime.Settings{Model: "large", Effort: "high"}, "", "mode ask, model large, effort high"},
		{runtime.Settings{Model: "large", Mode: "auto"}, "", "mode auto, model large, effort low"},
		{runtime.Settings{Model: "huge", Mode: "auto"}, `Sim offers no model "huge"; it offers small, large`, "mode auto, model large, effort low"},
		{runtime.Settings{Mode: "yolo"}, `Sim offers no mode "yolo"; it offers ask, auto`, "mode auto, model large, effort low"},
		{runtime.Settings{}, "", "mode ask, model small, effort low"},
	} {
		err := c.Configure(t.Context(), step.want)
		if (err == nil) != (step.err == "") || err != nil && !strings.Contains(err.Error(), step.err) {
			t.Errorf("%+v: %v", step.want, err)
		}
		if got := w.prompt(c, "SETTINGS"); got.text != step.says {
			t.Errorf("after %+v: %q, want %q", step.want, got.text, step.says)
		}
	}
}

func TestConfigureRefused(t *testing.T) {
	w := newWorld(t)
	c := w.start("refuse-mode")
	w.open(c, "")
	err := c.Configure(t.Context(), runtime.Settings{Model: "large"})
	if runtime.KindOf(err) != runtime.KindFailed || !strings.Contains(err.Error(), `did not take the model "large"`) {
		t.Error(err)
	}
}

func TestParseSettings(t *testing.T) {
	for name, c := range map[string]struct{ result, want string }{
		"nothing": {`{}`, "mode - ; model - ; effort - "},
		"modes and models": {`{"modes":{"currentModeId":"a","availableModes":[{"id":"a"},{"id":"b"}]},"models":{"currentModelId":"m","availableModels":[{"modelId":"m"}]}}`,
			"mode session/set_mode a [a b]; model session/set_model m [m]; effort - "},
		"options win over models, modes over options": {`{"modes":{"currentModeId":"a","availableModes":[{"id":"a"}]},"models":{"currentModelId":"m[low]","availableModels":[{"modelId":"m[low]"}]},
			"configOptions":[{"id":"mode","type":"select","currentValue":"x","options":[{"value":"x"}]},{"id":"model","type":"select","currentValue":"m","options":[{"value":"m"},{"value":"n"}]},{"id":"reasoning_effort","currentValue":"low","options":[{"value":"low"}]}]}`,
			"mode session/set_mode a [a]; model session/set_config_option m [m n]; effort session/set_config_option low [low]"},
		"by category, in groups": {`{"configOptions":[{"id":"x1","category":"model","type":"select","currentValue":"b","options":[{"group":"g","options":[{"value":"a"},{"value":"b"}]},{"group":"h","options":[{"value":"c"}]}]},
			{"id":"x2","category":"thought_level","type":"select","currentValue":"max","options":[{"value":"max"}]}]}`,
			"mode - ; model session/set_config_option b [a b c]; effort session/set_config_option max [max]"},
		"not what it should be": {`{"modes":null,"models":[],"configOptions":[7,{"id":"model","type":"boolean","currentValue":true},{"id":"effort"}]}`,
			"mode - ; model session/set_model  []; effort session/set_config_option  []"},
	} {
		var got []string
		for _, s := range parseSettings(json.RawMessage(c.result)) {
			word := s.name + " " + s.method + " " + s.opened + " [" + strings.Join(s.offered, " ") + "]"
			if s.method == "" {
				word = s.name + " - "
			}
			got = append(got, word)
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, strings.Join(got, "; "), c.want)
		}
	}
}

func TestWhatARequestReaches(t *testing.T) {
	for _, c := range []struct{ input, command string }{
		{`{"command":"git status; ls"}`, "git status; ls"},
		{`{"cmd":"ls"}`, "ls"},
		{`{"command":["git","status","-s"]}`, "git status -s"},
		{`{"command":["/bin/bash","-lc","cd x && ls"]}`, "cd x && ls"},
		{`{"command":["bash","-lc","ls","extra"]}`, "bash -lc ls extra"},
		{`{"command":["ls",7]}`, ""},
		{`{"description":"ls"}`, ""},
		{``, ""},
	} {
		if got := commandLine(json.RawMessage(c.input)); got != c.command {
			t.Errorf("%s: %q, want %q", c.input, got, c.command)
		}
	}
	k := &tool{places: []string{"/r/a", "/r/c"}}
	k.call.Input = json.RawMessage(`{"file_path":"/r/a","changes":{"/r/d":{},"/r/b":{}}}`)
	k.call.Diffs = []runtime.Diff{{Path: "/r/e"}}
	if got := strings.Join(paths(k), " "); got != "/r/a /r/b /r/d /r/e /r/c" {
		t.Error(got)
	}
}
