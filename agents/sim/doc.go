// Package sim is the scripted agent in the binary, `xmd sim`: a real ACP version 1 program on stdio.
//
//	stdin ──lines──▶ conn ──requests──▶ agent ──▶ session (store: one JSONL file each)
//	                                      │
//	                              prompt ─┴▶ turn ── script rule? ── built-in command? ── codeword? ── echo
//	                                          │
//	stdout ◀──frames── out ◀── updates, permission requests, the result
//	                    ▲
//	                 faults: every place above asks the table in faults.go whether to misbehave
//
// Tests, examples and authors use it in place of an agent that costs money. It spends nothing, contacts nobody,
// and answers the same words to the same prompts.
//
// # Without a script
//
// Everything but the commands and the codeword question is echoed: "turn N: " and the words of the prompt, N being
// the number of the prompt in its session, earlier processes counted. The answer is streamed in pieces of at most
// 64 characters.
//
// The codeword question is a sentence of the prompt that holds the word "codeword" and asks: it ends in a question
// mark or begins with what, which, tell, recall, repeat or say. The answer is "The codeword is WORD." with the word
// that an earlier user turn of the session's own history told ("codeword is ZEBRA", "the codeword ZEBRA"), or
// "I know no codeword." The asking prompt itself is never looked at. Of several the newest counts, unless the
// question speaks of the first, the start or the beginning.
//
// A prompt whose first line is one of these commands, and nothing else, is obeyed instead:
//
//	SAY text           answers exactly text
//	CHUNKS n bytes     n message chunks of that many bytes each (bytes-1 times x and a line end)
//	TOOLS n            n tool calls that read a file, then "done"
//	PERM kind          a tool call of that kind that asks; answers "permission: " and the option's kind; the outcome cancelled ends the turn
//	SLEEP ms           waits, then "slept"
//	HANG               says nothing and never ends, except when cancelled
//	THINK text         a thought, then "done"
//	SERVERS            answers with the MCP servers of the session, their tools and instructions
//	CALL tool args     calls a tool of an MCP server for real, asking first; args are JSON; answers with the text that came back
//	SETTINGS           answers with the mode, model and effort it was set to
//	PLAN n             a plan of n entries, then "done"
//	USAGE used size    a usage update, then "done"
//	FAIL code message  a JSON-RPC error as the answer to the prompt
//	EXIT code          ends the process in mid-turn
//	SPAWN options      starts a process that stays (see the fault grandchild), then "spawned"
//
// # With a script
//
// A script is a document of rules, best first; what stands between them is for its readers:
//
//	<WhenPrompt template="Fix {?id} in {?file}" times={2}>
//	  Looking at {file}.
//	  <ToolCall kind="edit" title={"Edit " + file} diff={{"path": file, "oldText": "a", "newText": "b"}} ask />
//	  <Say chunks={3}>Fixed {id}.</Say>
//	</WhenPrompt>
//
// The first rule whose template matches the whole prompt, and whose times are not used up, answers. Times are counted
// in a session, over all its processes. Any white space matches any other; {?name} takes one character or more, as few
// as will do. Where a prompt has several blocks, a rule or command may also match the last one alone: instructions may
// stand before it. The body of a rule is laid out as the language lays out a captured body; its text is said, and {name}
// stands for what {?name} took, in attribute expressions (a={name}) too. In the body:
//
//	Say chunks                     its body, in that many chunks
//	Thought chunks                 a thought
//	Plan                           a plan; each line of the body an entry, [ ] to do, [~] in work, [x] done
//	ToolCall kind title input      a tool call, its body the output; outcome is completed, failed or none (no end is sent);
//	  diff outcome ask             ask requests permission first; a refused one fails and the answer goes on
//	CallTool name args server      calls a tool of an MCP server of the session for real, of the first that has it or of the one named; ask as
//	  kind title ask as            above; as binds the text that came back, the tool's error too, for what follows: {found}
//	Usage used size cost           a usage update; input and output are the tokens in the prompt's result
//	  input output
//	Wait ms                        lets time pass
//	Exit code                      ends the process (default 1)
//	Error code message             a JSON-RPC error as the answer to the prompt (default -32603)
//
// A prompt that no rule takes is answered as without a script, and a note on stderr says so.
//
// # Sessions
//
// A session is one file, sessions/ID.jsonl, in the home: --home, else XMD_SIM_HOME, else
// $XDG_STATE_HOME/xmd-sim, else $HOME/.local/state/xmd-sim. Like those of the real agents it is durable from its first
// prompt on; session/new alone writes nothing. The words are written when the prompt is accepted, each message when it
// is complete, so a process that dies in mid-turn leaves the words and what was finished. A load replays the whole
// history, then answers, then sends available_commands_update; its result states no id (the fault load-id makes it).
// session/list shows the last used first, 50 to a page. Modes are ask, the first, and auto, in which nothing asks.
// Prompts of one session wait for each other; session/cancel ends the running one and those behind it.
//
// The MCP servers of session/new, load and resume, by address (http) or by command, are connected before the call is answered; none is
// started where none is given, and each load has exactly its own. One that cannot be reached is left out with a note on stderr. A call of
// their tools is announced with _meta {"sim": {"server": …, "tool": …}}, and its own _meta names the ACP call: "sim/toolCallId".
//
// How each turn ended is kept too, but a replay does not tell, as those of most agents do not. With the fault keeps-ends
// the last update that is replayed of a turn that came to its normal end has "_meta":{"completed":true}, as some agents
// record it in their own way. After a crash the next process shows, by the point of the crash:
//
//	prompt        nothing of the turn
//	stored        its words
//	mid-turn      its words; a message that was not complete is lost
//	said          its words and the whole answer, without an end
//	ended         the same with its end; the client was told of none
//	after-answer  the same; the client was told
//
// crash-turn=N lets the prompts before the Nth of the process pass. Where a history was shortened, compacted shows a
// summary alone and compact-keep=N the newest turns behind it.
//
// # The interface for people
//
// `xmd sim --native --resume ID`, or --session-id ID for a new session, is the agent's own interface at a terminal, on the same sessions:
// it shows the conversation, takes each line as a prompt that is echoed or answered with the codeword, and leaves at /quit.
// --system-prompt-file FILE begins a new session with the file's text, which is shown and kept as [system].
//
// # As Codex
//
// `xmd sim --codex` with what Codex is called with (app-server, resume ID, --version) plays Codex on conversations of its own kind: rollout
// files and writer locks below $CODEX_HOME. A thread without a turn is kept once something was put into it.
//
// # Exit codes
//
// 0 at the end of stdin, 2 for wrong flags, faults or scripts, 7 for the fault crash, 143 when the context ends;
// EXIT and <Exit> give their own.
package sim
