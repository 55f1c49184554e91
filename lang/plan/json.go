package plan

import (
	_ "embed"
	"encoding/json"
	"io"
	"slices"

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
		Tools       []jsonTool    `json:"tools,omitempty"`   // what agents are offered, those of component files included
		Servers     []jsonServer  `json:"servers,omitempty"` // MCP servers that the document names
		Permissions []string      `json:"permissions"`       // policies that the document declares
		Bounds      []jsonBound   `json:"bounds"`
		Returns     any           `json:"returns,omitempty"`    // a schema: the document is a value
		Components  []jsonFile    `json:"components,omitempty"` // component files, each once
	}
	// jsonFile is the plan of a component file.
	jsonFile struct {
		Document string      `json:"document"`
		Digest   string      `json:"digest"`
		Props    []jsonProp  `json:"props"`
		Env      []jsonEnv   `json:"env,omitempty"`
		Steps    []jsonStep  `json:"steps"`
		Bounds   []jsonBound `json:"bounds"`
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
		Secret   bool    `json:"secret,omitempty"`
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
		Once         bool       `json:"once,omitempty"`
		TimeoutMS    int64      `json:"timeoutMs,omitempty"`
		Cwd          string     `json:"cwd,omitempty"`

		Scope    string              `json:"scope,omitempty"` // whose unnamed session a prompt continues
		Model    *jsonUse            `json:"model,omitempty"`
		Effort   *jsonUse            `json:"effort,omitempty"`
		Mode     *jsonUse            `json:"mode,omitempty"`
		Schema   *jsonSchema         `json:"schema,omitempty"`
		Resend   string              `json:"resend,omitempty"`
		In       *jsonUse            `json:"in,omitempty"`
		Let      string              `json:"let,omitempty"`
		Collect  *jsonUse            `json:"collect,omitempty"`
		Branches []jsonBranch        `json:"branches,omitempty"`
		Message  *jsonUse            `json:"message,omitempty"`
		Policy   string              `json:"policy,omitempty"`
		Deny     *jsonUse            `json:"deny,omitempty"`
		Allow    *jsonUse            `json:"allow,omitempty"`
		Name     string              `json:"name,omitempty"` // of a component
		File     string              `json:"file,omitempty"` // of a component
		Props    map[string]*jsonUse `json:"props,omitempty"`
		Slot     string              `json:"slot,omitempty"`
		Path     *jsonUse            `json:"path,omitempty"`
		Include  *jsonUse            `json:"include,omitempty"`
		Exclude  *jsonUse            `json:"exclude,omitempty"`
		URL      *jsonUse            `json:"url,omitempty"`
		Method   string              `json:"method,omitempty"`
		Choices  *jsonUse            `json:"choices,omitempty"`
		Initial  *jsonUse            `json:"default,omitempty"`

		Instructions bool `json:"instructions,omitempty"` // of a launch

		Description  string   `json:"description,omitempty"` // of a tool
		Server       *jsonUse `json:"server,omitempty"`      // the name of an MCP server
		Headers      *jsonUse `json:"headers,omitempty"`
		Command      *jsonUse `json:"command,omitempty"`
		Args         *jsonUse `json:"args,omitempty"`
		Env          *jsonUse `json:"env,omitempty"`
		Conversation string   `json:"conversation,omitempty"` // of a conversation, and of a prompt or component in one
		OnLost       string   `json:"onLost,omitempty"`

		Files     string   `json:"files,omitempty"`  // of a test
		Script    *jsonUse `json:"script,omitempty"` // of a testagent: a file
		Rules     int      `json:"rules,omitempty"`  // of a testagent: how many the document holds
		Src       *jsonUse `json:"src,omitempty"`    // of a run
		Input     *jsonUse `json:"input,omitempty"`  // of a run: the props
		Answers   *jsonUse `json:"answers,omitempty"`
		Assertion string   `json:"assertion,omitempty"` // holds, equals, contains, matches, throws
		Actual    *jsonUse `json:"actual,omitempty"`
		Expected  *jsonUse `json:"expected,omitempty"` // the part, the pattern, the kind too
	}
	// jsonSchema is a schema that is known, with the path of its file if it has one, or its expression.
	jsonSchema struct {
		Value      any    `json:"value,omitempty"`
		Path       string `json:"path,omitempty"`
		Expression string `json:"expression,omitempty"`
	}
	jsonBranch struct {
		Step  string   `json:"step"`
		Binds []string `json:"binds,omitempty"`
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
		Launches int     `json:"launches,omitempty"`
		Position string  `json:"position"`
		Scope    string  `json:"scope,omitempty"`

		Conversation string `json:"conversation,omitempty"`
	}
	jsonTool struct {
		Name        string      `json:"name"`
		Description string      `json:"description,omitempty"`
		Schema      *jsonSchema `json:"schema,omitempty"`
		TimeoutMS   int64       `json:"timeoutMs,omitempty"`
		Position    string      `json:"position"`
	}
	jsonServer struct {
		Name     *jsonUse `json:"name"`
		URL      *jsonUse `json:"url,omitempty"`
		Command  *jsonUse `json:"command,omitempty"`
		Position string   `json:"position"`
	}
	// jsonBound has one of the limits, a number or an expression.
	jsonBound struct {
		Step      string `json:"step"`
		TimeoutMS any    `json:"timeoutMs,omitempty"`
		Rounds    any    `json:"rounds,omitempty"`
		AtOnce    any    `json:"atOnce,omitempty"`
		Retries   any    `json:"retries,omitempty"`
	}
)

