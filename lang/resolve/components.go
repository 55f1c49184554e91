package resolve

// Form is what an attribute's value may be.
type Form uint8

// The forms of values.
const (
	Value    Form = iota // any value: a string, or an expression of any type
	Text                 // a string, or an expression that gives one
	Flag                 // no value, or a boolean expression
	Cond                 // a boolean expression
	Name                 // a literal name, to be bound
	Literal              // a literal string
	Count                // a whole number between Min and Max
	Array                // an expression that gives an array
	Object               // an expression that gives an object
	Strings              // a string, or an array of strings
	Time                 // a duration: a string
	Word                 // one of Words, known before the run
	Schema               // the path of a schema file, or an expression that gives a schema
	Deferred             // any value, computed at the end of the body
)

// Attribute is one attribute of a component.
type Attribute struct {
	Name     string
	Form     Form
	Needed   bool     // must be given
	Min, Max int64    // of a Count; Max 0: no limit
	Words    []string // of a Word
}

// Component is one row of the table of components.
type Component struct {
	Name     string
	Attrs    []Attribute
	Body     Body
	BodyHint string // what a missing body would be for
}

// Body is what a component takes between its tags.
type Body uint8

// The kinds of bodies.
const (
	AnyBody  Body = iota // it may have one
	NoBody               // it has none
	NeedBody             // it has two tags
	FullBody             // it has a body that is more than white space
)

func (c *Component) attr(name string) *Attribute {
	for i := range c.Attrs {
		if c.Attrs[i].Name == name {
			return &c.Attrs[i]
		}
	}
	return nil
}

// names lists the attributes.
func (c *Component) names() []string {
	names := make([]string, len(c.Attrs))
	for i, a := range c.Attrs {
		names[i] = a.Name
	}
	return names
}

// MaxParallel is how many branches or bodies may run at once.
const MaxParallel = 64

// MaxRetries is how often a prompt may be asked again for an answer that fits its schema.
const MaxRetries = 20

// MaxToolName is how many characters the name of a tool may have.
const MaxToolName = 64

var (
	binds    = Attribute{Name: "as", Form: Name}
	fits     = Attribute{Name: "schema", Form: Schema}
	within   = Attribute{Name: "timeout", Form: Time}
	needed   = func(a Attribute) Attribute { a.Needed = true; return a }
	words    = func(name string) Attribute { return Attribute{Name: name, Form: Text} }
	anything = func(name string) Attribute { return Attribute{Name: name, Form: Value} }
)

