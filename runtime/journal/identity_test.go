package journal

import "testing"

func TestIdentities(t *testing.T) {
	for id, want := range map[string]string{"Prompt1": "Prompt1", "Prompt1#2": "Prompt1", "A1/Prompt1#12": "A1/Prompt1", "Prompt1#": "Prompt1#", "Prompt1#2/call/t#1/Prompt1": "Prompt1#2/call/t#1/Prompt1",
		"Prompt1#2/call/t#1/Prompt1#3": "Prompt1#2/call/t#1/Prompt1", "Prompt1#x": "Prompt1#x"} {
		if got := StepOf(id); got != want {
			t.Errorf("%s is of %s", id, got)
		}
	}
	if got := Call("Prompt1#2", 1, "look-up", 3) + " " + Call("P1", 2, "t", 1); got != "Prompt1#2/call/look-up#3 P1/call@2/t#1" {
		t.Error(got)
	}
	for id, want := range map[string]string{"Prompt1": "", "Prompt1#2/call/t#1": "Prompt1#2", "Prompt1/call@2/t#1/body/Prompt1/call/u#1/exec1": "Prompt1", "callback/called#1": "",
		"If1/body/Prompt2/calls/x/call/t#1": "If1/body/Prompt2/calls/x", "Prompt1/call": ""} {
		turn, ok := TurnOfCall(id)
		if ok != (want != "") || ok && turn != want || !ok && turn != id {
			t.Errorf("%s is of %s, %v", id, turn, ok)
		}
	}
}
