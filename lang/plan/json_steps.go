package plan

// schemaJSON is a schema argument; nil if it was not given.
func schemaJSON(s SchemaArg) *jsonSchema {
	switch {
	case !s.Given:
		return nil
	case s.Schema != nil:
		return &jsonSchema{Value: s.Schema.Value(), Path: s.Path}
	}
	return &jsonSchema{Expression: s.Expr.Expr.Source}
}

// control fills in a step of control.go.
func (s *jsonStep) control(n Node) {
	switch n := n.(type) {
	case *Each:
		s.Kind, s.In, s.Let, s.As, s.Collect = "each", jsonArg(n.In), n.Let, n.As, jsonArg(n.Collect)
	case *Loop:
		s.Kind = "loop"
	case *Break:
		s.Kind = "break"
	case *Parallel:
		s.Kind = "parallel"
		for i, b := range n.Branches {
			s.Branches = append(s.Branches, jsonBranch{n.ID + "/branch" + number(i+1), b.Binds})
		}
	case *Try:
		s.Kind, s.As = "try", n.As
	case *Fail:
		s.Kind, s.Message = "fail", jsonArg(n.Message)
	case *Output:
		s.Kind = "output"
	case *Return:
		s.Kind, s.Value = "return", jsonArg(n.Value)
	case *Policy:
		s.Kind, s.Policy, s.Deny, s.Allow = "policy", n.Policy, jsonArg(n.Deny), jsonArg(n.Allow)
	case *Component:
		s.Kind, s.Name, s.File, s.As = "component", n.Name, n.Document.Source.Name, n.As
		for _, name := range sortedKeys(n.Props) {
			if s.Props == nil {
				s.Props = map[string]*jsonUse{}
			}
			s.Props[name] = jsonArg(n.Props[name])
		}
	case *Content:
		s.Kind, s.Slot = "content", n.Slot
	}
}

// effect fills in a step of effects.go.
func (s *jsonStep) effect(n Node) {
	switch n := n.(type) {
	case *File:
		s.Kind, s.Path, s.As = "read", jsonArg(n.Path), n.As
		if n.Write {
			s.Kind = "write"
		}
	case *Glob:
		s.Kind, s.Include, s.Exclude, s.As = "glob", jsonArg(n.Include), jsonArg(n.Exclude), n.As
	case *TempDir:
		s.Kind, s.As = "tempdir", n.As
	case *Json:
		s.Kind, s.Value, s.As = "json", jsonArg(n.Value), n.As
	case *Parse:
		s.Kind, s.Schema, s.As = "parse", schemaJSON(n.Schema), n.As
		if n.Safe {
			s.Kind = "safeparse"
		}
	case *Fetch:
		s.Kind, s.URL, s.Method, s.TimeoutMS, s.As = "fetch", jsonArg(n.URL), n.Method, n.TimeoutMS, n.As
	case *Elicit:
		s.Kind, s.Schema, s.Choices, s.Initial, s.As = "elicit", schemaJSON(n.Schema), jsonArg(n.Choices), jsonArg(n.Default), n.As
	}
}

// offer fills in a step of offers.go.
func (s *jsonStep) offer(n Node) {
	switch n := n.(type) {
	case *Tool:
		s.Kind, s.Name, s.Description, s.Schema, s.TimeoutMS = "tool", n.Name, n.Description, schemaJSON(n.schemaArg()), n.TimeoutMS
	case *Mcp:
		s.Kind, s.Server, s.URL, s.Headers = "mcp", jsonArg(n.Name), jsonArg(n.URL), jsonArg(n.Headers)
		s.Command, s.Args, s.Env = jsonArg(n.Command), jsonArg(n.Args), jsonArg(n.Env)
	case *Instructions:
		s.Kind = "instructions"
	case *Conversation:
		s.Kind, s.Conversation, s.OnLost = "conversation", n.talk(), n.OnLost
	}
}

// jsonTools lists the tools of a plan.
func (p *Plan) jsonTools() []jsonTool {
	var list []jsonTool
	for _, u := range p.Tools() {
		list = append(list, jsonTool{u.Name, u.Description, schemaJSON(u.schemaArg()), u.TimeoutMS, u.Source.At(u.Pos.Start)})
	}
	return list
}

// jsonServers lists the MCP servers of a plan.
func (p *Plan) jsonServers() []jsonServer {
	var list []jsonServer
	for _, u := range p.Servers() {
		list = append(list, jsonServer{jsonArg(u.Name), jsonArg(u.URL), jsonArg(u.Command), u.Source.At(u.Pos.Start)})
	}
	return list
}
