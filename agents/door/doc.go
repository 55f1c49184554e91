// Package door offers the workflow's own tools to agents: one MCP server on loopback for a run, and a shim for agents that only start
// programs.
//
//	runtime ──Admit──▶ Door ──▶ pass: key, tools, instructions, Call
//	                    │         ▲
//	agent ──HTTP────────┤         │ by the key
//	                    ▼         │
//	   serve: host, origin, path, method, key, type, size ──▶ message: JSON-RPC, calls under way, cancellation
//	                    ▲                                          │
//	agent ──stdio── ShimMain (xmd door-shim)                       ▼
//	                                         go-sdk, stateless, JSON ──▶ callTool: schema ──▶ Call
//
// The key keeps out other users and browsers. It does not keep out other processes of the same person: what is called is checked again by
// the runtime. specs/door.md is the contract, decisions/0020 says why it is so.
package door
