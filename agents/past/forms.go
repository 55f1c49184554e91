package past

import "strings"

// Forms are how an agent shows a person's words, and its own, in the history of a conversation. The zero value is an agent that shows
// them as they are. Read-only.
type Forms struct {
	Synthetic []Frame  // user turns that stand in one of these are not the user's
	Summary   string   // a user turn that begins so replaced an earlier part of the history
	Wrappers  []Frame  // what the agent puts around the user's words in its history, the outermost first
	ErrorText []string // a message that begins so, followed by nothing of its turn, is an error's text
}

// Frame is what stands before and behind something. An empty Close says that only the beginning counts.
type Frame struct{ Open, Close string }

// inside is what stands in the frame, if text is that and nothing else.
func (f Frame) inside(text string) (string, bool) {
	inner, ok := strings.CutPrefix(text, f.Open)
	if !ok || f.Close == "" {
		return inner, ok
	}
	return strings.CutSuffix(inner, f.Close)
}

// IsSynthetic says whether a user turn of the history is not the user's own. One in which the frame is closed and something follows is.
func (f *Forms) IsSynthetic(text string) bool {
	text = strings.TrimSpace(text)
	for _, s := range f.Synthetic {
		if inner, ok := s.inside(text); ok && (s.Close == "" || !strings.Contains(inner, s.Close)) {
			return true
		}
	}
	return false
}

// IsSummary says whether a user turn of the history stands for an earlier part of it.
func (f *Forms) IsSummary(text string) bool {
	return f.Summary != "" && strings.HasPrefix(strings.TrimSpace(text), f.Summary)
}

// Unwrap removes what the agent puts around a user's words in its history.
func (f *Forms) Unwrap(text string) string {
	for _, w := range f.Wrappers {
		if inner, ok := w.inside(strings.TrimSpace(text)); ok {
			text = inner
		}
	}
	return text
}

// Recognises says whether the history shows these words as a turn of the user's: not if they look like one of the agent's own, and
// not if they begin as a command does, which an adapter or agent may obey without keeping it.
func (f *Forms) Recognises(words string) bool {
	return !strings.HasPrefix(strings.TrimSpace(words), "/") && !f.IsSynthetic(words) && !f.IsSummary(words)
}

// BeginsAny says whether a text begins with one of the prefixes.
func BeginsAny(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}
