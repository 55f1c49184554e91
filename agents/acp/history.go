package acp

import (
	"strings"

	"xmd/agents/past"
	"xmd/agents/wire"
	"xmd/runtime"
)

// replayed takes one session/update between a load and its fence.
func (l *loading) replayed(u *update) {
	switch {
	case wire.Is(u.kind, "user_message_chunk"):
		piece, _ := contentText(u.content)
		id, _ := wire.String(u.messageID)
		if l.p.WholeTurns {
			l.past.Heard()
		}
		l.past.User(id, piece)
	case wire.Is(u.kind, "agent_message_chunk"):
		l.message(u)
	case wire.Is(u.kind, "agent_thought_chunk"), wire.Is(u.kind, "plan"):
		l.past.Other()
	case wire.Is(u.kind, "tool_call"), wire.Is(u.kind, "tool_call_update"):
		l.past.Other()
		if l.p.CompactTitle != "" && wire.Is(wire.Field(u.raw, "title"), l.p.CompactTitle) {
			l.past.Compacted()
		}
	case wire.Is(u.kind, "compaction_update"):
		l.past.Other()
		l.past.Compacted()
	}
	if l.p.CompletedMark != "" && string(wire.Path(u.raw, "_meta", l.p.CompletedMark)) == "true" {
		l.past.Completed()
	}
}

// message takes a piece of an answer, or what an adapter says in between.
func (l *loading) message(u *update) {
	l.past.Heard()
	if u.messageID == nil && l.p.NoticeWithoutID {
		return
	}
	piece, _ := contentText(u.content)
	switch {
	case piece == "" || past.BeginsAny(piece, l.p.Noise):
	case l.p.unsaid(piece):
		l.past.Other()
	default:
		l.past.Agent(piece)
	}
}

// unsaid says whether a message of a replay stands for something that was done, not said.
func (p *Profile) unsaid(text string) bool {
	forms := past.Forms{Synthetic: p.Unsaid}
	return forms.IsSynthetic(text)
}

// asShown gives a recorded history the newest reply as a client was shown it, where the agent rewrites it on the way: from the replay
// of that turn, or not at all.
func (p Profile) asShown(recorded, replay runtime.History) runtime.History {
	n, m := len(recorded.Newest)-1, len(replay.Newest)-1
	if recorded.LastReply == nil || p.Rewritten == "" || !strings.Contains(*recorded.LastReply, p.Rewritten) {
		return recorded
	}
	recorded.LastReply = nil
	if m >= 0 && replay.LastReply != nil && replay.Newest[m].Words == recorded.Newest[n].Words {
		recorded.LastReply = replay.LastReply
		recorded.Newest[n].Reply = replay.Newest[m].Reply
	}
	return recorded
}
