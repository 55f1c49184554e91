package journal

import (
	"fmt"
	"strings"
)

// StepOf is the step that a turn's identity belongs to: without its #k.
func StepOf(turn string) string {
	if i := strings.LastIndexByte(turn, '#'); i >= 0 && i+1 < len(turn) && strings.Trim(turn[i+1:], "0123456789") == "" {
		return turn[:i]
	}
	return turn
}

// callMark begins the part of an identity that is of a call.
const callMark = "/call"

// Call is the identity of the k-th call (from 1) of a tool in one sending of a turn. Steps of the tool's body have it before their own.
func Call(turn string, attempt int, tool string, k int) string {
	if attempt > 1 {
		return fmt.Sprintf("%s%s@%d/%s#%d", turn, callMark, attempt, tool, k)
	}
	return fmt.Sprintf("%s%s/%s#%d", turn, callMark, tool, k)
}

// TurnOfCall is the turn of the document's own that a step in the body of a tool belongs to, however deep it is; ok is false for any other
// step.
func TurnOfCall(step string) (turn string, ok bool) {
	for from := 0; ; {
		i := strings.Index(step[from:], callMark)
		if i < 0 {
			return step, false
		}
		i += from
		if from = i + len(callMark); from < len(step) && (step[from] == '/' || step[from] == '@') {
			return step[:i], true
		}
	}
}
