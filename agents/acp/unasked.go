package acp

import (
	"context"
	"encoding/json"

	"xmd/agents/wire"
	"xmd/runtime"
)

// Option is a config option of a conversation and the value it must have.
type Option struct{ ID, Value string }

// setOptions gives the options of the profile their values, where the answer to a new or a load says that they have others. An agent that
// refuses is not used: it would act without asking.
func (c *conn) setOptions(ctx context.Context, id string, result json.RawMessage) *runtime.Error {
	for _, want := range c.p.Options {
		for option := range wire.Elements(wire.Field(result, "configOptions")) {
			if !wire.Is(wire.Field(option, "id"), want.ID) || wire.Is(wire.Field(option, "currentValue"), want.Value) {
				continue
			}
			if err := c.setOption(ctx, id, want); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *conn) setOption(ctx context.Context, id string, want Option) *runtime.Error {
	result, err := c.Within(ctx, c.p.newLimit(), "session/set_config_option", settingParams{SessionID: id, ConfigID: want.ID, Value: want.Value})
	switch {
	case err == nil && took(result, want):
		return nil
	case err == nil:
		return c.Fail(runtime.KindUnsupported, "%s keeps its option %s at another value than %q, and then does not ask before it acts", c.Info.Shown, want.ID, want.Value)
	case ctx.Err() != nil:
		return c.Cancelled(ctx)
	}
	if e := c.settled(err); e != nil {
		return e
	}
	return c.Fail(runtime.KindUnsupported, "%s did not take %s=%s, without which it does not ask before it acts: %w", c.Info.Shown, want.ID, want.Value, c.Reason(err))
}

// took says whether the answer to a change shows the value, where it shows the option at all: Copilot answers a change that its command
// line forbids as if nothing was wrong.
func took(result json.RawMessage, want Option) bool {
	for option := range wire.Elements(wire.Field(result, "configOptions")) {
		if wire.Is(wire.Field(option, "id"), want.ID) {
			return wire.Is(wire.Field(option, "currentValue"), want.Value)
		}
	}
	return true
}
