package main

import (
	"context"
	"errors"
	"os"
	"testing"

	"xmd/runtime"
)

// A signal that comes while a run is put on record is what is said, and not a store that could not be used.
func TestNotBegun(t *testing.T) {
	full := errors.New("no space is left")
	if err := notBegun(t.Context(), full); runtime.KindOf(err) != runtime.KindStore || !errors.Is(err, full) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(interrupted{os.Interrupt})
	if err := notBegun(ctx, context.Cause(ctx)); runtime.KindOf(err) != runtime.KindCancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
