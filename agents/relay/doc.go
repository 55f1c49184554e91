// Package relay reaches MCP servers on behalf of agents that do not take their kind.
//
//	runtime ──Reach──▶ by URL:     HTTP, with the document's headers, to that host only ──▶ server
//	                   by command: proc.Start under a guardian, stdio                   ──▶ server
//	        ◀─Reached─ tools (listed once), calls, Close
//
// An agent sees the tools through the door (package door) and never the server: neither its address nor its headers nor its process.
package relay
