package term

// Rules say what is shown where. The zero value is a pipe: nothing but the bytes themselves.
type Rules struct {
	Line   bool // a status line on stderr
	Tools  bool // a line on stderr for each tool call
	Color  bool // colours on stderr
	Clean  bool // control characters of the document are kept from the terminal that is stdout
	Styled bool // the document's Markdown is styled on stdout
}

// Surroundings are what the rules are made of.
type Surroundings struct {
	Getenv         func(name string) string
	Stdout, Stderr bool // they are terminals
	NoColor        bool // --no-color
	Quiet, Verbose bool // -q, -v
}

// Decide applies NO_COLOR, CLICOLOR_FORCE, TERM and CI. NO_COLOR and --no-color are about colours alone and count more than CLICOLOR_FORCE,
// which puts colours on stderr wherever it leads, and never into a result that goes to a pipe.
func Decide(s Surroundings) Rules {
	name := s.Getenv("TERM")
	able := name != "" && name != "dumb"
	calm := able && !set(s.Getenv("CI"))
	forced := set(s.Getenv("CLICOLOR_FORCE"))
	color := !s.NoColor && s.Getenv("NO_COLOR") == ""
	return Rules{
		Line:   s.Stderr && calm && !s.Quiet,
		Tools:  !s.Quiet && (s.Stderr || s.Verbose),
		Color:  color && (forced || s.Stderr && calm),
		Clean:  s.Stdout,
		Styled: color && s.Stdout && (forced || calm),
	}
}

// set says whether a variable that switches something is on.
func set(value string) bool { return value != "" && value != "0" && value != "false" }
