package sim

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// nativeRun types lines into a native interface of the home, and gives its exit code and what it showed.
func nativeRun(t *testing.T, home, fault, typed string, args ...string) (int, string) {
	t.Helper()
	env := map[string]string{"XMD_SIM_HOME": home, "XMD_SIM_FAULT": fault}
	var out, err bytes.Buffer
	code := Main(t.Context(), append([]string{nativeFlag}, args...), strings.NewReader(typed), &out, &err, func(k string) string { return env[k] })
	return code, out.String() + err.String()
}

// nativeFaults are tested here and, those that need a terminal, with xmd open.
var nativeFaults = map[string]bool{"native-exit": true, "native-raw": true, "native-deaf": true}

const nativeID = "6f0c1b7e-0000-4000-8000-00000000abcd"

// A conversation that the native interface begins is one of the agent's, with the turns that were typed.
func TestNativeAndAgentShareAConversation(t *testing.T) {
	home := t.TempDir()
	layer := filepath.Join(home, "layer")
	if err := os.WriteFile(layer, []byte("be brief"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, shown := nativeRun(t, home, "", "the codeword is HERON\n\n/quit\n", "--session-id", nativeID, "--system-prompt-file", layer)
	if code != 0 || !strings.Contains(shown, "[system] be brief") || !strings.Contains(shown, "turn 1: the codeword is HERON") {
		t.Fatalf("%d %s", code, shown)
	}
	code, shown = nativeRun(t, home, "", "which codeword was it?\n", "--resume", nativeID)
	if code != 0 || !strings.Contains(shown, "[system] be brief") || !strings.Contains(shown, "> the codeword is HERON") || !strings.Contains(shown, "The codeword is HERON.") {
		t.Fatalf("%d %s", code, shown)
	}
	items, err := store{filepath.Join(home, "sessions")}.read(nativeID)
	if err != nil || len(items) != 8 {
		t.Fatalf("%d items, %v", len(items), err)
	}
	var users []int
	for _, it := range items {
		if it.Type == "user" {
			users = append(users, it.Turn)
		}
	}
	if len(users) != 2 || users[1] != 2 {
		t.Errorf("user turns %v", users)
	}
}

func TestNativeWithoutATurnLeavesNothing(t *testing.T) {
	home := t.TempDir()
	for range 2 { // and its id stays free
		if code, shown := nativeRun(t, home, "", "/quit\n", "--session-id", nativeID); code != 0 {
			t.Fatalf("%d %s", code, shown)
		}
	}
	if code, shown := nativeRun(t, home, "", "", "--resume", nativeID); code != 1 || !strings.Contains(shown, "there is no session "+nativeID) {
		t.Errorf("%d %s", code, shown)
	}
}

func TestNativeRefusesAndMisbehaves(t *testing.T) {
	home := t.TempDir()
	if code, shown := nativeRun(t, home, "native-exit=7", "a turn\n/quit\n", "--session-id", nativeID); code != 7 {
		t.Errorf("%d %s", code, shown)
	}
	if code, shown := nativeRun(t, home, "", "", "--session-id", nativeID); code != 1 || !strings.Contains(shown, "already in use") {
		t.Errorf("%d %s", code, shown)
	}
	if code, shown := nativeRun(t, home, "", ""); code != 1 {
		t.Errorf("neither --resume nor --session-id: %d %s", code, shown)
	}
	unlock, err := store{filepath.Join(home, "sessions")}.lock(nativeID)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if code, shown := nativeRun(t, home, "lock", "", "--resume", nativeID); code != 1 || !strings.Contains(shown, "active writer") {
		t.Errorf("%d %s", code, shown)
	}
}
