package runtime

// StandingOf is where things stand after a Conversation's entries, oldest first: the newest list of an agent and the questions that
// were not answered. What still runs and the working tree are not in a log; the caller adds them.
func StandingOf(entries []Entry) Standing {
	var now Standing
	for _, e := range entries {
		if e.Todo != nil {
			now.Todo = e.Todo
		}
		for _, q := range e.Questions {
			if !q.Answered {
				now.Questions = append(now.Questions, q.Question)
			}
		}
	}
	return now
}
