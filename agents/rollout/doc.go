// Package rollout reads the file in which Codex keeps one conversation, for every driver of Codex.
//
//	$CODEX_HOME/sessions/Y/M/D/rollout-TIME-ID.jsonl    {"type", "payload"} a line
//	   │
//	   ├ session_meta    the id, first of all
//	   ├ response_item   what the model is given
//	   ├ event_msg       what a client is told: items, the ends of turns
//	   └ compacted       what is left of everything before
//	   │
//	   └──▶ past.Collector ──▶ Found{ID, History}
//
// What the model is given comes from the response_item and compacted records, so these are the history. Turns that Codex tells from
// its database are not looked at: it has them still when the file, and so the model, has none.
package rollout
