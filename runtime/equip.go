package runtime

import "context"

// equip gives the agent what its conversation is to be opened with.
func (r *Runner) equip(_ context.Context, s *session) error {
	e, ok := s.conn.(Equipper)
	text := s.inChannel()
	if !ok || text == "" {
		return nil
	}
	return e.Equip(Equipment{Instructions: text})
}
