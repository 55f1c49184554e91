package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// RouteSchema names the only form of route record that this build writes.
const RouteSchema = "session-route.v1"

// Transports that a route can name. TransportNative stands in routes only.
const (
	TransportACP       = "acp"
	TransportAppServer = "app-server"
	TransportNative    = "native"
)

// Provenances: who chose the native id.
const (
	ProviderAsserted = "provider-asserted"
	ClientAllocated  = "client-allocated"
	PersonAsserted   = "person-asserted"
)

// Route is the create-once record of how one generation of a session was constructed. It is never changed or deleted.
// Its root is the only path that a record of this kind holds.
type Route struct {
	Key
	// RecordedRoot is the root that the record names when the session was moved since and Key has the one where it lives now; else
	// empty.
	RecordedRoot      string
	Transport         string
	NativeSessionID   string
	Provenance        string
	InstructionDigest string       // hex SHA-256; empty: no instructions were given
	CreatedAt         time.Time    // stored in UTC
	Established       *Established // nil: nothing was observed
}

// Established is what was observed of the agent's build when the session was first constructed. It is history: it
// may be shown and compared, and never decides whether the session can be used.
type Established struct {
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// routeJSON is the stored form; the order of the fields is part of it. Of the last three at most one is there: this build writes
// Established, older ones wrote a binding.
type routeJSON struct {
	Schema            string       `json:"schema"`
	Agent             string       `json:"agent"`
	Session           string       `json:"session"`
	Root              string       `json:"root"`
	Generation        int          `json:"generation"`
	Transport         string       `json:"transport"`
	NativeSessionID   string       `json:"nativeSessionId"`
	Provenance        string       `json:"provenance"`
	InstructionDigest string       `json:"instructionDigest,omitempty"`
	CreatedAt         string       `json:"createdAt"`
	Established       *Established `json:"established,omitempty"`
	Binding           *binding     `json:"binding,omitempty"`
	ExecutableBinding *binding     `json:"executableBinding,omitempty"`
}

// MarshalJSON writes the stored form, `session-route.v1`.
func (r Route) MarshalJSON() ([]byte, error) {
	est := r.Established
	if est != nil && *est == (Established{}) {
		est = nil
	}
	root := r.Root
	if r.RecordedRoot != "" {
		root = r.RecordedRoot
	}
	return json.Marshal(routeJSON{
		Schema: RouteSchema, Agent: r.Agent, Session: r.Session, Root: root, Generation: r.Generation, Transport: r.Transport,
		NativeSessionID: r.NativeSessionID, Provenance: r.Provenance, InstructionDigest: r.InstructionDigest,
		CreatedAt: r.CreatedAt.UTC().Format(time.RFC3339Nano), Established: est,
	})
}

// UnmarshalJSON reads the stored form, this build's or an older one's, strictly: unknown fields, another schema or values outside
// their lists are errors that match ErrUnaccountable.
func (r *Route) UnmarshalJSON(data []byte) error {
	j, err := readRoute(data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	got, err := j.route()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	*r = got
	return nil
}

// strictJSON reads one JSON value with no member that is not known, and nothing behind it.
func strictJSON(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF { // More would take a closing bracket for the end
		return errors.New("something stands behind it")
	}
	return nil
}

func readRoute(data []byte) (routeJSON, error) {
	var j routeJSON
	if err := strictJSON(data, &j); err != nil {
		return j, err
	}
	if j.Schema != RouteSchema {
		return j, fmt.Errorf("route schema %q", j.Schema)
	}
	return j, nil
}

func (j routeJSON) route() (Route, error) {
	created, err := time.Parse(time.RFC3339Nano, j.CreatedAt)
	if err != nil {
		return Route{}, fmt.Errorf("createdAt: %w", err)
	}
	est, err := j.established()
	if err != nil {
		return Route{}, err
	}
	r := Route{
		Key: Key{j.Agent, j.Session, j.Root, j.Generation}, Transport: j.Transport, NativeSessionID: j.NativeSessionID,
		Provenance: j.Provenance, InstructionDigest: j.InstructionDigest, CreatedAt: created, Established: est,
	}
	return r, r.validate()
}

func (r Route) validate() error {
	if err := r.Key.validate(); err != nil {
		return err
	}
	switch {
	case !r.SessionKey().Named():
		return errors.New("route: an unnamed session has none")
	case r.NativeSessionID == "":
		return errors.New("route: the native id is empty")
	case r.Transport != TransportACP && r.Transport != TransportAppServer && r.Transport != TransportNative:
		return fmt.Errorf("route: transport %q", r.Transport)
	case r.Provenance != ProviderAsserted && r.Provenance != ClientAllocated && r.Provenance != PersonAsserted:
		return fmt.Errorf("route: provenance %q", r.Provenance)
	case r.CreatedAt.IsZero():
		return errors.New("route: createdAt is missing")
	}
	return nil
}

// encode returns the stored form and the sum that guards it.
func (r Route) encode() (record, sum string, err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return "", "", err
	}
	return string(data), digestOf(data), nil
}

// decodeRoute reads a stored route and insists that it is, byte for byte, what this build or an older one would have written for
// key: the same record with its members in their order, nothing between them and nothing left empty.
func decodeRoute(key Key, record, sum string) (Route, error) {
	if digestOf([]byte(record)) != sum {
		return Route{}, fmt.Errorf("%w: the record does not match its sum", ErrUnaccountable)
	}
	j, err := readRoute([]byte(record))
	if err != nil {
		return Route{}, fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	r, err := j.route()
	if err != nil {
		return Route{}, fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	again, err := json.Marshal(j)
	if err != nil || string(again) != record || r.CreatedAt.UTC().Format(time.RFC3339Nano) != j.CreatedAt {
		return Route{}, fmt.Errorf("%w: the record is not in its canonical form", ErrUnaccountable)
	}
	if r.Key != key {
		return Route{}, fmt.Errorf("%w: the record stands under another key", ErrUnaccountable)
	}
	return r, nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
