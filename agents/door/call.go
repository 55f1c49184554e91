package door

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// call is one tools/call under way.
type call struct {
	pass *pass
	id   string // as callID spells it

	ctx    context.Context // ends with the pass, with a cancellation and with the connection
	cancel context.CancelCauseFunc
	detach func() bool // from the connection

	mu sync.Mutex
	w  http.ResponseWriter // nil once the request is over
}

// over ends the call with its request.
func (c *call) over() {
	c.detach()
	c.cancel(nil)
	c.pass.drop(c)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.w = nil
}

// signs shows at this interval that the call lives, until the returned function, which waits for the last sign. A sign is white space before
// the answer, which stays the same JSON with it.
func (c *call) signs(interval time.Duration) (stop func()) {
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-quit:
				return
			case <-ticker.C:
				c.show()
			}
		}
	}()
	return func() { close(quit); <-over }
}

func (c *call) show() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.w == nil {
		return
	}
	_, _ = io.WriteString(c.w, "\n") // a client that is gone ends the request's context
	_ = http.NewResponseController(c.w).Flush()
}
