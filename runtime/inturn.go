package runtime

import "context"

// askInTurn lets several prompts and questions that run at once reach the person one after the other.
func (r *Runner) askInTurn() {
	if ask := r.o.Ask; ask != nil {
		r.o.Ask = func(ctx context.Context, agent, step string, req PermissionRequest) (bool, string) {
			if r.person.take(ctx, nil) != nil {
				return false, "the turn was cancelled before anybody was asked"
			}
			defer r.person.give()
			return ask(ctx, agent, step, req)
		}
	}
	if r.o.Answers != nil {
		r.o.Answers = answersInTurn{r.o.Answers, &r.person}
	}
}

// answersInTurn asks one question at a time.
type answersInTurn struct {
	Answers
	person *token
}

// Ask waits for the questions before it.
func (a answersInTurn) Ask(ctx context.Context, q Question) (Answer, error) {
	if err := a.person.take(ctx, nil); err != nil {
		return Answer{}, err
	}
	defer a.person.give()
	return a.Answers.Ask(ctx, q)
}
