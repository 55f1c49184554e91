package runtime

import "context"

// Policy is the rule that answers an agent's permission requests.
type Policy string

// The four policies.
const (
	PolicyAllowAll     Policy = "allow-all"
	PolicyApproveReads Policy = "approve-reads" // the default
	PolicyAsk          Policy = "ask"
	PolicyDenyAll      Policy = "deny-all"
)

// Asker puts a permission request to a person. It returns false when nobody can be asked or the answer is no.
type Asker func(ctx context.Context, agent, step string, req PermissionRequest) (allowed bool, reason string)

// readKinds are the kinds that approve-reads allows unasked. A missing kind is none of them.
var readKinds = map[string]bool{"read": true, "search": true, "think": true}

// decision is what a policy says before anybody is asked.
type decision uint8

const (
	deny decision = iota
	ask
	allow
)

// decide is p's word on a request of that kind.
func (p Policy) decide(kind string) decision {
	switch p {
	case PolicyAllowAll:
		return allow
	case PolicyDenyAll:
		return deny
	case PolicyAsk:
		return ask
	}
	if readKinds[kind] {
		return allow
	}
	return ask
}

// answer decides one request. What the policies around the prompt say (doc) and the flag both count, and the stricter word wins:
// deny beats ask beats allow. Without a flag doc decides alone, without either it is approve-reads. With nobody to ask, ask is no.
func (p Policy) answer(ctx context.Context, doc *rule, asker Asker, agent, step, root string, req PermissionRequest) (bool, string) {
	d, decided := doc.decide(req, root)
	from := "the document denies it"
	if p != "" || !decided {
		if flag := p.decide(req.Kind); !decided || flag < d {
			d, from = flag, "the policy is "+orWord(string(p), string(PolicyApproveReads))
		}
	}
	switch {
	case d == allow:
		return true, ""
	case d == deny:
		return false, from
	case asker == nil:
		return false, "nobody is present to ask; allow it with --approve-all or a policy in the document"
	}
	return asker(ctx, agent, step, req)
}
