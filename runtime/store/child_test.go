package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"xmd/runtime/store"
)

// The test binary is also the other processes of its tests: with CHILD set it plays that part and exits.
func TestMain(m *testing.M) {
	if role := os.Getenv("STORE_TEST_CHILD"); role != "" {
		if err := child(role, os.Args[1:]); err != nil {
			fmt.Println("error", store.KindOf(err), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func command(role string, args ...string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), "STORE_TEST_CHILD="+role)
	cmd.Stderr = os.Stderr
	return cmd
}

func child(role string, args []string) error {
	ctx := context.Background()
	if role == "hold" { // keeps what it inherited until stdin ends
		fmt.Println("holding")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	s, err := store.Open(ctx, store.Options{Dir: args[0], BootID: "boot"})
	if err != nil {
		return err
	}
	defer s.Close()
	switch role {
	case "open":
		fmt.Println("opened")
		return nil
	case "append":
		return childAppend(ctx, s, args[1], args[2])
	case "endless":
		return childEndless(ctx, s, args[1])
	case "route":
		return childRoute(ctx, s, args[1])
	case "lock":
		return childLock(ctx, s)
	}
	return errors.New("unknown role " + role)
}

// childAppend begins a run and appends n records, each in its own transaction.
func childAppend(ctx context.Context, s *store.Store, run, n string) error {
	count, err := strconv.Atoi(n)
	if err != nil {
		return err
	}
	if err := s.BeginRun(ctx, store.Run{ID: run}); err != nil {
		return err
	}
	for range count {
		if _, err := s.Append(ctx, run, store.Record{Kind: "k"}); err != nil {
			return err
		}
	}
	return nil
}

// childEndless appends until it is killed and says each number once it is acknowledged.
func childEndless(ctx context.Context, s *store.Store, run string) error {
	if err := s.BeginRun(ctx, store.Run{ID: run}); err != nil {
		return err
	}
	for i := 1; ; i++ {
		data, err := json.Marshal(map[string]any{"n": i, "run": run})
		if err != nil {
			return err
		}
		seq, err := s.Append(ctx, run, store.Record{Kind: "k", Data: data})
		if err != nil {
			return err
		}
		fmt.Println(seq)
	}
}

// childRoute waits for a line and then tries to construct the session under its own native id.
func childRoute(ctx context.Context, s *store.Store, id string) error {
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	return s.Do(ctx, func(tx *store.Tx) error {
		r := route(1)
		r.NativeSessionID = id
		winner, created, err := tx.CreateRoute(r)
		fmt.Println(winner.NativeSessionID, created)
		return err
	})
}

// childLock takes a session lock, lets a child of its own inherit it, and waits to be killed.
func childLock(ctx context.Context, s *store.Store) error {
	l, err := s.TryLock(ctx, store.LockSession, key.LockName(), store.LockOwner{Run: "r1", Command: "xmd run a.xmd"})
	if err != nil {
		return err
	}
	heir := command("hold")
	heir.Stdin, heir.Stdout = os.Stdin, os.Stdout
	heir.ExtraFiles = []*os.File{l.File()}
	if err := heir.Start(); err != nil {
		return err
	}
	select {}
}
