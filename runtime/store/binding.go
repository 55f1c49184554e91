package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// bindingSchema names how older builds recorded the build of the agent that a session was constructed with.
const bindingSchema = "executable-build.v1"

// binding is such a record. Both facts may be missing: history that nobody wrote down is no reason to refuse a session.
type binding struct {
	Schema           string       `json:"schema"`
	ReportedVersion  string       `json:"reportedVersion,omitempty"`
	ExecutableDigest *boundDigest `json:"executableDigest,omitempty"`
}

// boundDigest is a SHA-256, written as its hex digits or as {"algorithm":"sha256","value":"…"}. It is written as it was read.
type boundDigest struct {
	value  string
	object bool
}

type digestJSON struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"value"`
}

// UnmarshalJSON reads either form.
func (d *boundDigest) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		d.object = false
		return json.Unmarshal(data, &d.value)
	}
	var j digestJSON
	if err := strictJSON(data, &j); err != nil {
		return err
	}
	if j.Algorithm != "sha256" {
		return fmt.Errorf("executableDigest: the algorithm %q", j.Algorithm)
	}
	d.value, d.object = j.Value, true
	return nil
}

// MarshalJSON writes the form that was read.
func (d boundDigest) MarshalJSON() ([]byte, error) {
	if d.object {
		return json.Marshal(digestJSON{"sha256", d.value})
	}
	return json.Marshal(d.value)
}

var hexDigest = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{64}$`) })

// versionToken is what is kept of a version: a binding holds the words around it too, such as "codex-cli 0.153.2".
var versionToken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\d+(\.\d+)+([-+][0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?`)
})

// established is what a record says of the agent's build, nil for nothing.
func (j routeJSON) established() (*Established, error) {
	given := 0
	for _, there := range []bool{j.Established != nil, j.Binding != nil, j.ExecutableBinding != nil} {
		if there {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, errors.New("the build is recorded twice")
	case j.Established != nil:
		if *j.Established == (Established{}) {
			return nil, errors.New("established is empty")
		}
		return j.Established, nil
	case j.Binding != nil:
		return j.Binding.established()
	case j.ExecutableBinding != nil:
		return j.ExecutableBinding.established()
	}
	return nil, nil
}

func (b *binding) established() (*Established, error) {
	if b.Schema != bindingSchema {
		return nil, fmt.Errorf("binding schema %q", b.Schema)
	}
	est := Established{Version: versionToken().FindString(strings.ToValidUTF8(b.ReportedVersion, ""))}
	if d := b.ExecutableDigest; d != nil {
		if !hexDigest().MatchString(d.value) {
			return nil, errors.New("executableDigest: no SHA-256 in hex")
		}
		est.Digest = d.value
	}
	if est == (Established{}) {
		return nil, nil
	}
	return &est, nil
}

// ReadBinding reads an `executable-build.v1` record, as strictly as one in a route: nil when it holds neither version nor digest.
// Errors match ErrUnaccountable.
func ReadBinding(data []byte) (*Established, error) {
	var b binding
	if err := strictJSON(data, &b); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	est, err := b.established()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnaccountable, err)
	}
	return est, nil
}
