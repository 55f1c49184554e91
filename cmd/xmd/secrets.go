package main

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"

	"xmd/lang/plan"
	"xmd/runtime"
	"xmd/runtime/secret"
)

// secrets are what a run declares as secret: under env: of its document and of the component files that it uses, by --secret, by XMD_SECRETS
// and by the configuration. A nil plan declares none. A variable of the last two that is not set is no secret of the run. An error is one of
// usage; no value is in it.
func (h *host) secrets(p *program, c *call, compiled *plan.Plan) (*secret.Set, error) {
	names := slices.Clone(c.StringSlice("secret"))
	listed := strings.FieldsFunc(p.env.get("XMD_SECRETS"), func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range slices.Concat(listed, h.config.Secrets) {
		if _, set := p.env.lookup(name); set {
			names = append(names, name)
		}
	}
	return p.secretsOf(compiled, names)
}

// secretsOf is secrets with the names of the flag. A variable under env: that is not set is no secret of the run, as its value is null; one
// of the flag must be set.
func (p *program) secretsOf(compiled *plan.Plan, flags []string) (*secret.Set, error) {
	values := map[string]string{}
	for _, name := range flags {
		if name, _, mistaken := strings.Cut(name, "="); mistaken {
			return nil, runtime.Errorf(runtime.KindUsage, "--secret %s=…: it takes the name of a variable alone, the value comes from the environment", name)
		}
		value, ok := p.env.lookup(name)
		if !ok {
			return nil, runtime.Errorf(runtime.KindUsage, "--secret %s: the variable is not set", name)
		}
		if err := secret.Check(name, value); err != nil {
			return nil, runtime.Errorf(runtime.KindUsage, "--secret %s: %w", name, err)
		}
		values[name] = value
	}
	if compiled == nil {
		return secret.New(values)
	}
	for _, doc := range compiled.Documents() {
		for _, e := range doc.Inputs.Env {
			value, ok := p.env.lookup(e.Name)
			if !e.Secret || !ok {
				continue
			}
			if err := secret.Check(e.Name, value); err != nil {
				return nil, runtime.Errorf(runtime.KindUsage, "%s: %w", doc.Source.At(e.Pos.Start), err)
			}
			values[e.Name] = value
		}
	}
	return secret.New(values)
}

// hidden is a writer that shows no secret.
func hidden(w io.Writer, secrets *secret.Set) io.Writer {
	if secrets == nil {
		return w
	}
	return &hiding{w: w, masker: secrets.Masker()}
}

// hiding holds back what may be the beginning of a secret until the line ends.
type hiding struct {
	mu     sync.Mutex
	w      io.Writer
	masker *secret.Masker
}

func (h *hiding) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text := h.masker.Write(string(p))
	if bytes.HasSuffix(p, []byte{'\n'}) {
		text += h.masker.Flush()
	}
	if _, err := io.WriteString(h.w, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// recordedSecrets are the values of today of the secrets that a run declared; none may be missing.
func (p *program) recordedSecrets(run string, names []string) (*secret.Set, error) {
	values := map[string]string{}
	for _, name := range names {
		value, ok := p.env.lookup(name)
		if !ok {
			return nil, runtime.Errorf(runtime.KindUsage, "run %s uses the secret %s, which is not set here; set the variable and try again", run, name)
		}
		if err := secret.Check(name, value); err != nil {
			return nil, runtime.Errorf(runtime.KindUsage, "the secret %s of run %s: %w", name, run, err)
		}
		values[name] = value
	}
	return secret.New(values)
}

// undeclared refuses an entry of a REPL whose component files declare a secret that the REPL was not started with: what was recorded and
// handed to agents before would hold it.
func (p *program) undeclared(entry *plan.Plan, known *secret.Set) error {
	declared, err := p.secretsOf(entry, nil)
	if err != nil {
		return err
	}
	for _, name := range declared.Names() {
		if !slices.Contains(known.Names(), name) {
			return runtime.Errorf(runtime.KindUsage, "the secret %s is not known in this REPL; start it with --secret %s", name, name)
		}
	}
	return nil
}
