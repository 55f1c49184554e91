package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"xmd/agents"
	"xmd/runtime/store"
)

// checkConfig reads the files that a run would read; a faulty one counts as if it were not there.
func checkConfig(dir string, env environment) (config, []agents.Finding) {
	var merged config
	var found []agents.Finding
	say := func(level agents.Level, do, format string, args ...any) {
		found = append(found, agents.Finding{Level: level, About: "config", Says: fmt.Sprintf(format, args...), Do: do})
	}
	user, project := filepath.Join(env.configHome(), "xmd", "config.toml"), findUpward(dir, "xmd.toml")
	for _, path := range []string{user, project} {
		if path == "" {
			say(agents.OK, "", "no xmd.toml in %s or above it", dir)
			continue
		}
		_, missing := os.Stat(path)
		switch c, err := readConfig(path, dir); {
		case err != nil:
			say(agents.Problem, "mend it; nothing runs until then", "%s", err)
		case missing != nil:
			say(agents.OK, "", "no %s", path)
		default:
			merged.add(c)
			say(agents.OK, "", "%s", path)
		}
	}
	return merged, found
}

// Below these many bytes of free space a run is in danger, and the store cannot be written.
const (
	littleSpace = 512 << 20
	noSpace     = 1 << 20
)

// muchWAL is a size that the write-ahead log does not reach while runs end by themselves.
const muchWAL = 64 << 20

// checkStore looks at the store and reads all of it. Nothing is written but what SQLite itself puts beside a database that is read.
func checkStore(ctx context.Context, dir string) []agents.Finding {
	h, err := store.Look(dir)
	if err != nil {
		return []agents.Finding{ofStore(agents.Problem, "", "%s", err)}
	}
	found := storeHealth(h, dir)
	if !h.Exists && h.WAL == 0 {
		return append(found, ofStore(agents.OK, "", "none in %s yet; the first run makes it", dir))
	}
	if err := readWhole(ctx, dir); err != nil {
		return append(found, ofStore(agents.Problem, "", "%s", err))
	}
	return append(found, ofStore(agents.OK, "", "%s is whole", filepath.Join(dir, store.FileName)))
}

func ofStore(level agents.Level, do, format string, args ...any) agents.Finding {
	return agents.Finding{Level: level, About: "store", Says: fmt.Sprintf(format, args...), Do: do}
}

// storeHealth is what is out of the ordinary around the database.
func storeHealth(h store.Health, dir string) []agents.Finding {
	var found []agents.Finding
	switch {
	case h.Known && h.Free < noSpace:
		found = append(found, ofStore(agents.Problem, "make room", "no space is left for %s", dir))
	case h.Known && h.Free < littleSpace:
		found = append(found, ofStore(agents.Warning, "make room", "only %d MiB are left for %s", h.Free>>20, dir))
	}
	if h.Open != "" {
		found = append(found, ofStore(agents.Warning, "chmod it; the next run does it too", "others can get at %s", h.Open))
	}
	if h.Shared != "" {
		found = append(found, ofStore(agents.Warning, "keep it elsewhere, or set the sticky bit there", "everybody can put another folder in the place of %s: %s is open to all", dir, h.Shared))
	}
	switch {
	case h.WAL > muchWAL:
		found = append(found, ofStore(agents.Warning, "end what still runs; the next run takes it in",
			"a write-ahead log of %d MiB stands beside the database", h.WAL>>20))
	case h.WAL > 0:
		found = append(found, ofStore(agents.OK, "",
			"a write-ahead log of %d KiB stands beside the database: something runs, or was killed; the next run takes it in", (h.WAL+1023)>>10))
	}
	return found
}

func readWhole(ctx context.Context, dir string) error {
	s, err := store.Open(ctx, store.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }() // it was only read
	return s.Check(ctx)
}
