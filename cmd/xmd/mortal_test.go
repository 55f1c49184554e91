package main

import (
	"context"
	"os"

	"xmd/runtime/event"
)

// Variables by which a test says where xmd dies, and where it lists the writes at which it could.
const (
	dieVariable  = "XMD_TEST_DIE"
	listVariable = "XMD_TEST_LIST"
	// panicVariable names a write at which xmd meets a fault of its own instead.
	panicVariable = "XMD_TEST_PANIC"
)

// mortal stands between a run and its journal and ends the process, as kill -9 does, before or after one write. Writes are named by what
// they record and of which step: "after prompt.sent Loop1[2]/Prompt1".
type mortal struct {
	event.Recorder
	at    string
	panic string // where it meets a fault; with a secret in it
	list  *os.File
}

// mortalRecorder is the recorder that the environment asks for; nil for none.
func mortalRecorder(env environment) func(event.Recorder) event.Recorder {
	at, list := env.get(dieVariable), env.get(listVariable)
	fault := env.get(panicVariable)
	if at == "" && list == "" && fault == "" {
		return nil
	}
	return func(r event.Recorder) event.Recorder {
		m := &mortal{Recorder: r, at: at, panic: fault}
		if list != "" {
			m.list, _ = os.OpenFile(list, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		}
		return m
	}
}

func (m *mortal) Batch(e *event.Event) {
	m.die("before", e)
	m.Recorder.Batch(e)
}

func (m *mortal) Soon(e *event.Event, extra any) {
	m.die("before", e)
	m.Recorder.Soon(e, extra)
	m.die("after", e) // it is not durable yet
}

func (m *mortal) Commit(ctx context.Context, e *event.Event, extra any) error {
	m.die("before", e)
	err := m.Recorder.Commit(ctx, e, extra)
	m.die("after", e)
	return err
}

func (m *mortal) die(phase string, e *event.Event) {
	name := phase + " " + string(e.Type) + " " + e.At.Step
	if l, ok := e.Body.(*event.Launch); ok { // one step has one of each phase
		name = phase + " " + string(e.Type) + "-" + l.Phase + " " + e.At.Step
	}
	if m.list != nil {
		_, _ = m.list.WriteString(name + "\n")
	}
	if name == m.panic {
		m.panic = ""
		panic("made by a test, hunter22\nand more")
	}
	if name == m.at {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {}
	}
}
