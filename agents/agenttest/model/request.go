package model

import (
	"regexp"
	"slices"
	"strings"
)

// Request is one request as it reached the model, in the common form.
type Request struct {
	// API is the dialect: "responses", "messages", "chat" or "gemini".
	API string
	// Model is the model's name as asked for.
	Model string
	// Hidden says that the agent made this call on its own account.
	Hidden bool
	// Stream says that the answer is streamed.
	Stream bool
	// Instructions are the system and developer texts, in order.
	Instructions []string
	// Turns are the conversation's items, in order, tool items included.
	Turns []Turn
	// Tools are the names of the tools the model may call.
	Tools []string
	// Raw is the request body.
	Raw []byte

	schema string  // name or text of a structured output that is asked for, if any
	offers offered // the tools with what their input may have, where the API's dialect keeps that
}

// Turn is one block of the conversation.
type Turn struct {
	// Role is "user", "assistant", "call" or "result".
	Role string
	// Text is the block's text: the words, a tool's name and input, or what a
	// tool returned.
	Text string
}

// UserTexts are the texts a person sent, oldest first: every text block of
// every user turn, less what agents put in themselves.
func (r Request) UserTexts() []string {
	var out []string
	for _, t := range r.Turns {
		if text := r.words(t); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// words is what a person said in a turn, or "".
func (r Request) words(t Turn) string {
	if t.Role != "user" {
		return ""
	}
	if m := query.FindStringSubmatch(t.Text); m != nil {
		return spoken(m[1])
	}
	if r.queries() {
		return ""
	}
	return spoken(t.Text)
}

// query is what Grok puts around a person's words, after an interruption with its own words around that. Where it stands, user turns
// without it are the agent's own.
var query = regexp.MustCompile(`(?s)\A[^<]*<user_query>\n?(.*)\n?</user_query>[^<>]*\z`)

func (r Request) queries() bool {
	return slices.ContainsFunc(r.Turns, func(t Turn) bool { return t.Role == "user" && query.MatchString(t.Text) })
}

// aside says that the agent asks for something of its own with the whole conversation and, it may be, all its tools: Grok's titles and
// the lines of its dashboard.
func (r Request) aside() bool {
	if slices.Contains(r.Tools, "session_title") {
		return true
	}
	n := len(r.Turns) - 1
	return n >= 0 && r.Turns[n].Role == "user" && (strings.HasPrefix(r.Turns[n].Text, "<system-reminder>Write an ultra-short dashboard line") ||
		strings.HasPrefix(r.Turns[n].Text, "<system-reminder>Generate a session title"))
}

// Ask is the newest text a person sent, and results how many tools have
// returned since then. It is "" when nobody said anything.
func (r Request) Ask() (ask string, results int) {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		switch t := r.Turns[i]; t.Role {
		case "result":
			results++
		case "user":
			if text := r.words(t); text != "" {
				return text, results
			}
		}
	}
	return "", results
}

// lastResult is what the newest tool returned.
func (r Request) lastResult() string {
	for i := len(r.Turns) - 1; i >= 0; i-- {
		if r.Turns[i].Role == "result" {
			return r.Turns[i].Text
		}
	}
	return ""
}

var tells = regexp.MustCompile(`(?i)\bcodeword is\s+([\pL\pN]+)`)

// codeword is the first one told in the texts before the newest one.
func (r Request) codeword() string {
	texts := r.UserTexts()
	if len(texts) == 0 {
		return "UNKNOWN"
	}
	for _, text := range texts[:len(texts)-1] {
		if m := tells.FindStringSubmatch(text); m != nil {
			return strings.ToUpper(m[1])
		}
	}
	return "UNKNOWN"
}

// injected are the spans agents write into user turns: none of them is
// something a person said.
var injected = func() []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, tag := range []string{
		"system-reminder", "total_tokens", "environment_context", "turn_aborted",
		"user_instructions", "INSTRUCTIONS", "skills_instructions", "recommended_plugins",
		"subagent_notification", "local-command-caveat", "command-name", "command-message",
		"command-args", "local-command-stdout", "user_query_context", "session_context", "loaded_context",
	} {
		out = append(out, regexp.MustCompile(`(?s)<`+tag+`\b[^>]*>.*?</`+tag+`>`))
	}
	return append(out,
		regexp.MustCompile(`(?s)\A# AGENTS\.md instructions.*\z`),
		regexp.MustCompile(`\A\[Request interrupted by user[^\]]*\]\z`))
}()

// spoken is what is left of a user block when everything injected is taken
// out, or "".
func spoken(text string) string {
	for _, re := range injected {
		text = re.ReplaceAllString(text, "")
	}
	return strings.TrimSpace(text)
}
