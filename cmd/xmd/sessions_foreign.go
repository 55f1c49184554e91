package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"xmd/runtime/store"
)

// foreignRoute is a construction route as other builds of XMD keep it, one JSON file each. It names its session by digests.
type foreignRoute struct {
	schema, route          string
	agent                  string // the command that starts the agent
	launcher               string // "claude"
	key                    foreignKey
	nativeID, instructions string
	established            *store.Established
}

// The kinds of route.
const (
	acpFirst     = "acp-first"
	clientNative = "client-native"
)

// foreignForms are the forms that exist, by schema and kind, with their members beyond those that all have.
var foreignForms = map[[2]string][]string{
	{"session-route.v1", acpFirst}:     nil,
	{"session-route.v1", clientNative}: {"nativeSessionId", "identityProvenance", "instructionsDigest", "launcher"},
	{"session-route.v2", clientNative}: {"nativeSessionId", "identityProvenance", "instructionsDigest", "launcher", "executableBinding"},
	{"session-route.v3", acpFirst}:     {"executableBinding"},
}

var commonMembers = []string{"schema", "route", "provider", "agent", "sessionKey"}

// readForeign reads such a record as strictly as the build that wrote it.
func readForeign(m map[string]json.RawMessage) (foreignRoute, error) {
	var r foreignRoute
	for name, into := range map[string]*string{"schema": &r.schema, "route": &r.route} {
		if err := text(m, name, into); err != nil {
			return r, err
		}
	}
	more, known := foreignForms[[2]string{r.schema, r.route}]
	if !known {
		return r, fmt.Errorf("a %s of the kind %q is not known; known are v1 acp-first and client-native, v2 client-native, v3 acp-first", r.schema, r.route)
	}
	wanted := slices.Concat(commonMembers, more)
	for name := range m {
		if !slices.Contains(wanted, name) {
			return r, fmt.Errorf("a %s %s has no member %q", r.schema, r.route, name)
		}
	}
	var provider, sessionKey, provenance string
	into := map[string]*string{
		"provider": &provider, "agent": &r.agent, "sessionKey": &sessionKey, "nativeSessionId": &r.nativeID,
		"identityProvenance": &provenance, "instructionsDigest": &r.instructions, "launcher": &r.launcher,
	}
	for _, name := range wanted {
		if v := into[name]; v != nil {
			if err := text(m, name, v); err != nil {
				return r, err
			}
		}
	}
	return r.judge(m, wanted, sessionKey, provenance)
}

// judge checks what the members of a route hold.
func (r foreignRoute) judge(m map[string]json.RawMessage, wanted []string, sessionKey, provenance string) (foreignRoute, error) {
	var err error
	if r.key, err = readForeignKey(sessionKey); err != nil {
		return r, err
	}
	if r.key.agent != shortDigest(r.agent) {
		return r, errors.New("its sessionKey is not that of its agent: the record was changed")
	}
	if r.route == clientNative {
		if provenance != store.ClientAllocated {
			return r, fmt.Errorf("identityProvenance is %q; in a client-native route it is %q", provenance, store.ClientAllocated)
		}
		if !sha256Form().MatchString(r.instructions) {
			return r, errors.New("instructionsDigest is no SHA-256 in hex")
		}
	}
	if slices.Contains(wanted, "executableBinding") {
		raw, there := m["executableBinding"]
		if !there {
			return r, errors.New("executableBinding is missing")
		}
		if r.established, err = store.ReadBinding(raw); err != nil {
			return r, fmt.Errorf("executableBinding: %w", err)
		}
	}
	return r, nil
}

func text(m map[string]json.RawMessage, name string, into *string) error {
	raw, there := m[name]
	if !there {
		return fmt.Errorf("%s is missing", name)
	}
	if err := json.Unmarshal(raw, into); err != nil || *into == "" || raw[0] != '"' {
		return fmt.Errorf("%s is no text, or an empty one", name)
	}
	return nil
}

var sha256Form = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })

// foreignKey is a session key, xmd:v1:AGENT:DIR:NAME: each part is the beginning of a SHA-256, of the agent's command, the folder and
// the session's name; a session without a name has "default".
type foreignKey struct{ text, agent, dir, name string }

const unnamedForeign = "default"

var foreignKeyForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^xmd:v1:([0-9a-f]{16}):([0-9a-f]{16}):([0-9a-f]{16}|default)$`)
})

func readForeignKey(key string) (foreignKey, error) {
	m := foreignKeyForm().FindStringSubmatch(key)
	if m == nil {
		return foreignKey{}, errors.New("its sessionKey has a form that is not known, so its folder and name cannot be checked")
	}
	return foreignKey{key, m[1], m[2], m[3]}, nil
}

func shortDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:16]
}

// rootAmong finds the folder that the key was made of: one of those given, or one above it.
func (k foreignKey) rootAmong(dirs ...string) (string, bool) {
	for _, dir := range dirs {
		for {
			if shortDigest(dir) == k.dir {
				return dir, true
			}
			up := filepath.Dir(dir)
			if up == dir {
				break
			}
			dir = up
		}
	}
	return "", false
}

// nameAmong finds the name that the key was made of. A session without a name can be given any.
func (k foreignKey) nameAmong(names []string) (string, error) {
	if k.name == unnamedForeign {
		if len(names) == 1 {
			return names[0], nil
		}
		return "", errors.New("it is the session without a name: import it alone, with the one --name that it is to have")
	}
	for _, n := range names {
		if shortDigest(n) == k.name {
			return n, nil
		}
	}
	if len(names) == 0 {
		return "", errors.New("it holds only a digest of the session's name: say the name with --name")
	}
	return "", fmt.Errorf("it is not the record of a session named %s", strings.Join(names, " or "))
}

// agentName is the agent of a foreign route, as it is called here; "" when the record does not say.
func (r foreignRoute) agentName() string {
	if r.launcher != "" {
		return r.launcher
	}
	for name, adapters := range map[string]string{"claude": `claude-agent-acp|claude-code-acp`, "codex": `codex-acp`} {
		if r.agent == name || regexp.MustCompile(`(^|[/\s"'])(`+adapters+`)(@|["'\s]|$)`).MatchString(r.agent) {
			return name
		}
	}
	return ""
}

// provenance and transport are what of a foreign route goes into ours.
func (r foreignRoute) provenance() string {
	if r.route == clientNative {
		return store.ClientAllocated
	}
	return store.PersonAsserted // the record names no conversation: the person does
}

func (r foreignRoute) transport() string {
	if r.route == clientNative {
		return store.TransportNative
	}
	return store.TransportACP
}

// members reads one JSON object with nothing behind it, no member twice.
func members(data []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return nil, jsonProblem(data, err)
	}
	if open != json.Delim('{') {
		return nil, errors.New("1:1: it is no JSON object")
	}
	m := map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, jsonProblem(data, err)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, jsonProblem(data, err)
		}
		if _, twice := m[name.(string)]; twice {
			return nil, fmt.Errorf("the member %q stands there twice", name)
		}
		m[name.(string)] = raw
	}
	if _, err := dec.Token(); err != nil {
		return nil, jsonProblem(data, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return m, errMore
	}
	return m, nil
}

// errMore comes with the members of the first object.
var errMore = errors.New("something stands behind the object")
