package acp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"xmd/agents/wire"
	"xmd/runtime"
)

// setting is one thing that can be chosen of a conversation, as the agent offers it. The zero setting is not offered.
type setting struct {
	name    string   // as documents have it: model, effort, mode
	method  string   // that changes it; "": it is not offered
	option  string   // the id of the config option, when the method is session/set_config_option
	opened  string   // its value when the conversation was opened
	offered []string // the values that may be chosen; none: the agent does not say
	chosen  string   // by Configure; "": it is as it was opened
}

// settings are those that xmd knows, in the order in which they are changed: what efforts there are depends on the model.
type settings [3]setting

// settingNames are the names of the settings, with what agents call their options: ids first, then the category.
var settingNames = []struct {
	name string
	ids  []string
}{
	{"mode", []string{"mode"}},
	{"model", []string{"model"}},
	{"effort", []string{"effort", "reasoning_effort", "thought_level"}},
}

// categories are the protocol's own words for what an option is.
var categories = map[string]string{"mode": "mode", "model": "model", "thought_level": "effort"}

// parseSettings reads what session/new or session/load offers.
func parseSettings(result json.RawMessage) settings {
	var all settings
	for i, n := range settingNames {
		all[i] = setting{name: n.name}
		for option := range wire.Elements(wire.Field(result, "configOptions")) {
			if settingOf(option) == n.name && all[i].method == "" {
				all[i].readOption(option)
			}
		}
	}
	all[0].read("session/set_mode", wire.Field(result, "modes"), "currentModeId", "availableModes", "id")
	if all[1].method == "" {
		all[1].read("session/set_model", wire.Field(result, "models"), "currentModelId", "availableModels", "modelId")
	}
	return all
}

// settingOf names the setting that a config option is; "" for any other.
func settingOf(option []byte) string {
	id, _ := wire.String(wire.Field(option, "id"))
	for _, n := range settingNames {
		if slices.Contains(n.ids, id) {
			return n.name
		}
	}
	category, _ := wire.String(wire.Field(option, "category"))
	return categories[category]
}

func (s *setting) readOption(option []byte) {
	if kind, ok := wire.String(wire.Field(option, "type")); ok && kind != "select" {
		return
	}
	s.method = "session/set_config_option"
	s.option, _ = wire.String(wire.Field(option, "id"))
	s.opened, _ = wire.String(wire.Field(option, "currentValue"))
	s.offered = optionValues(wire.Field(option, "options"))
}

// optionValues lists the values of a select; they may stand in groups.
func optionValues(options []byte) []string {
	var values []string
	for o := range wire.Elements(options) {
		if v, ok := wire.String(wire.Field(o, "value")); ok {
			values = append(values, v)
		} else {
			values = append(values, optionValues(wire.Field(o, "options"))...)
		}
	}
	return values
}

// read takes a setting that has a method of its own.
func (s *setting) read(method string, from []byte, current, list, id string) {
	if from == nil || string(from) == "null" {
		return
	}
	s.method, s.option, s.offered = method, "", nil
	s.opened, _ = wire.String(wire.Field(from, current))
	for o := range wire.Elements(wire.Field(from, list)) {
		if v, ok := wire.String(wire.Field(o, id)); ok {
			s.offered = append(s.offered, v)
		}
	}
}

// Configure chooses mode, model and effort; see runtime.Configurer.
func (c *conn) Configure(ctx context.Context, want runtime.Settings) error {
	for i, value := range []string{want.Mode, want.Model, want.Effort} {
		if err := c.choose(ctx, &c.settings[i], value); err != nil {
			return err
		}
	}
	return nil
}

// choose changes one setting, or takes a choice back.
func (c *conn) choose(ctx context.Context, s *setting, value string) error {
	if value == s.chosen {
		return nil
	}
	to := value
	if to == "" {
		to = s.opened
	}
	switch {
	case s.method == "":
		return c.Fail(runtime.KindUnsupported, "%s does not let its %s be chosen; leave %s out of <Agent>", c.Info.Shown, s.name, s.name)
	case len(s.offered) > 0 && !slices.Contains(s.offered, to) && value != "":
		return c.Fail(runtime.KindFailed, "%s offers no %s %q; it offers %s", c.Info.Shown, s.name, to, strings.Join(s.offered, ", "))
	}
	if err := c.change(ctx, s, to); err != nil {
		return err
	}
	s.chosen = value
	return nil
}

// settingParams are those of the three methods.
type settingParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId,omitempty"`
	ModelID   string `json:"modelId,omitempty"`
	ConfigID  string `json:"configId,omitempty"`
	Value     string `json:"value,omitempty"`
}

func (c *conn) change(ctx context.Context, s *setting, to string) error {
	c.mu.Lock()
	p := settingParams{SessionID: c.id}
	c.mu.Unlock()
	switch s.method {
	case "session/set_mode":
		p.ModeID = to
	case "session/set_model":
		p.ModelID = to
	default:
		p.ConfigID, p.Value = s.option, to
	}
	result, err := c.Within(ctx, c.p.newLimit(), s.method, p)
	switch {
	case err == nil:
		c.offersChanged(result)
		return nil
	case ctx.Err() != nil:
		return c.Cancelled(ctx)
	}
	if e := c.settled(err); e != nil {
		return e
	}
	return c.Fail(runtime.KindFailed, "%s did not take the %s %q: %w", c.Info.Shown, s.name, to, c.Reason(err))
}

// offersChanged takes over what may be chosen after a change: another model has other efforts.
func (c *conn) offersChanged(result json.RawMessage) {
	for option := range wire.Elements(wire.Field(result, "configOptions")) {
		for i := range c.settings {
			s := &c.settings[i]
			if s.option != "" && wire.Is(wire.Field(option, "id"), s.option) {
				s.offered = optionValues(wire.Field(option, "options"))
			}
			if s.method == "" && settingOf(option) == s.name {
				s.readOption(option)
			}
		}
	}
}
