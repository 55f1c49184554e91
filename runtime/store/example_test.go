package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"xmd/runtime/store"
)

// A session is owned, opened and, once its first turn is accepted, given its route.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := store.Open(ctx, store.Options{Dir: filepath.Join(dir, "xmd")})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	session := store.SessionKey{Agent: "codex", Session: "review", Root: "/home/a/project"}
	lock, err := s.TryLock(ctx, store.LockSession, session.LockName(), store.LockOwner{Command: "xmd run a.xmd"})
	if err != nil {
		panic(err)
	}
	defer lock.Close()
	first := session.Generation(1)
	err = errors.Join(
		s.Claim(ctx, lock, store.Owner{Key: first}),
		s.Do(ctx, func(tx *store.Tx) error {
			return tx.PutOpened(store.Opened{Key: first, NativeID: "0199-aa", Transport: store.TransportACP})
		}),
		s.Do(ctx, func(tx *store.Tx) error { // on acceptance, in one transaction
			_, _, err := tx.CreateRoute(store.Route{
				Key: first, Transport: store.TransportACP, NativeSessionID: "0199-aa", Provenance: store.ProviderAsserted,
			})
			return errors.Join(err, tx.PutTurn(store.Turn{Key: first, Number: 1, Accepted: store.AcceptedYes}))
		}))
	if err != nil {
		panic(err)
	}
	err = s.View(ctx, func(tx *store.Tx) error {
		route, found, err := tx.Current(session)
		fmt.Println(route.Key, route.NativeSessionID, found)
		return err
	})
	if err != nil {
		panic(err)
	}
	_, err = s.TryLock(ctx, store.LockSession, session.LockName(), store.LockOwner{})
	var busy *store.BusyError
	fmt.Println(errors.As(err, &busy) && busy.Owner.Command == "xmd run a.xmd")
	// Output:
	// codex:review@1 0199-aa true
	// true
}
