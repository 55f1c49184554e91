// Package pty is a terminal for tests: a pseudo-terminal with somebody at it who reads the screen and types.
//
//	s := pty.New(t)
//	s.Start(cmd)              // cmd is the leader of a session whose terminal this is
//	s.Await("> ")             // waits until it is shown
//	s.Type("hello\r")
//	s.Mode(), s.Foreground()  // what a program left behind
//
// It answers what full-screen programs ask a terminal before they draw. Linux only.
package pty
