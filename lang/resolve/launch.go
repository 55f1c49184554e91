package resolve

import "xmd/lang/syntax"

// launch resolves Session.Launch, which hands the terminal over. Its body is the instruction layer.
func (r *resolver) launch(el *syntax.Element, e *Element) (ends bool) {
	r.agentName(e.Arg("agent"))
	r.sessionName(e.Arg("session"))
	r.note(&r.info.holds.launch, tagSpan(el), "Session.Launch is here")
	if hasAttr(el, "session") {
		r.namesSession(attrSpan(el, "session"))
	}
	if r.in.conversation {
		r.diags.Add(CodeConversation, tagSpan(el), "Session.Launch cannot stand in a Conversation, which has its own sessions", "end the Conversation before it")
	}
	if r.in.at != "" {
		r.diags.Add(CodeLaunch, tagSpan(el), "Session.Launch cannot stand in "+r.in.at, "it hands the terminal over, so nothing else may run")
	}
	return r.nodes(el.Body, place{captured: true})
}
