package event

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"xmd/runtime/secret"
)

// said is what an agent's turn mostly is: small pieces of text, with an action now and then.
func said() []*Event {
	at := At{Step: "Loop1[3]/body/Prompt1", Position: "review.xmd:12:3[3]", Agent: "codex", Session: "review"}
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	piece := func(n int) *Delta {
		return &Delta{Text: strings.Repeat("some words of a reply, \"quoted\"\n", n)[:n*20]}
	}
	list := []*Event{
		{Type: ToolStarted, Body: &Tool{ID: "t1", Name: "Bash", Kind: "execute", Subject: "go test ./..."}},
		{Type: ToolEnded, Body: &Tool{ID: "t1", Name: "Bash", Kind: "execute", Subject: "go test ./...", Outcome: "done", Output: strings.Repeat("ok\n", 100)}},
	}
	for range 20 {
		list = append(list, &Event{Type: Message, Body: piece(1)}, &Event{Type: Text, Body: piece(1)})
	}
	list = append(list, &Event{Type: Text, Body: piece(200)})
	for i, e := range list {
		e.Seq, e.Time, e.Run, e.At = uint64(i), now, "01M8QK6QC0YYJ1S1GVZA2CACCQ", at
	}
	return list
}

// BenchmarkText and BenchmarkNDJSON write the events of a turn as text and as lines of JSON.
func BenchmarkText(b *testing.B) {
	var out bytes.Buffer
	render(b, TextSink{W: &out}, &out)
}

func BenchmarkNDJSON(b *testing.B) {
	var out bytes.Buffer
	render(b, &NDJSONSink{W: &out}, &out)
}

func render(b *testing.B, to Sink, out *bytes.Buffer) {
	list := said()
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		for _, e := range list {
			to.Event(e)
		}
	}
	b.SetBytes(int64(out.Len()))
	if out.Len() == 0 {
		b.Fatal("nothing was written")
	}
}

// BenchmarkStream hands them through a stream, without a secret and hiding one.
func BenchmarkStream(b *testing.B) {
	set, err := secret.New(map[string]string{"TOKEN": "correct horse battery staple"})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		hidden *secret.Set
	}{{"plain", nil}, {"secret", set}} {
		b.Run(c.name, func(b *testing.B) {
			var out bytes.Buffer
			s := NewStream("run", time.Now, nil, TextSink{W: &out})
			s.Hide(c.hidden)
			list := said()
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				for _, e := range list {
					s.Emit(e.Type, e.At, e.Body)
				}
			}
		})
	}
}
