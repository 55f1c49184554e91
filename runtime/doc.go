// Package runtime runs a plan.
//
//	Runner.Execute  one document, or one entry of a REPL
//	  render        nodes in document order into a layout.Sink; a place says where each one stands:
//	                its document, names (scope), agent, session, policy, identity, failures
//	  control       Each, Loop, Try, Parallel …   document: Output, Return, components
//	  parallel      bodies at once: a group of tasks, each with a spool; one of them is delivered at a time
//	  prompt        words ─▶ session ─▶ attach ─▶ turn ─▶ event.Stream, reply
//	  offers, equip what holds for the prompts behind a Tool or Mcp; what an attachment is given of it
//	  calls         an agent ─▶ Door ─▶ the running turn ─▶ the body of a Tool ─▶ text
//	  conversation  agents that take turns: compose makes what is sent, log keeps what was said, connect begins anew what is lost
//	  exec, effects programs, files, fetches, questions: on record before they happen
//
// Every effect passes the event stream (package event), which the journal keeps and all output is rendered from. Agents, programs,
// observation and people come in as the small interfaces of Options.
package runtime
