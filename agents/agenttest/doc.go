// Package agenttest is the conformance suite that every driver passes, and what it needs to run against real programs.
//
//	Target ──At(Place)──▶ Reach ──Start──▶ runtime.Connection ──▶ Run: start, prompt, stream, tools, permission,
//	  │                                                            cancel, failure, teardown, load, continuity,
//	  └ Script: the prompts that make this agent do               missing, removed, emptied, other id, damaged,
//	            what a case needs                                     told apart from the words, busy, killed
//	claim, doubt, differs ──▶ cell ──▶ the folder of this run ──▶ Page: agent × case, what differs, what was shown
//
//	Programs ──npm ci──▶ cache ──▶ Codex, Claude (environ.go) ──HTTP──▶ model.Server
//
// Flights kills everything at each point of a turn and asks what a load then shows of the prompt that was in flight; Words sends
// prompts that are hard to recognise and looks for them; Upgrade goes on with another version; Killed kills the owner alone.
//
// A target says which prompts bring about what, how its store is damaged, and what is then expected; the cases are the same
// for all. Continuity is proven by a word that only an earlier prompt contained, and the damaged stores show that the proof
// can fail. Against the scripted agent the suite runs in every test run, against real programs with XMD_REAL=1. A program
// that is not installed is reported as not run.
package agenttest
