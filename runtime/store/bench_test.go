package store_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime/store"
)

func BenchmarkOpenFirst(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(b.TempDir(), "xmd")})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func BenchmarkOpenLater(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "xmd")
	for b.Loop() {
		s, err := store.Open(context.Background(), store.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

// BenchmarkAppend is one acknowledged step: one durable commit of one record.
func BenchmarkAppend(b *testing.B) {
	s, run := benchRun(b)
	data := json.RawMessage(`{"text":"` + strings.Repeat("x", 300) + `"}`)
	for b.Loop() {
		if _, err := s.Append(context.Background(), run, store.Record{Kind: "step", Data: data}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchRun(b *testing.B) (*store.Store, string) {
	s, err := store.Open(context.Background(), store.Options{Dir: filepath.Join(b.TempDir(), "xmd")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	if err := s.BeginRun(context.Background(), store.Run{ID: "r"}); err != nil {
		b.Fatal(err)
	}
	return s, "r"
}
