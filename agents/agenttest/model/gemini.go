package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini is the Gemini API. Its address names the model and whether the answer is streamed, so there is one value for each request.
type gemini struct {
	model string
	live  bool
}

type geminiBody struct {
	Contents          []geminiContent `json:"contents"`
	SystemInstruction geminiContent   `json:"systemInstruction"`
	Tools             []struct {
		FunctionDeclarations []struct {
			Name                 string          `json:"name"`
			Parameters           json.RawMessage `json:"parameters"`
			ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema"`
		} `json:"functionDeclarations"`
	} `json:"tools"`
	GenerationConfig struct {
		ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
	} `json:"generationConfig"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

type geminiPart struct {
	Text         *string `json:"text"`
	Thought      bool    `json:"thought"`
	FunctionCall *struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		Response struct {
			Output json.RawMessage `json:"output"`
			Error  json.RawMessage `json:"error"`
		} `json:"response"`
	} `json:"functionResponse"`
}

// serveGemini takes the model and the method out of the address.
func (s *Server) serveGemini() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, method, _ := strings.Cut(r.PathValue("call"), ":")
		switch method {
		case "generateContent", "streamGenerateContent":
			s.serve(gemini{name, method == "streamGenerateContent"}).ServeHTTP(w, r)
		case "countTokens":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintln(w, `{"totalTokens":100}`)
		default:
			s.stray(w, r)
		}
	})
}

func (g gemini) parse(body []byte) (Request, error) {
	var in geminiBody
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, err
	}
	req := Request{API: "gemini", Model: g.model, Stream: g.live}
	for _, p := range in.SystemInstruction.Parts {
		if p.Text != nil {
			req.Instructions = append(req.Instructions, *p.Text)
		}
	}
	if in.GenerationConfig.ResponseJSONSchema != nil {
		req.schema = string(in.GenerationConfig.ResponseJSONSchema)
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			schema := f.ParametersJSONSchema
			if schema == nil {
				schema = f.Parameters
			}
			req.offer(f.Name, schema)
		}
	}
	for _, c := range in.Contents {
		c.into(&req)
	}
	req.Hidden = len(req.Tools) == 0 // the classifier of the model "auto" offers none
	return req, nil
}

func (c geminiContent) into(req *Request) {
	role := "user"
	if c.Role == "model" {
		role = "assistant"
	}
	for _, p := range c.Parts {
		switch {
		case p.FunctionCall != nil:
			req.Turns = append(req.Turns, Turn{"call", p.FunctionCall.Name + " " + string(p.FunctionCall.Args)})
		case p.FunctionResponse != nil:
			said := append(texts(p.FunctionResponse.Response.Output), texts(p.FunctionResponse.Response.Error)...)
			req.Turns = append(req.Turns, Turn{"result", strings.Join(said, "\n")})
		case p.Text != nil && !p.Thought:
			req.Turns = append(req.Turns, Turn{role, *p.Text})
		}
	}
}

func (gemini) refuse(w http.ResponseWriter, status int, message string) {
	refuseJSON(w, status, map[string]any{"error": map[string]any{
		"code": status, "message": message, "status": "SCRIPTED",
	}})
}

func (g gemini) write(out *stream, req Request, p reply) error {
	var all []any
	for i, pc := range p.pieces {
		if err := out.pause(p.delay); err != nil {
			return err
		}
		part := geminiShape(req, i, pc)
		all = append(all, part)
		if out.live {
			if err := out.data(g.frame(req, []any{part}, nil)); err != nil {
				return err
			}
		}
	}
	if err := out.end(p); err != nil {
		return err
	}
	in, produced := usage(req, p)
	used := map[string]any{"promptTokenCount": in, "candidatesTokenCount": produced, "totalTokenCount": in + produced}
	if !out.live {
		return out.whole(g.frame(req, all, used))
	}
	return out.data(g.frame(req, []any{map[string]any{"text": ""}}, used))
}

// geminiShape is one part of an answer.
func geminiShape(req Request, index int, pc piece) map[string]any {
	switch pc.kind {
	case use:
		name, input := req.pick(pc)
		id := fmt.Sprintf("fc_%s_%d", token(req)[:8], index)
		return map[string]any{"functionCall": map[string]any{"id": id, "name": name, "args": input}}
	case think:
		return map[string]any{"text": pc.text, "thought": true}
	default:
		return map[string]any{"text": pc.text}
	}
}

// frame is a response, or a piece of one; the last piece has the usage and the reason it ends.
func (g gemini) frame(req Request, parts []any, used map[string]any) map[string]any {
	candidate := map[string]any{"index": 0, "content": map[string]any{"role": "model", "parts": parts}}
	f := map[string]any{"candidates": []any{candidate}, "modelVersion": g.model, "responseId": "resp_" + token(req)}
	if used != nil {
		candidate["finishReason"] = "STOP"
		f["usageMetadata"] = used
	}
	return f
}
