package link

// Capabilities are what an agent told of itself when hands were shaken, before there was a conversation. What it did not tell is the zero
// value.
type Capabilities struct {
	Name    string   `json:"name,omitempty"`    // as it calls itself
	Version string   `json:"version,omitempty"` // of what answered: the adapter's, where there is one
	Load    bool     `json:"load"`              // it can load a conversation
	List    bool     `json:"list"`              // it can list its conversations
	More    []string `json:"more,omitempty"`    // what else can be done with conversations: resume, fork, close …, sorted
	// Servers are the kinds of tool servers that a client may hand it: http, sse, stdio.
	Servers []string `json:"servers,omitempty"`
	Modes   []string `json:"modes,omitempty"`  // ids; nearly all tell them only of a conversation
	SignIn  []string `json:"signIn,omitempty"` // the ids of the ways to sign in that it offers
	// SignedOut says that the agent itself told that somebody must sign in. false: it did not say so.
	SignedOut bool `json:"signedOut"`
}
