package plan

import (
	_ "embed"
	"encoding/json"
	"io"

	"xmd/lang/resolve"
)

// JSONSchema is the schema of what WriteJSON writes (JSON Schema 2020-12).
//
//go:embed plan.schema.json
var JSONSchema string

// The shapes of the plan as JSON. Fields are written in this order.
type (
	jsonPlan struct {
		V           int           `json:"v"`
		Document    string        `json:"document"`
		Digest      string        `json:"digest"`
		Props       []jsonProp    `json:"props"`
		Env         []jsonEnv     `json:"env"`
		Steps       []jsonStep    `json:"steps"`
		Agents      []jsonAgent   `json:"agents"`
		Sessions    []jsonSession `json:"sessions"`
		Permissions []string      `json:"permissions"` // policies that the document declares
		Bounds      []jsonBound   `json:"bounds"`
	}
	jsonProp struct {
		Name     string `json:"name"`
		Schema   any    `json:"schema"`
		Required bool   `json:"required"`
		Default  *any   `json:"default,omitempty"`
		Flag     string `json:"flag"`
		Variable string `json:"variable"`
	}
	jsonEnv struct {
		Name     string  `json:"name"`
		Required bool    `json:"required"`
		Default  *string `json:"default,omitempty"`
	}
	// jsonUse is a value that is known, or its expression, or {"default": true}: the run decides.
	jsonUse struct {
		Value      string `json:"value,omitempty"`
		Expression string `json:"expression,omitempty"`
		Default    bool   `json:"default,omitempty"`
	}
	jsonStep struct {
		ID           string     `json:"id"`
		Kind         string     `json:"kind"`
		Position     string     `json:"position"`
		Depth        int        `json:"depth"`
		Agent        *jsonUse   `json:"agent,omitempty"`
		Session      *jsonUse   `json:"session,omitempty"`
		Text         *jsonUse   `json:"text,omitempty"`
		Value        *jsonUse   `json:"value,omitempty"`
		Condition    *jsonUse   `json:"condition,omitempty"`
		As           string     `json:"as,omitempty"`
		Throws       bool       `json:"throws,omitempty"`
		ThrowOnError *jsonUse   `json:"throwOnError,omitempty"`
		Language     string     `json:"language,omitempty"`
		FirstLine    string     `json:"firstLine,omitempty"`
		With         []jsonWith `json:"with,omitempty"`
		Silent       bool       `json:"silent,omitempty"`
		Lax          bool       `json:"lax,omitempty"`
		TimeoutMS    int64      `json:"timeoutMs,omitempty"`
		Cwd          string     `json:"cwd,omitempty"`
	}
	jsonWith struct {
		Name string `json:"name"`
		File bool   `json:"file,omitempty"`
	}
	jsonAgent struct {
		jsonUse
		Position string `json:"position"`
	}
	jsonSession struct {
		Session  jsonUse `json:"session"`
		Agent    jsonUse `json:"agent"`
		Prompts  int     `json:"prompts"`
		Position string  `json:"position"`
	}
	jsonBound struct {
		Step      string `json:"step"`
		TimeoutMS int64  `json:"timeoutMs"`
	}
)

// WriteJSON writes the plan as one JSON object that fits JSONSchema, indented by two spaces. The same plan gives the same
// bytes. The first write error is returned.
func (p *Plan) WriteJSON(w io.Writer) error {
	j := jsonPlan{V: 1, Document: p.Source.Name, Digest: p.Digest, Props: []jsonProp{}, Env: []jsonEnv{}, Steps: []jsonStep{},
		Agents: []jsonAgent{}, Sessions: []jsonSession{}, Permissions: []string{}, Bounds: []jsonBound{}}
	p.jsonInputs(&j)
	for _, it := range p.Items() {
		s := p.jsonStep(it)
		if s.TimeoutMS != 0 {
			j.Bounds = append(j.Bounds, jsonBound{s.ID, s.TimeoutMS})
		}
		j.Steps = append(j.Steps, s)
	}
	for _, a := range p.Agents() {
		j.Agents = append(j.Agents, jsonAgent{*jsonOf(a.Use), p.Source.At(a.Pos.Start)})
	}
	for _, s := range p.Sessions() {
		j.Sessions = append(j.Sessions, jsonSession{*jsonOf(s.Session), *jsonOf(s.Agent), s.Prompts, p.Source.At(s.Pos.Start)})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(j)
}

func (p *Plan) jsonInputs(j *jsonPlan) {
	for _, in := range p.Inputs.Props {
		out := jsonProp{Name: in.Name, Schema: in.Raw, Required: in.Required, Flag: "--props-" + in.Name, Variable: resolve.Variable(in.Name)}
		if in.HasDefault {
			out.Default = &in.Default
		}
		j.Props = append(j.Props, out)
	}
	for _, e := range p.Inputs.Env {
		out := jsonEnv{Name: e.Name, Required: e.Required}
		if e.HasDefault {
			out.Default = &e.Default
		}
		j.Env = append(j.Env, out)
	}
}

func jsonOf(u Use) *jsonUse {
	return &jsonUse{Value: u.Value, Expression: u.Expr, Default: u == Use{}}
}

// jsonArg is an argument as it was written; nil if it was not given.
func jsonArg(a Arg) *jsonUse {
	switch {
	case !a.Given:
		return nil
	case a.Expr != nil:
		return &jsonUse{Expression: a.Expr.Source}
	}
	return &jsonUse{Value: a.Literal}
}

func (p *Plan) jsonStep(it Item) jsonStep {
	s := jsonStep{ID: it.ID, Position: p.Source.At(it.Pos.Start), Depth: it.Depth, Throws: it.Throws}
	switch n := it.Node.(type) {
	case *Prompt:
		s.Kind, s.Agent, s.Session = "prompt", jsonOf(it.Agent), jsonOf(it.Session)
		s.Text, s.As, s.ThrowOnError = jsonArg(n.Text), n.As, jsonArg(n.ThrowIf)
	case *Agent:
		s.Kind, s.Agent = "agent", jsonOf(it.Agent)
	case *Session:
		s.Kind, s.Session = "session", jsonOf(it.Session)
	case *Let:
		s.Kind, s.As, s.Value = "let", n.As, jsonArg(n.Value)
	case *If:
		s.Kind, s.Condition = "if", jsonArg(n.Cond)
	case *Exec:
		s.Kind, s.As, s.Language, s.FirstLine = "exec", n.As, n.Lang, n.FirstLine
		s.Silent, s.Lax, s.TimeoutMS, s.Cwd = n.Silent, n.Lax, n.TimeoutMS, n.Cwd
		for _, w := range n.With {
			s.With = append(s.With, jsonWith{w.Name, w.File})
		}
	}
	return s
}
