package runtime

import (
	"context"
	"slices"

	"xmd/runtime/store"
)

// inChannel are the instructions that the attached agent takes by its own channel when its conversation is made; "": none, or it has no such
// channel.
func (s *session) inChannel() string {
	_, ok := s.conn.(Equipper)
	if !ok || s.info.Channel != ChannelStart && s.info.Channel != ChannelEvery {
		return ""
	}
	return s.instructions
}

// byDoor says whether the agent reads the instructions that there are from the door.
func (s *session) byDoor() bool { return s.info.Channel == ChannelDoor && s.instructions != "" }

// direct are the tools that the agent is told directly, and that its conversation is fixed to.
func (s *session) direct() []Tool {
	if s.conv == nil || !s.info.OwnTools || len(s.want.tools) == 0 {
		return nil
	}
	return append(slices.Clone(s.want.tools), questionOffer)
}

// informed notes what an agent knows once its conversation is open: a new one was told what it was opened with.
func (r *Runner) informed(s *session) {
	s.attachedBare = s.bare
	if !s.loaded {
		s.told = store.Told{Instructions: r.instructionsDigest(s.inChannel()), Tools: toolsDigest(s.direct())}
	}
	if s.pass != nil && s.byDoor() {
		before := s.told.Instructions
		s.told.Instructions = r.instructionsDigest(s.instructions)
		s.retold = before != "" && before != s.told.Instructions
	}
}

// detachBare closes an attachment that was made to settle what an earlier process of the run left, if the prompt has instructions.
func (r *Runner) detachBare(ctx context.Context, s *session) error {
	if s.conn == nil || !s.attachedBare || s.instructions == "" {
		return nil
	}
	err := s.conn.Close(ctx)
	s.conn = nil
	return err
}
