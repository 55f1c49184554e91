package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
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

// routeJSON is the stored form; the order of the fields is part of it.
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
}

// MarshalJSON writes the stored form, `session-route.v1`.
func (r Route) MarshalJSON() ([]byte, error) {
	est := r.Established
	if est != nil && *est == (Established{}) {
		est = nil
	}
	return json.Marshal(routeJSON{
		RouteSchema, r.Agent, r.Session, r.Root, r.Generation, r.Transport, r.NativeSessionID, r.Provenance,
		r.InstructionDigest, r.CreatedAt.UTC().Format(time.RFC3339Nano), est,
	})
}

// UnmarshalJSON reads the stored form strictly: unknown fields, another schema or values outside their lists are
// errors that match ErrUnaccountable.
func (r *Route) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var j routeJSON
	if err := dec.Decode(&j); err != nil {
		return fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	if j.Schema != RouteSchema {
		return fmt.Errorf("%w: route schema %q", ErrUnaccountable, j.Schema)
	}
	created, err := time.Parse(time.RFC3339Nano, j.CreatedAt)
	if err != nil {
		return fmt.Errorf("%w: createdAt: %w", ErrUnaccountable, err)
	}
	got := Route{
		Key{j.Agent, j.Session, j.Root, j.Generation}, j.Transport, j.NativeSessionID, j.Provenance,
		j.InstructionDigest, created, j.Established,
	}
	if err := got.validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	*r = got
	return nil
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

// decodeRoute reads a stored route and insists that it is, byte for byte, what this build would have written for key.
func decodeRoute(key Key, record, sum string) (Route, error) {
	if digestOf([]byte(record)) != sum {
		return Route{}, fmt.Errorf("%w: the record does not match its sum", ErrUnaccountable)
	}
	var r Route
	if err := r.UnmarshalJSON([]byte(record)); err != nil {
		return Route{}, err
	}
	if again, _, err := r.encode(); err != nil || again != record {
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
