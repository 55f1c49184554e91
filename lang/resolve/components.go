package resolve

// Form is what an attribute's value may be.
type Form uint8

// The forms of values.
const (
	Value Form = iota // any value: a string, or an expression of any type
	Text              // a string, or an expression that gives one
	Flag              // no value, or a boolean expression
	Cond              // a boolean expression
	Name              // a literal name, to be bound
)

// Attribute is one attribute of a component.
type Attribute struct {
	Name   string
	Form   Form
	Needed bool // must be given
	Later  bool // of the language, but not built yet
}

// Component is one row of the table of components.
type Component struct {
	Name  string
	Attrs []Attribute
	Later bool // of the language, but not built yet
}

func (c *Component) attr(name string) *Attribute {
	for i := range c.Attrs {
		if c.Attrs[i].Name == name {
			return &c.Attrs[i]
		}
	}
	return nil
}

// names lists the attributes: those that are built, or all.
func (c *Component) names(all bool) []string {
	var names []string
	for _, a := range c.Attrs {
		if all || !a.Later {
			names = append(names, a.Name)
		}
	}
	return names
}

// later makes the row of a component that is not built yet, from the names of its attributes.
func later(name string, attrs ...string) Component {
	c := Component{Name: name, Later: true}
	for _, a := range attrs {
		c.Attrs = append(c.Attrs, Attribute{Name: a, Later: true})
	}
	return c
}

// Components is the table of the language's components, built ones first. It is read-only.
var Components = []Component{
	{Name: "Prompt", Attrs: []Attribute{{Name: "text", Form: Text}, {Name: "agent", Form: Text}, {Name: "session", Form: Text},
		{Name: "as", Form: Name}, {Name: "throwOnError", Form: Flag},
		{Name: "timeout", Later: true}, {Name: "schema", Later: true}, {Name: "retries", Later: true}, {Name: "resend", Later: true}}},
	{Name: "Agent", Attrs: []Attribute{{Name: "name", Form: Text, Needed: true},
		{Name: "model", Later: true}, {Name: "effort", Later: true}, {Name: "mode", Later: true}}},
	{Name: "Session", Attrs: []Attribute{{Name: "name", Form: Text}}},
	{Name: "Let", Attrs: []Attribute{{Name: "as", Form: Name, Needed: true}, {Name: "value", Form: Value}}},
	{Name: "If", Attrs: []Attribute{{Name: "condition", Form: Cond, Needed: true}}},
	{Name: "Else"},

	later("Instructions"),
	later("Session.Launch", "agent", "session"),
	later("Conversation", "name", "onLost"),
	later("ApproveAll"), later("ApproveReads"), later("AskPermission"), later("DenyAll"),
	later("Permissions", "deny", "allow"),
	later("Each", "in", "let", "as", "collect", "parallel"),
	later("Loop", "max"), later("Break"),
	later("Parallel", "max"),
	later("Try"), later("Catch", "as"),
	later("Fail", "message"),
	later("Output"), later("Return", "value"),
	later("File", "path", "as"),
	later("Glob", "include", "exclude", "as"),
	later("TempDir", "as"),
	later("Json", "value", "as"),
	later("Parse", "schema", "as"), later("SafeParse", "schema", "as"),
	later("Fetch", "url", "method", "headers", "timeout", "as"),
	later("Elicit", "schema", "choices", "default", "as"),
	later("Tool", "name", "description", "schema", "timeout"),
	later("Mcp", "name", "url", "headers", "command", "args", "env"),
	later("Content", "slot"),
}

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

// Word is one word of an exec fence.
type Word struct {
	Name  string
	Value bool // takes a value; else it stands alone
	Later bool
}

// Words is the table of the words that may follow exec. It is read-only.
var Words = []Word{{Name: "as", Value: true}, {Name: "with", Value: true}, {Name: "throwOnError"}, {Name: "silent"}, {Name: "lax"},
	{Name: "timeout", Value: true}, {Name: "cwd", Value: true}, {Name: "once", Later: true}}

// Languages are the languages that an exec block can be written in. Which program runs each of them is not decided here.
var Languages = []string{"awk", "bash", "fish", "javascript", "js", "lua", "node", "perl", "php", "py", "python", "python3", "r", "rb",
	"ruby", "sh", "zsh"}
