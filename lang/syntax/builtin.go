package syntax

// Traits are what parsing and white space need to know of a built-in component.
type Traits struct {
	Captured bool // its body is a text of its own, moved to column 1
	Silent   bool // it renders nothing where it stands
	Branch   bool // Else, Catch: the second body of the element it stands in
}

// Builtins are the language's components, also those that a build does not run yet. Any other name is a component file.
// It is read-only.
var Builtins = map[string]Traits{
	"Prompt": {Captured: true}, "Agent": {}, "Session": {}, "Instructions": {Captured: true, Silent: true}, "Session.Launch": {Captured: true},
	"Conversation": {}, "ApproveAll": {}, "ApproveReads": {}, "AskPermission": {}, "DenyAll": {}, "Permissions": {},
	"If": {}, "Else": {Branch: true}, "Each": {}, "Loop": {}, "Break": {Silent: true}, "Parallel": {}, "Try": {}, "Catch": {Branch: true},
	"Let": {Captured: true, Silent: true}, "Fail": {Silent: true}, "Output": {}, "Return": {Silent: true}, "File": {Captured: true},
	"Glob": {}, "TempDir": {}, "Json": {}, "Parse": {Captured: true}, "SafeParse": {Captured: true}, "Fetch": {}, "Elicit": {Captured: true},
	"Tool": {Captured: true, Silent: true}, "Mcp": {Silent: true}, "Content": {},
	"Test": {}, "TestAgent": {}, "Run": {}, "Assert": {Silent: true}, "AssertEquals": {Silent: true}, "AssertContains": {Silent: true},
	"AssertMatch": {Silent: true}, "AssertThrows": {Captured: true, Silent: true},
}

// Captured tells whether the body of a component is a text of its own: that of some built-ins, and the children of a component file.
func Captured(name string) bool {
	t, ok := Builtins[name]
	return t.Captured || !ok
}
