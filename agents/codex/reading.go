package codex

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// In the mode in which Codex asks, it asks for every command, also to look at a file. What certainly does nothing but read is told from
// the rest here, so that a policy that allows reads allows it; Codex's own reading of a command line is a guess for people (it calls
// `find -delete` a listing) and is not looked at.

// script is what a command line of Codex's does: the script, where it is a shell that is handed one.
func script(line string) string {
	words, ok := split(line, false)
	if ok && len(words) == 3 && slices.Contains([]string{"sh", "bash", "zsh"}, path.Base(words[0])) && (words[1] == "-c" || words[1] == "-lc") {
		return words[2]
	}
	return line
}

// split takes a command line apart as a shell would, without doing anything a shell does: one that would expand, nest, join or redirect
// anything is not taken apart when strict; when it is not, unquoted characters stand for themselves.
func split(line string, strict bool) (words []string, ok bool) {
	var word strings.Builder
	in := false
	for i := 0; i < len(line); i++ {
		switch ch := line[i]; {
		case ch == ' ' || ch == '\t':
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		case ch == '\'':
			end := strings.IndexByte(line[i+1:], '\'')
			if end < 0 {
				return nil, false
			}
			word.WriteString(line[i+1 : i+1+end])
			i += 1 + end
			in = true
		case ch == '"':
			n, closed := quoted(line[i+1:], &word, strict)
			if !closed {
				return nil, false
			}
			i += n + 1
			in = true
		case ch == '\\' && !strict:
			if i++; i == len(line) {
				return nil, false
			}
			word.WriteByte(line[i])
			in = true
		case strict && (ch < ' ' || strings.IndexByte("\\;&|<>$`(){}[]*?~#!", ch) >= 0):
			return nil, false
		default:
			word.WriteByte(ch)
			in = true
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words, true
}

// quoted reads up to a closing double quote and returns where it stands.
func quoted(s string, word *strings.Builder, strict bool) (end int, ok bool) {
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case ch == '"':
			return i, true
		case strict && (ch == '$' || ch == '`' || ch == '\\' || ch == '\n'):
			return 0, false
		case ch == '\\' && i+1 < len(s) && strings.IndexByte("\"\\$`", s[i+1]) >= 0:
			i++
			word.WriteByte(s[i])
		default:
			word.WriteByte(ch)
		}
	}
	return 0, false
}

// reader is a program that does nothing but read, with options of this form.
type reader struct {
	kind    string
	options *regexp.Regexp
	pattern bool // its first argument is no file
	here    bool // without a file it reads the folder it is in
}

// readers are made when the first command is asked about.
var readers = sync.OnceValue(func() map[string]reader {
	letters, lines := regexp.MustCompile(`^-[a-zA-Z0-9]+$`), regexp.MustCompile(`^-[ncqv]?[0-9]*$`)
	return map[string]reader{
		"cat":  {kind: "read", options: letters},
		"head": {kind: "read", options: lines},
		"tail": {kind: "read", options: lines}, // not -f
		"nl":   {kind: "read", options: letters},
		"wc":   {kind: "read", options: letters},
		"ls":   {kind: "read", options: letters, here: true},
		"pwd":  {kind: "read", options: letters},
		"grep": {kind: "search", options: regexp.MustCompile(`^(-[rRnilLwcovsEFPhHqA-C0-9]+|--(include|exclude|exclude-dir)=.*)$`), pattern: true, here: true},
		// Not --pre, --hostname-bin and -z, which start programs.
		"rg": {kind: "search", options: regexp.MustCompile(`^(-[nilwcoFSsNuA-C0-9]+|--(hidden|no-heading|line-number|no-ignore|smart-case|fixed-strings)|--(glob|type)=.*)$`), pattern: true, here: true},
		// Only with a script that prints lines, and without options, which may write.
		"sed": {kind: "read", options: regexp.MustCompile(`^$`)},
	}
})

// printsLines says whether a script of sed's prints lines by their numbers and does nothing else.
func printsLines(script string) bool {
	first, last, _ := strings.Cut(strings.TrimSuffix(script, "p"), ",")
	return strings.HasSuffix(script, "p") && first != "" && strings.Trim(first+last, "0123456789") == "" && !strings.HasSuffix(script, ",p")
}

// reading says what kind of reading a script is, and which files it names, absolute if cwd is; "" for one that may do anything else.
func reading(script, cwd string) (kind string, files []string) {
	words, ok := split(script, true)
	if !ok || len(words) == 0 {
		return "", nil
	}
	r, ok := readers()[words[0]]
	if words[0] == "sed" {
		ok = len(words) > 3 && words[1] == "-n" && printsLines(words[2])
		words = words[min(2, len(words)-1):]
	}
	if !ok {
		return "", nil
	}
	args := []string{}
	for _, w := range words[1:] {
		switch {
		case !strings.HasPrefix(w, "-"):
			args = append(args, w)
		case !r.options.MatchString(w):
			return "", nil
		}
	}
	if r.pattern {
		if len(args) == 0 {
			return "", nil
		}
		args = args[1:]
	}
	if len(args) == 0 && r.here {
		args = append(args, ".")
	}
	for i, f := range args {
		if !filepath.IsAbs(f) {
			args[i] = filepath.Join(cwd, f)
		}
	}
	return r.kind, args
}
