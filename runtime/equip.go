package runtime

import "context"

// equip gives the agent what its conversation is to be opened with. One that takes none of it is told in front of the words.
func (r *Runner) equip(s *session) error {
	s.equipped = !s.bare
	e, ok := s.conn.(Equipper)
	if !ok || s.bare {
		return nil
	}
	with := Equipment{}
	if s.inChannel() {
		with.Instructions = s.offer.instructions
	}
	if s.conv != nil && s.info.OwnTools {
		with.Tools = s.offer.tools
	}
	if with.Instructions == "" && with.Tools == nil {
		return nil
	}
	return e.Equip(with)
}

// inChannel says whether the agent is told the workflow's instructions when its conversation is made.
func (s *session) inChannel() bool {
	_, ok := s.conn.(Equipper)
	return ok && (s.info.Channel == ChannelStart || s.info.Channel == ChannelEvery)
}

// informed notes what an agent knows once its conversation is open: a new one was told all of its equipment.
func (r *Runner) informed(s *session) {
	if s.loaded {
		return
	}
	if s.inChannel() && !s.bare {
		s.told.Instructions = r.instructionsDigest(s.offer.instructions)
	}
	if s.conv != nil && s.info.OwnTools {
		s.told.Tools = toolsDigest(s.offer.tools)
	}
}

// detachBare closes an attachment that was made to settle what an earlier process of the run left, and lacks what a prompt wants its agent
// to be given.
func (r *Runner) detachBare(ctx context.Context, s *session) error {
	if s.conn == nil || s.equipped || s.offer.instructions == "" && s.offer.tools == nil {
		return nil
	}
	err := s.conn.Close(ctx)
	s.conn = nil
	return err
}
