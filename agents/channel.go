package agents

import (
	"xmd/agents/acp"
	"xmd/runtime"
)

// lead is ChannelLead as the configuration writes it.
const lead = "lead"

// Channels are the words with which a configuration says where an agent takes the workflow's instructions: "lead" (they lead the message),
// "start" and "every" (in the protocol's own "systemPrompt", or where the table says: once, or with every new and load), "door" (it shows
// its model the instructions of MCP servers). Codex's app-server has two of them.
func Channels(transport string) []string {
	if transport == transportServer {
		return []string{lead, string(runtime.ChannelStart)}
	}
	return []string{lead, string(runtime.ChannelStart), string(runtime.ChannelEvery), string(runtime.ChannelDoor)}
}

// channel is where the agent takes the workflow's instructions.
func (p Profile) channel() runtime.Channel {
	switch {
	case p.leads:
		return runtime.ChannelLead
	case p.Transport == transportServer:
		return runtime.ChannelStart
	}
	return p.Driver.Instructions.Channel
}

// instructedBy is the row of an agent that takes instructions where a configuration says.
func (p Profile) instructedBy(word string) Profile {
	if p.leads = word == lead; p.leads {
		p.Driver.Instructions = acp.Instructions{}
		return p
	}
	own := &p.Driver.Instructions
	own.Channel = runtime.Channel(word)
	if own.Channel != runtime.ChannelDoor && own.Member == "" {
		own.Member, own.Form = "systemPrompt", acp.AppendPrompt
	}
	return p
}
