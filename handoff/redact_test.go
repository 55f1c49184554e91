package handoff

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"xmd/runtime"
	"xmd/runtime/secret"
)

// secrets of known providers, made up here in their forms. They are put together so that no scanner takes this file for a leak.
func secrets() map[string]string {
	x := func(n int) string { return strings.Repeat("a1B2c3D4e5", n/10+1)[:n] }
	hex := func(n int) string { return strings.Repeat("0a1b2c3d4e5f6789", n/16+1)[:n] }
	return map[string]string{
		"github": "ghp" + "_" + x(36), "github fine": "github" + "_pat_" + x(82), "gitlab": "glpat" + "-" + x(20), "slack bot": "xoxb" + "-1234567890-1234567890-" + x(20),
		"anthropic": "sk-ant" + "-api03-" + x(93) + "AA", "anthropic oauth": "sk-ant" + "-oat01-" + x(60), "openai": "sk" + "-proj-" + x(60),
		"openai old": "sk" + "-" + x(20) + "T3BlbkFJ" + x(20), "aws": "AKIA" + "ABCDEFGHIJKLMNOP", "stripe": "sk" + "_live_" + x(24), "google": "AIza" + x(35),
		"npm": "npm" + "_" + x(36), "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + x(60), "huggingface": "hf" + "_" + strings.Repeat("abcdefghij", 4)[:34],
		"sendgrid": "SG" + "." + x(66), "digitalocean": "dop" + "_v1_" + hex(64), "shopify": "shpat" + "_" + hex(32), "grafana": "glsa" + "_" + x(32) + "_" + hex(8),
		"xai": "xai" + "-" + x(80), "groq": "gsk" + "_" + x(52), "openrouter": "sk-or" + "-v1-" + hex(64), "vault": "hvs" + "." + x(95), "databricks": "dapi" + hex(32),
		"jwt":         "ey" + "J" + x(30) + ".ey" + "J" + x(40) + "." + x(43),
		"private key": "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(x(64)+"\n", 5) + "-----END RSA " + "PRIVATE KEY-----",
		"bedrock":     "bedrock-api-key-" + "YmVkcm9jay5hbWF6b25hd3MuY29t" + x(30), "sourcegraph": "sgp" + "_" + hex(40),
	}
}

// TestKnownProviders: the keys of known providers do not cross, wherever they stand.
func TestKnownProviders(t *testing.T) {
	for name, key := range secrets() {
		for _, around := range []string{"%", "key=%", "my key is %.", "(%)", `{"key":"%"}`, "Bearer %, then", "a\n%\nb", "`%`"} {
			text := strings.Replace(around, "%", key, 1)
			r := redactor{}
			got := r.text(text)
			if want := strings.Replace(around, "%", secret.Mark, 1); got != want || r.found != 1 {
				t.Errorf("%s: %q becomes %q, %d found", name, text, got, r.found)
			}
		}
	}
}

