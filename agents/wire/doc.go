// Package wire is the newline-delimited JSON-RPC 2.0 connection that the ACP
// driver and the Codex app-server driver share.
//
//	agent stdout ──▶ lineReader ──▶ valid ──▶ spans ──▶ reader goroutine
//	                 (any size)                              │ in wire order
//	                                   notification ◀────────┤
//	                                   request + Reply ◀─────┤
//	                                   answer ──▶ Pending ◀──┘
//	agent stdin  ◀── writer goroutine ◀── queue ◀── Start, Call, Notify, Reply
//
// The handler runs on the reader, so the pipe is the flow control and nothing is
// ever dropped; the queue before the writer is in memory, so no call can block past
// its context and the reader cannot deadlock against an agent that is itself
// blocked on its stdout. The end of the stream fails calls only after every line
// that was read has been handled: an agent that answers and exits has answered.
//
// Only what is asked for is decoded: [Pick], [String] and [Elements] work on spans
// of the line itself. What an agent gets wrong (text between frames, lines beyond
// the bound, ids as strings, error codes that are no integers) is skipped, counted
// and reported, and never ends the connection.
package wire
