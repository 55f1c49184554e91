package resolve

import (
	"math"

	"xmd/lang/diag"
	"xmd/lang/expr"
)

// scope is which names are bound at the point that the resolver has reached. Arms of an If are tried one after the other
// from the same state, so changes are logged while any arm is open: going back costs as much as was changed, whatever the
// size of the scope.
type scope struct {
	names map[string]Bound
	log   []change
	open  int // arms being resolved
	left  int // how long the log was at the first Break of the innermost Loop; notLeft: there was none
}

// notLeft is behind the end of any log.
const notLeft = math.MaxInt

// change is what a name was before it was bound.
type change struct {
	name string
	was  Bound
	had  bool
}

func newScope(bound Names) *scope {
	s := &scope{names: make(map[string]Bound, len(bound)), left: notLeft}
	for n, b := range bound {
		b.At = diag.Span{} // it is no place of this document
		s.names[n] = b
	}
	return s
}

func (s *scope) bind(name string, typ *expr.Type, at diag.Span) {
	s.set(name, Bound{Type: typ, At: at})
}

func (s *scope) set(name string, b Bound) {
	if s.open > 0 {
		was, had := s.names[name]
		s.log = append(s.log, change{name, was, had})
	}
	s.names[name] = b
}

// arm begins one of several ways that the document may take; mark goes to leave.
func (s *scope) arm() (mark int) {
	s.open++
	return len(s.log)
}

// leave ends an arm: the scope is again as it was before, and what the arm bound is returned.
func (s *scope) leave(mark int) Names {
	bound := Names{}
	for i := len(s.log) - 1; i >= mark; i-- {
		c := s.log[i]
		if _, seen := bound[c.name]; !seen {
			bound[c.name] = s.names[c.name]
		}
		if c.had {
			s.names[c.name] = c.was
		} else {
			delete(s.names, c.name)
		}
	}
	s.log = s.log[:mark]
	s.open--
	if s.left != notLeft { // what the log says from here on came behind the Break
		s.left = min(s.left, mark)
	}
	return bound
}

// late gives what the names that were bound behind the first Break of a Loop were before it.
func (s *scope) late() map[string]change {
	late := map[string]change{}
	if s.left == notLeft {
		return late
	}
	for _, c := range s.log[s.left:] {
		if _, seen := late[c.name]; !seen {
			late[c.name] = c
		}
	}
	return late
}

// maybe makes of names that are bound for certain names that are bound only if what bound them ran to its end.
func (s *scope) maybe(names Names) {
	s.join(names, Names{})
}

// join binds what two arms bound: a name of both is bound, a name of one only on some paths, unless it was bound before.
func (s *scope) join(a, b Names) {
	for name, x := range a {
		y, both := b[name]
		if !both {
			y = s.other(name, x)
		}
		s.set(name, merge(x, y))
	}
	for name, y := range b {
		if _, both := a[name]; !both {
			s.set(name, merge(y, s.other(name, y)))
		}
	}
}

// other is a name on the paths that do not bind it.
func (s *scope) other(name string, b Bound) Bound {
	if before, ok := s.names[name]; ok {
		return before
	}
	return Bound{Type: b.Type, Sometimes: true}
}

func merge(x, y Bound) Bound {
	return Bound{Type: expr.Union(x.Type, y.Type), Sometimes: x.Sometimes || y.Sometimes, At: x.At}
}

// reserved are the names that are never bound by a document.
var reserved = map[string]bool{"props": true, "meta": true, "run": true, "env": true, "loop": true, "each": true, "args": true, "call": true}

// given are the reserved names that every document has.
var given = map[string]bool{"props": true, "meta": true, "run": true, "env": true}

// lenders are the components that give their bodies a reserved name.
var lenders = map[string]string{"each": "Each", "loop": "Loop", "args": "Tool", "call": "Tool"}

// lends are the reserved names that a component gives its body.
func lends(component string) []string {
	switch component {
	case "Each":
		return []string{"each"}
	case "Loop":
		return []string{"loop"}
	case "Tool":
		return []string{"args", "call"}
	}
	return nil
}