// Components is the table of the language's components. It is read-only.
var Components = []Component{
	{Name: "Prompt", Attrs: []Attribute{words("text"), words("agent"), words("session"), binds, {Name: "throwOnError", Form: Flag}, within, fits,
		{Name: "retries", Form: Count, Max: MaxRetries}, {Name: "resend", Form: Word, Words: []string{"auto"}}}},
	{Name: "Agent", Attrs: []Attribute{needed(words("name")), words("model"), words("effort"), words("mode")}},
	{Name: "Session", Attrs: []Attribute{words("name")}},
	{Name: "Let", Attrs: []Attribute{needed(binds), anything("value")}},
	{Name: "If", Attrs: []Attribute{{Name: "condition", Form: Cond, Needed: true}}},
	{Name: "Else"},
	{Name: "Each", Attrs: []Attribute{{Name: "in", Form: Array, Needed: true}, {Name: "let", Form: Name}, binds, {Name: "collect", Form: Deferred},
		{Name: "parallel", Form: Count, Min: 1, Max: MaxParallel}}},
	{Name: "Loop", Attrs: []Attribute{{Name: "max", Form: Count, Min: 1, Needed: true}}},
	{Name: "Break", Body: NoBody},
	{Name: "Parallel", Attrs: []Attribute{{Name: "max", Form: Count, Min: 1, Max: MaxParallel}}},
	{Name: "Try"}, {Name: "Catch", Attrs: []Attribute{binds}},
	{Name: "Fail", Attrs: []Attribute{needed(words("message"))}, Body: NoBody},
	{Name: "Output"},
	{Name: "Return", Attrs: []Attribute{needed(anything("value"))}, Body: NoBody},
	{Name: "ApproveAll", Body: NeedBody, BodyHint: policyHint}, {Name: "ApproveReads", Body: NeedBody, BodyHint: policyHint},
	{Name: "AskPermission", Body: NeedBody, BodyHint: policyHint}, {Name: "DenyAll", Body: NeedBody, BodyHint: policyHint},
	{Name: "Permissions", Attrs: []Attribute{{Name: "deny", Form: Strings}, {Name: "allow", Form: Strings}}, Body: NeedBody, BodyHint: policyHint},
	{Name: "File", Attrs: []Attribute{needed(words("path")), binds}},
	{Name: "Glob", Attrs: []Attribute{{Name: "include", Form: Strings, Needed: true}, {Name: "exclude", Form: Strings}, binds}, Body: NoBody},
	{Name: "TempDir", Attrs: []Attribute{needed(binds)}, Body: NeedBody, BodyHint: "the folder lives as long as the body"},
	{Name: "Json", Attrs: []Attribute{needed(anything("value")), binds}, Body: NoBody},
	{Name: "Parse", Attrs: []Attribute{fits, binds}, Body: FullBody, BodyHint: jsonHint},
	{Name: "SafeParse", Attrs: []Attribute{fits, binds}, Body: FullBody, BodyHint: jsonHint},
	{Name: "Fetch", Attrs: []Attribute{needed(words("url")), {Name: "method", Form: Word, Words: []string{"GET", "HEAD"}}, {Name: "headers", Form: Object},
		within, binds}, Body: NoBody},
	{Name: "Elicit", Attrs: []Attribute{fits, {Name: "choices", Form: Array}, anything("default"), binds}, Body: FullBody, BodyHint: "it is the question"},
	{Name: "Content", Attrs: []Attribute{{Name: "slot", Form: Literal}}},

	{Name: "Session.Launch", Attrs: []Attribute{words("agent"), words("session")}},

	{Name: "Instructions", Body: FullBody, BodyHint: "it is what agents are told"},
	{Name: "Conversation", Attrs: []Attribute{words("name"), {Name: "onLost", Form: Word, Words: []string{"restart", "fail"}}}},
	{Name: "Tool", Attrs: []Attribute{{Name: "name", Form: Literal, Needed: true}, words("description"), fits, within}, Body: NeedBody,
		BodyHint: "it runs when an agent calls the tool"},
	{Name: "Mcp", Attrs: []Attribute{needed(words("name")), words("url"), {Name: "headers", Form: Object}, words("command"),
		{Name: "args", Form: Array}, {Name: "env", Form: Object}}, Body: NoBody},

	{Name: "Test", Attrs: []Attribute{{Name: "name", Form: Literal, Needed: true}, within, words("files")}, Body: NeedBody, BodyHint: "it is the test"},
	{Name: "TestAgent", Attrs: []Attribute{words("script")}, Body: NeedBody, BodyHint: "its agents are the scripted one"},
	{Name: "Run", Attrs: []Attribute{needed(words("src")), {Name: "props", Form: Object}, {Name: "answers", Form: Object}, binds}, Body: NoBody},
	{Name: "Assert", Attrs: []Attribute{{Name: "condition", Form: Cond, Needed: true}}, Body: NoBody},
	{Name: "AssertEquals", Attrs: []Attribute{needed(anything("actual")), needed(anything("expected"))}, Body: NoBody},
	{Name: "AssertContains", Attrs: []Attribute{needed(anything("actual")), needed(anything("part"))}, Body: NoBody},
	{Name: "AssertMatch", Attrs: []Attribute{needed(words("actual")), needed(words("pattern"))}, Body: NoBody},
	{Name: "AssertThrows", Attrs: []Attribute{words("kind")}, Body: FullBody, BodyHint: "it is what must fail"},
}

const (
	policyHint = "the policy holds for the body"
	jsonHint   = "it is the JSON text"
)

// components finds a row of the table by its name.
var components = func() map[string]*Component {
	m := make(map[string]*Component, len(Components))
	for i := range Components {
		m[Components[i].Name] = &Components[i]
	}
	return m
}()

func componentNames() []string {
	names := make([]string, len(Components))
	for i := range Components {
		names[i] = Components[i].Name
	}
	return names
}

// ExecWord is one word of an exec fence.
type ExecWord struct {
	Name  string
	Value bool // takes a value; else it stands alone
}

// Words is the table of the words that may follow exec. It is read-only.
var Words = []ExecWord{{Name: "as", Value: true}, {Name: "with", Value: true}, {Name: "throwOnError"}, {Name: "silent"}, {Name: "lax"},
	{Name: "timeout", Value: true}, {Name: "cwd", Value: true}, {Name: "once"}}

// Languages are the languages that an exec block can be written in. Which program runs each of them is not decided here.
var Languages = []string{"awk", "bash", "fish", "javascript", "js", "lua", "node", "perl", "php", "py", "python", "python3", "r", "rb",
	"ruby", "sh", "zsh"}
