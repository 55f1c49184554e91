// Package proc is the only place that starts processes.
//
//	xmd ──Start──▶ guardian (xmd itself, own session, child subreaper)
//	 │  lifeline      │ holds a copy of every lock, none of the pipes
//	 │◀──socket pair─▶│
//	 │                └──▶ the program (own group, dies with the guardian)
//	 │◀═ stdin, stdout, stderr ══▶ └──▶ its children, wherever they hide
//
//	Stop, or the end of the lifeline (xmd died, its end of stdin closed with it):
//	wait EOFWait ─▶ TERM to every descendant ─▶ wait TermWait ─▶ KILL until none is left
//
// The guardian exits last, so a lock whose copy it holds is free only when nothing
// of its program can write any more. When the program exits by itself, what it left
// behind is ended the same way. On Linux this covers every descendant; on other
// unixes the program's process group; on Windows only the program, and no locks.
//
// Terminal.Run gives a program the terminal, as a shell gives it to a foreground job. Its
// guardian stays in xmd's session, in a group of its own: it hands the terminal over, takes
// it back when the program is stopped or ends, and restores it when xmd dies.
//
// Who kills a guardian takes its program with it. The rest of the tree falls to xmd, which adopts orphans ([AdoptOrphans]) and ends
// them before the program is Done; if xmd is killed too, what is left of the tree stays.
//
// Every program that calls Start or Terminal.Run must call [GuardianMain] first of all in main, and
// in TestMain.
package proc
