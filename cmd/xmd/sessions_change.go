package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"xmd/runtime"
	"xmd/runtime/store"
)

// lockSession takes a session's lock for a moment; somebody who works with the session is not waited for.
func lockSession(ctx context.Context, s *store.Store, key store.SessionKey, command string) (*store.Lock, error) {
	return s.TryLock(ctx, store.LockSession, key.LockName(), store.LockOwner{Command: command})
}

// moveVerb makes a session live in another folder.
func moveVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	to, err := h.newRoot(c.String("to"), "--to")
	if err != nil {
		return err
	}
	f, err := h.findWhole(ctx, s, "move", args[0], c.String("root"))
	if err != nil {
		return err
	}
	key := f.route.SessionKey()
	if err := notTalk("move", key); err != nil {
		return err
	}
	if key.Root == to {
		return runtime.Errorf(runtime.KindInvalid, "session %s lives in %s already", key, to)
	}
	if !f.routed {
		return noRoute(f, "there is no conversation to move")
	}
	if err := moveSession(ctx, s, key, to); err != nil {
		return storeProblem(err)
	}
	_, err = fmt.Fprintln(p.stdout, printable(fmt.Sprintf(
		"%s lives in %s now; it lived in %s\n%s is asked for its conversation there from now on; if it does not know it there: xmd sessions move %s --root %s --to %s",
		key, to, key.Root, key.Agent, key, to, key.Root)))
	return err
}

// newRoot is a folder that a session is to live in.
func (h *host) newRoot(dir, flag string) (string, error) {
	if dir == "" {
		return "", &usageError{message: flag + " is missing: the folder where the session is to live"}
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(h.dir, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", runtime.Errorf(runtime.KindUsage, "%s %s: %w", flag, dir, plainError(err))
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", runtime.Errorf(runtime.KindUsage, "%s %s is no folder", flag, dir)
	}
	return real, nil
}

func moveSession(ctx context.Context, s *store.Store, key store.SessionKey, to string) error {
	lock, err := lockSession(ctx, s, key, "xmd sessions move")
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	dest := key
	dest.Root = to
	target, err := lockSession(ctx, s, dest, "xmd sessions move")
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }()
	return s.Do(ctx, func(tx *store.Tx) error { return tx.Move(lock, target, key, to) })
}

// restartVerb makes the next prompt of a session begin a new conversation.
func restartVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	if talk, ok, err := h.findConversation(ctx, s, args[0], c.String("root")); err != nil || ok {
		if err != nil {
			return err
		}
		return restartTalk(ctx, p, s, talk)
	}
	f, err := h.findWhole(ctx, s, "restart", args[0], c.String("root"))
	if err != nil {
		return err
	}
	key := f.route.SessionKey()
	if !f.routed {
		return noRoute(f, "its next prompt begins a conversation anyway; what died in its first turn is for xmd sessions recover "+key.String())
	}
	lock, err := lockSession(ctx, s, key, "xmd sessions restart")
	if err != nil {
		return storeProblem(err)
	}
	defer func() { _ = lock.Close() }()
	var was store.Owner
	var route store.Route
	var next int
	err = s.Do(ctx, func(tx *store.Tx) error {
		if was, _, err = tx.Owner(key); err != nil {
			return err
		}
		if route, err = tx.Restart(lock, key); err != nil {
			return err
		}
		next, err = tx.NextGeneration(key)
		return err
	})
	if err != nil {
		return storeProblem(err)
	}
	text := restartText(key, route, next, was)
	_, err = fmt.Fprintln(p.stdout, printable(text))
	return err
}

func restartText(key store.SessionKey, current store.Route, next int, was store.Owner) string {
	text := fmt.Sprintf("%s: the next prompt begins a new conversation, @%d, which knows nothing of this one.\n%s stays current until the first turn of the new one is accepted, and can be shown afterwards as %s.",
		key, next, current.Key, current.Key)
	if was.State != "" && was.State != store.OwnerIdle {
		what := "The turn that was in flight"
		if was.State == store.OwnerNative {
			what = "The native interface that was open"
		}
		text += fmt.Sprintf("\n%s when its last owner ended (since %s, run %s, step %s) is given up; whether the conversation has it was not looked at.",
			what, was.Since.Local().Format(time.DateTime), first(was.Run, "none"), first(was.Step, "none"))
	}
	return text
}
