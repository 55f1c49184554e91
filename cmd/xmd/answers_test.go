package main

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"xmd/runtime"
	"xmd/runtime/event"
)

// screen is what a person sees of two streams.
type screen struct {
	mu   sync.Mutex
	text string
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += string(p)
	return len(p), nil
}

// gated writes once it is opened.
type gated struct {
	open chan struct{}
	w    io.Writer
}

func (g gated) Write(p []byte) (int, error) {
	<-g.open
	return g.w.Write(p)
}

// Every question, of a document or about a permission, comes after the text before it, however slowly that is written; a run that ends
// meanwhile does not wait for it.
func TestQuestionsComeAfterTheTextBeforeThem(t *testing.T) {
	asks := map[string]func(context.Context, *terminal) error{
		"question": func(ctx context.Context, who *terminal) error {
			_, err := who.Ask(ctx, runtime.Question{Text: "Which?"})
			return err
		},
		"permission": func(ctx context.Context, who *terminal) error {
			if ok, why := who.permit(ctx, "Sim", "a.xmd:1:1", runtime.PermissionRequest{Kind: "edit"}); !ok {
				return errors.New(why)
			}
			return nil
		},
	}
	for name, ask := range asks {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := &screen{}
				slow := gated{make(chan struct{}), seen}
				out := event.NewOutput(slow, nil)
				_, _ = out.WriteString("before\n")
				lines := make(chan string, 1)
				lines <- "y\n"
				who := &terminal{out: seen, line: plainLines{seen, lines}.read, flush: out.Flush}

				ended, end := context.WithCancel(t.Context())
				end()
				if ask(ended, who) == nil || seen.text != "" {
					t.Errorf("asked in a run that has ended: %q", seen.text)
				}
				done := make(chan error)
				go func() { done <- ask(t.Context(), who) }()
				synctest.Wait()
				if seen.text != "" {
					t.Errorf("asked before the text was written: %q", seen.text)
				}
				close(slow.open)
				if err := <-done; err != nil {
					t.Error(err)
				}
				if len(seen.text) < 8 || seen.text[:7] != "before\n" {
					t.Errorf("seen %q", seen.text)
				}
				if err := out.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
