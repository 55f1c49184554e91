package asking

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"xmd/runtime"
)

// heard is what a queue did, in order.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) add(s string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, s)
}

func (h *heard) question(name string) *Question {
	answers := map[bool]string{true: " yes", false: " no"}
	return &Question{
		ID: []byte(name), Request: runtime.PermissionRequest{CallID: name},
		Answer: func(allowed bool) { h.add(name + answers[allowed]) }, Drop: func() { h.add(name + " dropped") },
	}
}

func (h *heard) asker(ask func(context.Context, runtime.PermissionRequest) bool) Asker {
	return Asker{Ask: ask, Told: func(o runtime.PermissionOutcome) { h.add(o.Request.CallID + " told " + o.Reason) }}
}

func (h *heard) want(t *testing.T, want ...string) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.all, want) {
		t.Errorf("%q, want %q", h.all, want)
	}
}

func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		var q Queue
		a := h.asker(func(_ context.Context, r runtime.PermissionRequest) bool { return r.CallID != "b" })
		for _, name := range []string{"a", "b", "c"} {
			q.Add(a, h.question(name))
		}
		synctest.Wait()
		h.want(t, "a told ", "a yes", "b told ", "b no", "c told ", "c yes")
		q.End()
		q.Add(a, h.question("late"))
		h.want(t, "a told ", "a yes", "b told ", "b no", "c told ", "c yes", "late dropped")
	})
}

func TestNobodyAndNoOption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		var q Queue
		q.Add(h.asker(nil), h.question("a"))
		synctest.Wait()
		only := h.question("b")
		only.NoAllow = true
		q.Add(h.asker(func(context.Context, runtime.PermissionRequest) bool { return true }), only)
		synctest.Wait()
		h.want(t, "a told nobody to ask", "a no", "b told no matching option", "b no")
	})
}

// What is cancelled or withdrawn is dropped once, its asking ends, and its answer does not count.
func TestCancelAndWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h heard
		var q Queue
		wait := h.asker(func(ctx context.Context, _ runtime.PermissionRequest) bool { <-ctx.Done(); return true })
		for _, name := range []string{"a", "b", "c"} {
			q.Add(wait, h.question(name))
		}
		synctest.Wait()
		q.Withdraw([]byte("a"))
		q.Withdraw([]byte("unknown"))
		synctest.Wait()
		if !q.Cancel() || q.Cancel() {
			t.Error("what was waiting is not said")
		}
		q.End()
		h.want(t, "a dropped", "b dropped", "c dropped")
	})
}
