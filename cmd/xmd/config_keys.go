package main

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// configKey is what the tags of a key of xmd.toml say.
type configKey struct {
	name, say string
	words     []string // what its value may be; nil: anything
	form      string   // how its value is written; "": anyhow
	of        reflect.Type
}

// formDuration is the form of a time, as in documents.
const formDuration = "duration"

// configKeys are the keys of a table, in the order of its type.
func configKeys(table reflect.Type) []configKey {
	var keys []configKey
	for i := range table.NumField() {
		f := table.Field(i)
		k := configKey{name: f.Tag.Get("toml"), say: f.Tag.Get("say"), form: f.Tag.Get("form"), of: f.Type}
		if words := f.Tag.Get("words"); words != "" {
			k.words = strings.Split(words, ",")
		}
		keys = append(keys, k)
	}
	return keys
}

// eachWord calls do for every text that is given in a table, with its key from the top.
func eachWord(table reflect.Value, above []string, do func(key []string, k configKey, value string)) {
	for i, k := range configKeys(table.Type()) {
		v, key := table.Field(i), append(slices.Clone(above), k.name)
		switch {
		case v.Kind() == reflect.String && v.Len() > 0:
			do(key, k, v.String())
		case v.Kind() == reflect.Struct:
			eachWord(v, key, do)
		case v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct:
			for _, name := range slices.Sorted(maps.Keys(v.Interface().(map[string]agentConfig))) {
				eachWord(v.MapIndex(reflect.ValueOf(name)), append(slices.Clone(key), name), do)
			}
		}
	}
}

// formOf says what a key's value has to be; "" for a key that is not known.
func formOf(t reflect.Type, key []string) string {
	for _, name := range key {
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			keys := configKeys(t)
			i := slices.IndexFunc(keys, func(k configKey) bool { return k.name == name })
			if i < 0 {
				return ""
			}
			t = keys[i].of
		default:
			return ""
		}
	}
	switch t.Kind() {
	case reflect.String:
		return `a text, as in "text"`
	case reflect.Slice:
		return `a list of texts, as in ["one", "two"]`
	case reflect.Int64:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "a table"
}

// knownKeys lists the keys for a message.
func knownKeys() string {
	var plain, tables []string
	for _, k := range configKeys(reflect.TypeFor[config]()) {
		switch k.of.Kind() {
		case reflect.Struct:
			tables = append(tables, "["+k.name+"] with "+keyNames(k.of))
		case reflect.Map:
			tables = append(tables, "["+k.name+".NAME] with "+keyNames(k.of.Elem()))
		default:
			plain = append(plain, k.name)
		}
	}
	return strings.Join(plain, ", ") + ", " + strings.Join(tables, ", and ")
}

func keyNames(table reflect.Type) string {
	var names []string
	for _, k := range configKeys(table) {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

// configSchema is the JSON Schema of xmd.toml.
func configSchema() string {
	schema := tableSchema(reflect.TypeFor[config]())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = "xmd.toml, and config.toml in the person's own configuration folder"
	raw, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic(err) // it is made of texts alone
	}
	return string(raw)
}

func tableSchema(table reflect.Type) map[string]any {
	properties := map[string]any{}
	for _, k := range configKeys(table) {
		s := valueSchema(k.of)
		s["description"] = k.say
		if k.words != nil {
			s["enum"] = k.words
		}
		if k.form == formDuration {
			s["pattern"] = "^0*[1-9][0-9]*(ms|s|m|h)$"
		}
		properties[k.name] = s
	}
	return map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
}

func valueSchema(t reflect.Type) map[string]any {
	switch t.Kind() {
	case reflect.Struct:
		return tableSchema(t)
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": valueSchema(t.Elem())}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": valueSchema(t.Elem())}
	case reflect.Int64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return map[string]any{"type": "number", "minimum": 0}
	}
	return map[string]any{"type": "string"}
}
