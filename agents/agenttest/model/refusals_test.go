package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRefusals(t *testing.T) {
	for api, c := range clients(t) {
		for _, status := range []int{400, 401, 429, 500} {
			res, err := c.post(t.Context(), c.body([]turnText{{"user", fmt.Sprintf("HTTP %d", status)}}))
			if err != nil {
				t.Fatal(err)
			}
			var body struct{ Error struct{ Message string } }
			err = json.NewDecoder(res.Body).Decode(&body)
			res.Body.Close()
			if res.StatusCode != status || err != nil || body.Error.Message == "" {
				t.Errorf("%s: status %d, message %q, %v", api, res.StatusCode, body.Error.Message, err)
			}
		}
	}
}

// A cut answer ends without its last event and with a broken connection, after what was said.
func TestCut(t *testing.T) {
	for api, c := range clients(t) {
		events, err := c.stream(turnText{"user", "SAY partial\nCUT"})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: the stream ended with %v", api, err)
		}
		if got := c.text(events); got != "partial" {
			t.Errorf("%s: says %q", api, got)
		}
	}
}

// A hanging answer lasts until the client gives up or the server closes.
func TestHang(t *testing.T) {
	for api, c := range clients(t) {
		ctx, stop := context.WithCancel(t.Context())
		res, err := c.post(ctx, c.body([]turnText{{"user", "SAY before\nHANG"}}))
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, 1)
		if _, err := io.ReadFull(res.Body, first); err != nil {
			t.Fatal(err)
		}
		stop()
		if _, err := io.Copy(io.Discard, res.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the stream ended with %v", api, err)
		}
		res.Body.Close()
		other, err := c.post(t.Context(), c.body([]turnText{{"user", "HANG"}}))
		if err != nil {
			t.Fatal(err)
		}
		c.s.Close()
		if _, err := io.Copy(io.Discard, other.Body); err == nil {
			t.Errorf("%s: closing the server ended the answer as if it were complete", api)
		}
		other.Body.Close()
		break // one server serves both
	}
}

func TestHiddenCallsAreAnsweredAndNotCounted(t *testing.T) {
	all := clients(t)
	for api, body := range map[string]map[string]any{
		"responses": {"model": titleModel, "stream": true, "input": "x"},
		"messages": {"model": "claude", "stream": true, "messages": []any{map[string]any{"role": "user", "content": "name this"}},
			"output_config": map[string]any{"format": map[string]any{"type": "json_schema"}}},
	} {
		c := all[api]
		if api == "responses" {
			body["input"] = []any{map[string]any{"type": "message", "role": "user", "content": "name this"}}
		}
		res, err := c.post(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		events, err := readEvents(res.Body)
		res.Body.Close()
		if err != nil || c.text(events) == "" {
			t.Errorf("%s: %q, %v", api, c.text(events), err)
		}
	}
	c := all["messages"]
	c.says(turnText{"user", tellText}, turnText{"assistant", "OK"}, turnText{"user", "[SUGGESTION MODE: Suggest what comes next]"})
	if n, h := len(c.s.Requests()), len(c.s.Hidden()); n != 0 || h != 3 {
		t.Errorf("%d requests counted and %d hidden, want 0 and 3", n, h)
	}
	if title := messagesTitle(t, c); !json.Valid([]byte(title)) {
		t.Errorf("a title is asked for as JSON, and is %q", title)
	}
}

func messagesTitle(t *testing.T, c *client) string {
	res, err := c.post(t.Context(), map[string]any{"model": "claude", "stream": false,
		"messages":      []any{map[string]any{"role": "user", "content": "name this"}},
		"output_config": map[string]any{"format": map[string]any{"type": "json_schema"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var m struct{ Content []struct{ Text string } }
	if err := json.NewDecoder(res.Body).Decode(&m); err != nil || len(m.Content) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	return m.Content[0].Text
}

func TestRequestsAreRecorded(t *testing.T) {
	c := clients(t)["responses"]
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	var said sync.WaitGroup
	said.Go(func() {
		c.says(turnText{"user", "<environment_context>x</environment_context>"}, turnText{"user", "one"}, turnText{"assistant", "a"}, turnText{"user", "two"})
	})
	defer said.Wait()
	got, err := c.s.Await(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if texts := strings.Join(got[0].UserTexts(), "|"); texts != "one|two" {
		t.Errorf("user texts %q", texts)
	}
	if ask, n := got[0].Ask(); ask != "two" || n != 0 {
		t.Errorf("asks %q after %d results", ask, n)
	}
	if len(got[0].Instructions) != 1 || strings.Join(got[0].Tools, " ") != "exec_command web_search" {
		t.Errorf("instructions %q, tools %q", got[0].Instructions, got[0].Tools)
	}
	short, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := c.s.Await(short, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for what does not come: %v", err)
	}
}

func TestUnknownAddressesAreNoted(t *testing.T) {
	c := clients(t)["messages"]
	res, err := http.Get(c.s.URL() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if s := c.s.Strays(); res.StatusCode != http.StatusNotFound || len(s) != 1 || s[0] != "GET /v1/models" {
		t.Errorf("status %d, strays %q", res.StatusCode, s)
	}
}
