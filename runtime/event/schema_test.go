package event

import (
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite the schema files")

// generated builds the schema from the body types, so that it cannot drift from the code.
func generated(t *testing.T) string {
	t.Helper()
	var types []Type
	for typ := range bodies {
		types = append(types, typ)
	}
	slices.Sort(types)
	var forms []any
	for _, typ := range types {
		forms = append(forms, form(t, typ, bodies[typ]))
	}
	root := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "One event of a run, as xmd run --format ndjson writes it",
		"oneOf":   forms,
	}
	raw, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(raw) + "\n"
}

// form is the schema of one type of event: the head's members and the body's, closed.
func form(t *testing.T, typ Type, body any) map[string]any {
	t.Helper()
	props := map[string]any{
		"v": map[string]any{"const": Version}, "seq": map[string]any{"type": "integer", "minimum": 1},
		"time": map[string]any{"type": "string"}, "run": map[string]any{"type": []string{"string", "null"}},
		"type": map[string]any{"const": string(typ)},
	}
	props["replayed"] = map[string]any{"type": "boolean"}
	for _, name := range []string{"step", "position", "agent", "session"} {
		props[name] = map[string]any{"type": "string"}
	}
	required := []string{"v", "seq", "time", "run", "type"}
	if body != nil {
		s, err := jsonschema.ForType(reflect.TypeOf(body), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[json.RawMessage](): {},
		}})
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range s.Properties {
			props[name] = p
		}
		required = append(required, s.Required...)
	}
	slices.Sort(required)
	return map[string]any{"title": string(typ), "type": "object", "properties": props, "required": slices.Compact(required), "additionalProperties": false}
}

func TestSchemaIsWhatTheTypesSay(t *testing.T) {
	want := generated(t)
	for _, path := range []string{"events.schema.json", "../../specs/events.schema.json"} {
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is not what the event types say (err %v); run: go test ./runtime/event -update", path, err)
		}
	}
}

// validator checks one line against the schema.
func validator(t *testing.T) func(line string) error {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(generated(t)), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(line string) error {
		var v any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return err
		}
		return r.Validate(v)
	}
}

func TestEventsAreValid(t *testing.T) {
	valid := validator(t)
	at := At{Step: "Prompt1", Position: "a.xmd:1:1", Agent: "sim", Session: "s"}
	code := 3
	events := []Event{
		{Type: Text, Body: &Delta{Text: "\u2028 <b> \x00 \xff"}},
		{Type: Compaction, At: at},
		{Type: StepEnded, At: at, Body: &Step{Kind: "exec", Outcome: "done", ExitCode: &code, Value: map[string]any{"a": []any{1.5}}}},
		{Type: ToolStarted, At: at, Body: &Tool{ID: "1", Name: "Read", Input: json.RawMessage(`{"path":"a"}`)}},
		{Type: RunEnded, Body: &End{Outcome: "failed", ExitCode: 1, Errors: []*Error{{Code: 1, Kind: "failed", Message: "m"}}}},
		{Type: PromptEnded, At: at, Body: &Ended{Turn: 1, Outcome: "done", Reply: "x", Value: nil}},
	}
	for i := range events {
		e := &events[i]
		e.Seq, e.Time, e.Run = uint64(i+1), time.Unix(0, 1), "01J"
		line, err := e.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := valid(string(line)); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	for _, bad := range []string{
		`{"v":1,"seq":1,"time":"x","run":null,"type":"nope"}`, `{"v":1,"seq":1,"time":"x","run":null,"type":"text"}`,
		`{"v":1,"seq":1,"time":"x","run":null,"type":"text","text":"a","extra":1}`,
	} {
		if valid(bad) == nil {
			t.Errorf("%s passed", bad)
		}
	}
}

func TestOutputWritesInOrderAndReportsAClosedReader(t *testing.T) {
	var b strings.Builder
	o := NewOutput(&b, nil)
	for range 1000 {
		if _, err := o.WriteString("0123456789\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if want := strings.Repeat("0123456789\n", 1000); b.String() != want {
		t.Errorf("wrote %d bytes, want %d", b.Len(), len(want))
	}
	if _, err := o.WriteString("x"); err != ErrClosedOutput {
		t.Errorf("after Close: %v", err)
	}

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	o = NewOutput(w, func(err error) { told <- err })
	_ = r.Close()
	_, _ = o.WriteString("x")
	if err := <-told; err == nil {
		t.Error("the closed reader was not told")
	}
	if o.Flush() == nil {
		t.Error("Flush forgot the write error")
	}
	if o.Close() == nil {
		t.Error("Close forgot the write error")
	}
}

// slowWriter takes one write at a time, when it is let.
type slowWriter struct {
	let  chan struct{}
	text strings.Builder
}

func (w *slowWriter) Write(p []byte) (int, error) {
	<-w.let
	return w.text.Write(p)
}

func TestFlushWaitsForTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{let: make(chan struct{})}
		o := NewOutput(w, nil)
		if err := o.Flush(); err != nil {
			t.Fatal(err)
		}
		_, _ = o.WriteString("one")
		flushed := make(chan string, 1)
		go func() {
			_ = o.Flush()
			flushed <- w.text.String()
		}()
		synctest.Wait()
		if len(flushed) > 0 {
			t.Error("Flush did not wait for what is being written")
		}
		close(w.let)
		if got := <-flushed; got != "one" {
			t.Errorf("flushed %q", got)
		}
		_ = o.Close()
	})
}
