package acp

import (
	"context"
	"strings"
	"testing"

	"xmd/runtime"
)

func TestNewPromptAndLoad(t *testing.T) {
	w := newWorld(t)
	c := w.start()
	o := w.open(c, "")
	if o.ID == "" || o.Asserted != o.ID {
		t.Fatalf("opened %+v", o)
	}
	s := w.prompt(c, "The codeword is ZEBRA for this whole conversation.")
	if s.Stop != "end_turn" || s.Failure != "" || !strings.Contains(s.text, "codeword is ZEBRA") || !s.accepted {
		t.Fatalf("%+v", s)
	}
	if c.HandshakeVersion() == "" {
		t.Error("no version from the handshake")
	}
	if err := c.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("a second close: %v", err)
	}

	c = w.start()
	got := w.open(c, o.ID)
	if got.ID != o.ID || got.Listed != runtime.ListNames || !got.History.Known || got.History.UserTurns != 1 {
		t.Fatalf("loaded %+v", got)
	}
	wantTurn(t, got.History.Newest[0], "The codeword is ZEBRA for this whole conversation.", s.text)
	again := w.prompt(c, "What was the codeword?")
	if !strings.Contains(again.text, "ZEBRA") || strings.Contains(again.text, "turn 1") {
		t.Errorf("after the load: %q", again.text)
	}
}

// What the provider shows of a loaded conversation, whatever the load's answer looks like.
func TestLoadEvidence(t *testing.T) {
	for name, c := range map[string]struct {
		faults   []string
		asserted string // ID: the one asked for
		listed   runtime.Listed
		turns    int
		compact  bool
	}{
		"well behaved":              {nil, "", runtime.ListNames, 3, false},
		"an id that is an echo":     {[]string{"load-echo-id"}, "", runtime.ListNames, 3, false},
		"a stated id":               {[]string{"load-id=meta"}, "ID", runtime.ListNames, 3, false},
		"another id":                {[]string{"load-other-id=other"}, "other", runtime.ListNames, 3, false},
		"no list":                   {[]string{"no-list"}, "", runtime.ListNotOffered, 3, false},
		"a list that fails":         {[]string{"list-error"}, "", runtime.ListNotOffered, 3, false},
		"a list without it":         {[]string{"list-omits"}, "", runtime.ListOmits, 3, false},
		"a list of many pages":      {[]string{"list-page=1"}, "", runtime.ListNames, 3, false},
		"empty":                     {[]string{"empty-history"}, "", runtime.ListNames, 0, false},
		"shortened":                 {[]string{"short-history=1"}, "", runtime.ListNames, 1, false},
		"replay after the answer":   {[]string{"replay-after-answer=5"}, "", runtime.ListNames, 3, false},
		"no fence":                  {[]string{"no-commands"}, "", runtime.ListNames, 3, false},
		"noise in the replay":       {[]string{"noise-chunk"}, "", runtime.ListNames, 3, false},
		"junk between the lines":    {[]string{"junk"}, "", runtime.ListNames, 3, false},
		"ids as strings":            {[]string{"id-as-string"}, "", runtime.ListNames, 3, false},
		"without message ids":       {[]string{"no-messageid"}, "", runtime.ListNames, 3, false},
		"characters cut in writing": {[]string{"split-utf8"}, "", runtime.ListNames, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.told("another conversation of the same folder")
			id := w.told("first: größer als alles", "second prompt", "third prompt, the last one")
			got := w.open(w.start(c.faults...), id)
			want := c.asserted
			if want == "ID" {
				want = id
			}
			if got.ID != id || got.Asserted != want || got.Listed != c.listed {
				t.Errorf("opened %+v", got)
			}
			h := got.History
			if !h.Known || h.UserTurns != c.turns || h.Compacted != c.compact {
				t.Fatalf("history %+v", h)
			}
			if c.turns == 3 {
				wantTurn(t, h.Newest[0], "first: größer als alles", "")
				wantTurn(t, h.Newest[2], "third prompt, the last one", "")
				if name != "without message ids" && h.Newest[2].Reply.Letters == 0 {
					t.Error("the reply of the last turn was not read")
				}
			}
		})
	}
}

// Nothing of a replay is shown, and what comes after the fence is the turn's own.
func TestReplayIsNeverShown(t *testing.T) {
	for _, fault := range []string{"replay-after-answer=20", "no-commands", "noise-chunk"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.told("SAY old answer", "SAY older answer")
			c := w.start(fault)
			w.open(c, id)
			if s := w.prompt(c, "SAY fresh"); s.text != "fresh" {
				t.Errorf("text %q", s.text)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	for name, c := range map[string]struct {
		fault string
		kind  runtime.Kind
		retry bool
		say   string
	}{
		"missing":          {"load-missing=resource", runtime.KindMissing, false, "no conversation"},
		"busy":             {"busy", runtime.KindBusy, true, "another process"},
		"disk full":        {"load-error", runtime.KindCouldNot, true, "could not load"},
		"any other error":  {"load-error=-32603:strange", runtime.KindCouldNot, true, "strange"},
		"no load":          {"no-load", runtime.KindUnsupported, false, "session/load"},
		"not signed in":    {"auth=load", runtime.KindNotSignedIn, false, "signed in"},
		"codes as strings": {"load-error=-32603:odd", runtime.KindCouldNot, true, "odd"},
		"a crash":          {"crash=load", runtime.KindCouldNot, true, "exit code 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.told("one prompt")
			_, err := w.start(c.fault).Open(t.Context(), id)
			wantKind(t, err, c.kind, c.say)
			e := err.(*runtime.Error)
			if e.Retryable != c.retry || e.Agent != "sim" {
				t.Errorf("%+v", e)
			}
		})
	}
}

func TestUnknownConversationIsMissing(t *testing.T) {
	w := newWorld(t)
	c := w.start()
	_, err := c.Open(t.Context(), "0198aaaa-0000-7000-8000-000000000000")
	wantKind(t, err, runtime.KindMissing)
	// The caller may decide to make a new one on the same connection; nothing did so by itself.
	o := w.open(c, "")
	if s := w.prompt(c, "SAY new"); s.text != "new" || o.ID == "" {
		t.Errorf("%+v", s)
	}
}

func TestNewErrors(t *testing.T) {
	for fault, kind := range map[string]runtime.Kind{
		"auth=new":          runtime.KindNotSignedIn,
		"new-error=-1:nope": runtime.KindUnavailable,
		"crash=new":         runtime.KindUnavailable,
	} {
		t.Run(fault, func(t *testing.T) {
			_, err := newWorld(t).start(fault).Open(t.Context(), "")
			wantKind(t, err, kind)
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	id := w.told("one")
	ctx, cancel := context.WithCancel(t.Context())
	c := w.start("load-hangs")
	time := context.AfterFunc(ctx, func() {})
	defer time()
	go cancel()
	_, err := c.Open(ctx, id)
	wantKind(t, err, runtime.KindCancelled)
}

func TestMode(t *testing.T) {
	p := simLike()
	p.Mode = "ask"
	w := newWorld(t)
	c := w.startAs(p, "mode-auto")
	w.open(c, "")
	asked := false
	s, err := w.promptErr(t.Context(), c, "PERM execute", func(context.Context, runtime.PermissionRequest) bool { asked = true; return true })
	if err != nil || !asked {
		t.Errorf("asked %v, %v, %q", asked, err, s.text)
	}
	_, err = w.startAs(p, "refuse-mode").Open(t.Context(), "")
	wantKind(t, err, runtime.KindUnsupported, "ask")
}