// TestNotSecrets: no rule guesses. Digests, ids and code stay.
func TestNotSecrets(t *testing.T) {
	for _, text := range []string{
		"commit 356a192b7913b04c54574d18c28d46e6395428ab of sourcegraph", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"01ARZ3NDEKTSV4RRFFQ69G5FAV", "550e8400-e29b-41d4-a716-446655440000", "s.someMethodNameOfTwentyFo(x)", "api_key = os.Getenv(\"OPENAI_API_KEY\")",
		"token: aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQ=", "they keep the skeleton key", "password = hunter2", "ghp_short", "sk-", "eyJ", "AKIA", "npm_install",
	} {
		r := redactor{}
		if got := r.text(text); got != text || r.found != 0 {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

func hider(t testing.TB, values map[string]string, more ...string) *secret.Hider {
	t.Helper()
	s, err := secret.New(values)
	if err != nil {
		t.Fatal(err)
	}
	return secret.NewHider(s, more...)
}

// TestSecretsDoNotCross: declared secrets and known keys are taken out of every field, and counted; nothing is ever called free of them.
func TestSecretsDoNotCross(t *testing.T) {
	const value = "correct horse/battery+staple"
	key := secrets()["github"]
	encoded := base64.StdEncoding.EncodeToString([]byte("user:" + value + ":x"))
	for i, place := range places {
		for _, text := range []string{value, key, "a " + value + " b", strings.ToUpper("x") + encoded} {
			h := runtime.Handover{Hide: hider(t, map[string]string{"PASS": value}), Now: runtime.Standing{Todo: []runtime.TodoItem{{}}, Questions: []string{""}, Running: []string{""}}}
			e := runtime.Entry{Number: 1, Parts: []runtime.Part{{Action: &runtime.Action{}}, {}}, Questions: []runtime.Asked{{Answered: true}}}
			places[i].put(&h, &e, text)
			handed, _ := block(t, h, e)
			if handed.Secrets != 1 || strings.Contains(handed.Text, value) || strings.Contains(handed.Text, key) || strings.Contains(handed.Text, encoded[8:30]) {
				t.Errorf("%s: %q: %d secrets\n%s", place.name, text, handed.Secrets, handed.Text)
			}
			if !strings.Contains(handed.Text, "\n(known secrets replaced by ***: 1)\n") {
				t.Error(handed.Text)
			}
		}
	}
	handed, _ := block(t, runtime.Handover{}, entry(1, "codex", "a", "b"))
	if strings.Contains(strings.ToLower(handed.Text), "secret") {
		t.Error("a block without known secrets speaks of them")
	}
}

// TestSecretOverParts: a secret that an action parts is taken out of the words on both sides.
func TestSecretOverParts(t *testing.T) {
	const value = "correct-horse-battery"
	act := runtime.Part{Action: &runtime.Action{Name: "Read", Outcome: "done"}}
	for from := range len(value) + 1 {
		for _, whole := range []string{value, secrets()["github"]} {
			to := min(from+3, len(whole))
			e := runtime.Entry{Number: 1, Words: "w", Parts: []runtime.Part{{Text: "it is " + whole[:from]}, act, {Text: whole[from:to]}, act, {Text: whole[to:] + " indeed"}}}
			handed, b := block(t, runtime.Handover{Hide: hider(t, map[string]string{"A": value})}, e)
			said := strings.ReplaceAll(spell(b.Turns[0].Pieces), "Read ", "")
			if handed.Secrets != 1 || strings.Join(strings.Fields(said), "") != "itis***indeed" {
				t.Errorf("%d: %q", from, said)
			}
		}
	}
}

// TestCutBySecrets: what is left of a secret at a cut is its mark, as it is redacted before it is shortened.
func TestRedactedBeforeShortened(t *testing.T) {
	const value = "correct-horse-battery"
	e := runtime.Entry{Number: 1, Words: "w", Parts: []runtime.Part{{Action: &runtime.Action{Name: strings.Repeat("n", 70) + value, Outcome: "done"}}}}
	handed, _ := block(t, runtime.Handover{Hide: hider(t, nil, value)}, e)
	if strings.Contains(handed.Text, value[:4]) || !strings.Contains(handed.Text, "n***\n") {
		t.Error(handed.Text)
	}
}

// TestRules: all rules compile, have keywords in small letters, and those changed at their end still end.
func TestRules(t *testing.T) {
	l := knownRules()
	if len(l.rules) < 100 {
		t.Errorf("%d rules", len(l.rules))
	}
	ids := map[string]bool{}
	for _, r := range l.rules {
		if ids[r.ID] || len(r.Keywords) == 0 {
			t.Errorf("%s: twice, or without keywords", r.ID)
		}
		ids[r.ID] = true
		for _, word := range r.Keywords {
			if len(word) < 2 || word != strings.ToLower(word) {
				t.Errorf("%s: keyword %q", r.ID, word)
			}
		}
		if r.compiled().MatchString("") {
			t.Errorf("%s matches nothing", r.ID)
		}
		if regexp.MustCompile(r.Regex).NumSubexp() != r.compiled().NumSubexp() {
			t.Errorf("%s: groups", r.ID)
		}
	}
}

// TestRulesAreLazy: text without a keyword compiles nothing.
func TestRulesAreLazy(t *testing.T) {
	l := knownRules()
	if got := l.worth("a quiet sentence about nothing at all"); got != nil {
		t.Error(got)
	}
	if got := l.worth("GHP_x ghp_y"); len(got) != 1 || l.rules[got[0]].ID != "github-pat" {
		t.Error(got)
	}
}
