// Package model is a scripted language model on loopback, good enough for
// real agent programs to work against it without a key or a network.
//
//	real agent ──HTTP──▶ Server ──parse──▶ Request ──answer──▶ plan
//	           ◀──SSE─── dialect ◀────────────────────────────┘
//
// A dialect knows one provider's API: the Responses API that Codex speaks, the
// Messages API that Claude speaks, the Gemini API, the Chat Completions that the
// other agents speak. It parses a request into the common form,
// and streams an answer back. What to answer is decided in one place, from the
// text of the request alone: the server remembers nothing between requests.
// That is the point of it. Asked which codeword it was given, it looks in the
// user turns before the asking one, so it can only know the word if the agent
// really still has the conversation.
//
// Lines of a prompt that begin with a capital verb script the reply:
//
//	SAY text        a piece of the answer
//	THINK text      a piece of reasoning
//	STREAM n        n pieces, "chunk 1 " to "chunk n "
//	BYTES n         one piece of n bytes
//	RUN command     a shell command through the agent's own tool
//	ASK command     the same, so that the person is asked first
//	READ path       a file read through the agent's own tool
//	WRITE path text a new file of one line
//	EDIT path a b   replace a by b in a file
//	CALL tool json  any other tool the agent offers
//	TOOL server tool json  a tool of an MCP server, by the name the agent offers it under
//	SLOW ms         wait before every piece
//	HTTP status     refuse with that status
//	CUT             end the connection before the answer is complete
//	HANG            say no more until the agent gives up
//
// Each tool ends one response; what follows it is the next response, after the
// tool's result. A prompt without such lines gets "OK, I will remember." when
// it tells a codeword, CODEWORD=… when it asks for it, else an echo.
//
// Calls an agent makes on its own account (titles, classifiers, token counts)
// are answered and recorded apart: see [Server.Hidden].
package model
