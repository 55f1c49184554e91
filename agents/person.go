package agents

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

// person is whose settings of one agent are looked at. Nothing is written.
type person struct {
	agent Profile
	home  string   // where the agent keeps its conversations; "" unknown
	root  string   // the folder it would work in
	env   []string // the agent's
}

// say makes a finding about the agent.
func (p person) say(level Level, do, format string, args ...any) Finding {
	return Finding{level, p.agent.Name, fmt.Sprintf(format, args...), do}
}

// readJSON reads a settings file, in which there may be comments. A file that is not there is read as nothing; fault is about one that
// cannot be read.
func (p person) readJSON(file string, into any) (there bool, fault []Finding) {
	return p.read(file, into, func(data []byte, into any) error {
		plain, err := hujson.Standardize(data)
		if err != nil {
			return err
		}
		return json.Unmarshal(plain, into)
	})
}

// readTOML is readJSON for the other form.
func (p person) readTOML(file string, into any) (there bool, fault []Finding) {
	return p.read(file, into, toml.Unmarshal)
}

func (p person) read(file string, into any, parse func([]byte, any) error) (there bool, fault []Finding) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = parse(data, into)
	}
	if err == nil {
		return true, nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return true, []Finding{p.say(Problem, "mend "+file, "%s cannot be read: %s", file, strings.TrimPrefix(err.Error(), "toml: "))}
}

// get is the last value of a name in the agent's environment; "" when there is none.
func (p person) get(name string) string { return envValue(p.env, name) }

// above says whether a test holds of the folder it would work in or of one above it.
func (p person) above(test func(dir string) bool) bool {
	for dir := p.root; ; dir = filepath.Dir(dir) {
		if test(dir) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}
