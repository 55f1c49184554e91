// Package past collects what a loaded conversation holds of what a person said and what was answered, as it streams by.
//
//	a replay (acp), a file (rollout) ──▶ Collector ──▶ runtime.History
//	                                       │  User, Begin     a turn of the person's
//	                                       │  Agent, Other    what answers it
//	                                       └  Forms           what of it the agent put there itself
//
// Of each turn only fingerprints are kept, and the text of the newest reply, bounded: histories are long and private.
package past
