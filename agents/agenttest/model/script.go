package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// reply is one response of the model.
type reply struct {
	status int           // an HTTP error instead of anything else
	delay  time.Duration // before every piece
	pieces []piece
	end    ending
}

type ending int

const (
	complete ending = iota
	cut
	hang
)

// piece is a bit of text, of reasoning, or a tool call.
type piece struct {
	kind pieceKind
	text string
	verb string   // of a tool: run, ask, read, write, edit, call, served
	args []string // of a tool, as the verb takes them
}

type pieceKind int

const (
	say pieceKind = iota
	think
	use
)

// plan decides the answer from the request alone.
func plan(req Request) reply {
	if req.Hidden {
		return reply{pieces: []piece{{text: hiddenAnswer(req)}}}
	}
	ask, results := req.Ask()
	replies := script(ask)
	switch {
	case replies == nil && results > 0:
		return sayOnly("Tool said: " + shorten(req.lastResult()))
	case replies == nil:
		return sayOnly(answerTo(req, ask))
	case results < len(replies):
		return replies[results]
	default:
		return sayOnly("Tool said: " + shorten(req.lastResult()))
	}
}

var asks = regexp.MustCompile(`(?i)\bwhich codeword\b`)

func answerTo(req Request, ask string) string {
	switch {
	case asks.MatchString(ask):
		return "CODEWORD=" + req.codeword()
	case tells.MatchString(ask):
		return "OK, I will remember."
	default:
		return "You said: " + ask
	}
}

func sayOnly(text string) reply {
	// Two pieces, so that joining the chunks of a message is exercised always.
	if head, tail, ok := strings.Cut(text, " "); ok {
		return reply{pieces: []piece{{text: head + " "}, {text: tail}}}
	}
	return reply{pieces: []piece{{text: text}}}
}

// shorten keeps what a test needs to see of a tool's output.
func shorten(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

// script reads the scripted lines of a prompt into replies, one for the prompt
// and one more after each tool. It is nil if the prompt has no such line. A
// last reply that would be empty is left to the caller.
func script(ask string) []reply {
	var done []reply
	var now reply
	found := false
	for line := range strings.Lines(ask) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		p, tool, ok := direct(&now, verb, strings.TrimSpace(rest))
		if !ok {
			continue
		}
		found = true
		now.pieces = append(now.pieces, p...)
		if tool {
			done, now = append(done, now), reply{delay: now.delay}
		}
	}
	if !found {
		return nil
	}
	if len(now.pieces) > 0 || now.status != 0 || now.end != complete {
		done = append(done, now)
	} else if len(done) == 0 {
		done = append(done, reply{delay: now.delay, pieces: []piece{{text: "done"}}})
	}
	return done
}

// direct carries out one scripted line on the reply being made. ok is false if
// the line is ordinary text; tool says that the pieces end this reply.
func direct(r *reply, verb, rest string) (p []piece, tool, ok bool) {
	n, notNumber := strconv.Atoi(rest)
	switch verb {
	case "SAY":
		return []piece{{text: rest}}, false, true
	case "THINK":
		return []piece{{kind: think, text: rest}}, false, true
	case "RUN":
		return []piece{{kind: use, verb: "run", args: []string{rest}}}, true, rest != ""
	case "ASK":
		return []piece{{kind: use, verb: "ask", args: []string{rest}}}, true, rest != ""
	case "READ":
		return []piece{{kind: use, verb: "read", args: []string{rest}}}, true, rest != ""
	case "CUT":
		r.end = cut
		return nil, false, true
	case "HANG":
		r.end = hang
		return nil, false, true
	case "WRITE":
		return words("write", 2, rest)
	case "EDIT":
		return words("edit", 3, rest)
	case "CALL":
		return words("call", 2, rest)
	case "TOOL":
		return words("served", 3, rest)
	}
	if notNumber != nil {
		return nil, false, false
	}
	switch verb {
	case "STREAM":
		for i := range n {
			p = append(p, piece{text: fmt.Sprintf("chunk %d ", i+1)})
		}
		return p, false, true
	case "BYTES":
		return []piece{{text: strings.Repeat("x", n)}}, false, true
	case "SLOW":
		r.delay = time.Duration(n) * time.Millisecond
		return nil, false, true
	case "HTTP":
		r.status = n
		return nil, false, true
	}
	return nil, false, false
}

// words is a tool whose n arguments are words, the last one taking the rest.
func words(verb string, n int, rest string) ([]piece, bool, bool) {
	args := strings.SplitN(rest, " ", n)
	if len(args) != n || args[0] == "" {
		return nil, false, false
	}
	return []piece{{kind: use, verb: verb, args: args}}, true, true
}

// hiddenAnswer satisfies a call that nobody asked for: a title where a
// structured answer is wanted, a word elsewhere.
func hiddenAnswer(req Request) string {
	switch {
	case strings.Contains(req.schema, "complexity_score"): // Gemini's choice of a model
		return `{"complexity_reasoning":"scripted","complexity_score":10}`
	case req.schema != "":
		return `{"title":"Scripted conversation"}`
	}
	return "Scripted conversation"
}
