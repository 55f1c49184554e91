package acp

import (
	"context"
	"encoding/json"
	"slices"

	"xmd/agents/link"
	"xmd/agents/wire"
)

// Capabilities are those of the answer of initialize; nothing is asked. That a sign-in is missing, the protocol tells only with an error.
func (c *conn) Capabilities(context.Context) link.Capabilities {
	told := c.shakes.told
	all := link.Capabilities{Version: c.shakes.version, Load: c.shakes.load, List: c.shakes.list}
	all.Name, _ = wire.String(wire.Path(told, "agentInfo", "name"))
	var sessions map[string]json.RawMessage
	_ = json.Unmarshal(wire.Path(told, "agentCapabilities", "sessionCapabilities"), &sessions) // of another form, or none: nothing is told
	for name, value := range sessions {
		if name != "list" && name != "_meta" && string(value) != "null" && string(value) != "false" {
			all.More = append(all.More, name)
		}
	}
	slices.Sort(all.More)
	for _, kind := range []string{"http", "sse"} {
		if string(wire.Path(told, "agentCapabilities", "mcpCapabilities", kind)) == "true" {
			all.Servers = append(all.Servers, kind)
		}
	}
	if !c.p.DropsStdio { // every agent is to take these, so none tells it
		all.Servers = append(all.Servers, "stdio")
	}
	for mode := range wire.Elements(wire.Path(told, "modes", "availableModes")) {
		all.Modes = appendID(all.Modes, mode)
	}
	for way := range wire.Elements(wire.Field(told, "authMethods")) {
		all.SignIn = appendID(all.SignIn, way)
	}
	return all
}

func appendID(list []string, v []byte) []string {
	if id, ok := wire.String(wire.Field(v, "id")); ok {
		return append(list, id)
	}
	return list
}
