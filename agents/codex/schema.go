package codex

import (
	"encoding/json"
	"slices"
)

// strictWords are the keywords that the strict form of a schema is known to take.
var strictWords = []string{
	"type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "title", "description", "$defs", "$ref",
}

// strict says whether a schema has the form in which a model can be held to it: an object, every member of every object required and none
// beside them, no keyword but the known ones. A schema of another form is asked for in words alone.
func strict(schema json.RawMessage) bool {
	if len(schema) == 0 {
		return false
	}
	var root map[string]any
	return json.Unmarshal(schema, &root) == nil && root["type"] == "object" && strictPart(root)
}

func strictPart(v any) bool {
	s, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for word := range s {
		if !slices.Contains(strictWords, word) {
			return false
		}
	}
	if !strictObject(s) {
		return false
	}
	for _, word := range []string{"properties", "$defs"} {
		parts, _ := s[word].(map[string]any)
		for _, part := range parts {
			if !strictPart(part) {
				return false
			}
		}
	}
	if items, ok := s["items"]; ok && !strictPart(items) {
		return false
	}
	forms, _ := s["anyOf"].([]any)
	for _, form := range forms {
		if !strictPart(form) {
			return false
		}
	}
	return true
}

// strictObject checks what is asked of an object; of anything else, nothing.
func strictObject(s map[string]any) bool {
	props, has := s["properties"].(map[string]any)
	if s["type"] != "object" && !has {
		return true
	}
	if s["additionalProperties"] != false {
		return false
	}
	required, _ := s["required"].([]any)
	for name := range props {
		if !slices.Contains(required, any(name)) {
			return false
		}
	}
	return len(required) == len(props)
}
