package plan

// Launch hands the person's terminal to the agent's own interface, on a session: Session.Launch. What its body renders is what the agent
// is told from the start of a new conversation.
type Launch struct {
	Step
	Agent, Session Arg
	Instructions   bool   // there is a body
	Body           []Node // captured
}

func (*Launch) planNode() {}

// launchText says what a Launch does.
func launchText(n *Launch, agent, session string, add func(string, ...any)) {
	add("agent %s", agent)
	add("session %s", session)
	if n.Instructions {
		add("instructions")
	}
	add("opens its own interface at the terminal")
}
