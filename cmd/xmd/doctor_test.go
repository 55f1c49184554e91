package main

import (
	"strings"
	"testing"

	"xmd/runtime/store"
)

func TestStoreHealth(t *testing.T) {
	const plenty = 10 << 30
	for name, c := range map[string]struct {
		h    store.Health
		want []string
	}{
		"all is well":       {store.Health{Exists: true, Free: plenty, Known: true}, nil},
		"unknown space":     {store.Health{Exists: true}, nil},
		"little space":      {store.Health{Free: 100 << 20, Known: true}, []string{"warning: only 100 MiB are left for /s"}},
		"no space":          {store.Health{Free: 4096, Known: true}, []string{"problem: no space is left for /s"}},
		"a log":             {store.Health{Exists: true, WAL: 4097, Free: plenty, Known: true}, []string{"ok: a write-ahead log of 5 KiB"}},
		"a log that grew":   {store.Health{Exists: true, WAL: 200 << 20}, []string{"warning: a write-ahead log of 200 MiB"}},
		"others can read":   {store.Health{Exists: true, Open: "/s (0755 instead of 0700)"}, []string{"warning: others can get at /s (0755"}},
		"in a shared place": {store.Health{Exists: true, Shared: "/"}, []string{"warning: everybody can put another folder in the place of /s: / is open to all"}},
		"all of it at once": {store.Health{Known: true, Open: "/s", WAL: 1}, []string{"problem: no space", "warning: others", "ok: a write-ahead log of 1 KiB"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := storeHealth(c.h, "/s")
			if len(got) != len(c.want) {
				t.Fatalf("%+v", got)
			}
			for i, f := range got {
				if line := string(f.Level) + ": " + f.Says; !strings.HasPrefix(line, c.want[i]) || f.About != "store" {
					t.Errorf("%q, want %q", line, c.want[i])
				}
			}
		})
	}
}