// WriteJSON writes the plan as one JSON object that fits JSONSchema, indented by two spaces. The same plan gives the same
// bytes. The first write error is returned.
func (p *Plan) WriteJSON(w io.Writer) error {
	j := jsonPlan{V: 1, Document: p.Source.Name, Digest: p.Digest, Props: []jsonProp{}, Env: []jsonEnv{}, Steps: []jsonStep{},
		Agents: []jsonAgent{}, Sessions: []jsonSession{}, Permissions: []string{}, Bounds: []jsonBound{}}
	j.Props, j.Env = p.jsonProps(), append(j.Env, p.jsonEnv()...)
	j.Steps, j.Bounds = p.jsonSteps(), p.jsonBounds()
	if p.Returns != nil {
		j.Returns = p.Returns.Value()
	}
	for _, a := range p.Agents() {
		j.Agents = append(j.Agents, jsonAgent{*jsonOf(a.Use), a.Source.At(a.Pos.Start)})
	}
	for _, s := range p.Sessions() {
		j.Sessions = append(j.Sessions, jsonSession{*jsonOf(s.Session), *jsonOf(s.Agent), s.Prompts, s.Launches, s.Source.At(s.Pos.Start), s.Scope, talkOf(s.Conversation)})
	}
	j.Tools, j.Servers = p.jsonTools(), p.jsonServers()
	for _, doc := range p.Documents() {
		for _, it := range doc.Items() {
			if n, ok := it.Node.(*Policy); ok && !slices.Contains(j.Permissions, n.String()) {
				j.Permissions = append(j.Permissions, n.String())
			}
		}
	}
	for _, doc := range p.Documents()[1:] {
		j.Components = append(j.Components, jsonFile{doc.Source.Name, doc.Digest, doc.jsonProps(), doc.jsonEnv(), doc.jsonSteps(), doc.jsonBounds()})
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(j)
}

func (p *Plan) jsonEnv() []jsonEnv {
	var list []jsonEnv
	for _, e := range p.Inputs.Env {
		out := jsonEnv{Name: e.Name, Required: e.Required, Secret: e.Secret}
		if e.HasDefault {
			out.Default = &e.Default
		}
		list = append(list, out)
	}
	return list
}

func (p *Plan) jsonProps() []jsonProp {
	list := []jsonProp{}
	for _, in := range p.Inputs.Props {
		out := jsonProp{Name: in.Name, Schema: in.Raw, Required: in.Required, Flag: "--props-" + in.Name, Variable: resolve.Variable(in.Name)}
		if in.HasDefault {
			out.Default = &in.Default
		}
		list = append(list, out)
	}
	return list
}

func (p *Plan) jsonSteps() []jsonStep {
	list := []jsonStep{}
	for _, it := range p.Items() {
		list = append(list, p.jsonStep(it))
	}
	return list
}

func (p *Plan) jsonBounds() []jsonBound {
	list := []jsonBound{}
	for _, b := range p.Bounds() {
		var v any = b.Number
		if b.Expr != "" {
			v = &jsonUse{Expression: b.Expr}
		}
		out := jsonBound{Step: b.Step}
		switch b.Kind {
		case Rounds:
			out.Rounds = v
		case AtOnce:
			out.AtOnce = v
		case Retries:
			out.Retries = v
		case Timeout:
			out.TimeoutMS = v
		}
		list = append(list, out)
	}
	return list
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
	s := jsonStep{ID: it.ID, Position: p.Source.At(it.Pos.Start), Depth: it.Depth, Throws: it.Throws, Conversation: talkOf(it.Conversation)}
	switch n := it.Node.(type) {
	case *Prompt:
		s.Kind, s.Agent, s.Session = "prompt", jsonOf(it.Agent), jsonOf(it.Session)
		s.Text, s.As, s.ThrowOnError = jsonArg(n.Text), n.As, jsonArg(n.ThrowIf)
		s.Scope, s.Schema, s.Resend, s.TimeoutMS = it.Scope, schemaJSON(n.Schema), resendText(n), n.TimeoutMS
	case *Launch:
		s.Kind, s.Agent, s.Session = "launch", jsonOf(it.Agent), jsonOf(it.Session)
		s.Scope, s.Instructions = it.Scope, n.Instructions
	case *Agent:
		s.Kind, s.Agent = "agent", jsonOf(it.Agent)
		s.Model, s.Effort, s.Mode = jsonArg(n.Model), jsonArg(n.Effort), jsonArg(n.Mode)
	case *Session:
		s.Kind, s.Session, s.Scope = "session", jsonOf(it.Session), it.Scope
	case *Let:
		s.Kind, s.As, s.Value = "let", n.As, jsonArg(n.Value)
	case *If:
		s.Kind, s.Condition = "if", jsonArg(n.Cond)
	case *Exec:
		s.Kind, s.As, s.Language, s.FirstLine = "exec", n.As, n.Lang, n.FirstLine
		s.Silent, s.Lax, s.Once, s.TimeoutMS, s.Cwd = n.Silent, n.Lax, n.Once, n.TimeoutMS, n.Cwd
		for _, w := range n.With {
			s.With = append(s.With, jsonWith{w.Name, w.File})
		}
	default:
		s.control(n)
		s.effect(n)
		s.offer(n)
		s.testing(n)
	}
	return s
}
