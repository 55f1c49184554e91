package resolve

import (
	"xmd/lang/diag"
	"xmd/lang/syntax"
)

// conversation is a Conversation of a known name.
type conversation struct {
	name string
	at   diag.Span
}

// conversation resolves Conversation, whose turns take turns in sessions of its own.
func (r *resolver) conversation(el *syntax.Element, e *Element, p place) (ends bool) {
	r.sessionName(e.Arg("name"))
	if r.in.conversation {
		r.diags.Add(CodeConversation, tagSpan(el), "Conversations do not nest", "end the outer one before it")
	}
	r.note(&r.info.holds.conversation, tagSpan(el), "a Conversation is here")
	if name, ok := constant(e.Arg("name")); ok {
		r.conversations = append(r.conversations, conversation{name, e.Arg("name").Pos})
	}
	r.inside(func(in *around) { in.conversation = true }, func() { ends = r.nodes(el.Body, p) })
	return ends
}

// branchConversations reports the Conversations of a branch, those from first on, that an earlier branch names too.
func (r *resolver) branchConversations(earlier map[string]diag.Span, first int) {
	for _, c := range r.conversations[first:] {
		if other, twice := earlier[c.name]; twice {
			r.diags.Add(CodeConversation, c.at, "two branches of Parallel name the Conversation "+c.name, "its turns take turns: put them into one branch",
				diag.Related{Summary: "the first one is here", Span: other})
		}
	}
	for _, c := range r.conversations[first:] {
		if _, twice := earlier[c.name]; !twice {
			earlier[c.name] = c.at
		}
	}
}
