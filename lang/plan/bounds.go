package plan

import "strconv"

// Bound is a limit that the document sets to one of its steps.
type Bound struct {
	Step      string // its identity
	Kind      BoundKind
	Number    int64  // of rounds, bodies at once, further askings, or milliseconds; 0 with an Expr
	Expr      string // computes it; "" if it is known
	ByDefault bool   // the document does not say it
}

// BoundKind is what a Bound limits.
type BoundKind string

// What is bounded.
const (
	Rounds  BoundKind = "rounds"  // of a Loop
	AtOnce  BoundKind = "at once" // branches of a Parallel, bodies of an Each
	Retries BoundKind = "re-asks" // of a structured reply
	Timeout BoundKind = "timeout"
)

// DefaultParallel is how many branches of a Parallel run at once unless it says so.
const DefaultParallel = 8

// DefaultRetries is how often a reply that does not fit its schema is asked for again unless the prompt says so.
const DefaultRetries = 2

// Bounds lists the limits of the document's own steps, in their order.
func (p *Plan) Bounds() []Bound {
	var list []Bound
	for _, it := range p.Items() {
		switch n := it.Node.(type) {
		case *Loop:
			list = append(list, boundOf(n.ID, Rounds, n.Max, 0))
		case *Parallel:
			list = append(list, boundOf(n.ID, AtOnce, n.Max, DefaultParallel))
		case *Each:
			if n.Parallel.Given {
				list = append(list, boundOf(n.ID, AtOnce, n.Parallel, 0))
			}
		case *Prompt:
			if n.Schema.Given {
				list = append(list, boundOf(n.ID, Retries, n.Retries, DefaultRetries))
			}
			list = timeout(list, n.ID, n.TimeoutMS, n.Timeout)
		case *Fetch:
			list = timeout(list, n.ID, n.TimeoutMS, n.Timeout)
		case *Exec:
			list = timeout(list, n.ID, n.TimeoutMS, Arg{})
		case *Tool:
			list = timeout(list, n.ID, n.TimeoutMS, Arg{})
		case *Test:
			list = timeout(list, n.ID, n.TimeoutMS, Arg{})
		}
	}
	return list
}

func boundOf(id string, kind BoundKind, a Arg, otherwise int64) Bound {
	b := Bound{Step: id, Kind: kind}
	if !a.Given {
		b.Number, b.ByDefault = otherwise, true
		return b
	}
	if v, ok := a.Const(); ok {
		b.Number, _ = v.(int64)
		return b
	}
	b.Expr = a.Expr.Source
	return b
}

func timeout(list []Bound, id string, ms int64, computed Arg) []Bound {
	switch {
	case computed.Given:
		return append(list, Bound{Step: id, Kind: Timeout, Expr: computed.Expr.Source})
	case ms != 0:
		return append(list, Bound{Step: id, Kind: Timeout, Number: ms})
	}
	return list
}

// String shows a bound: "timeout 90s", "rounds {props.n}".
func (b Bound) String() string {
	switch {
	case b.Expr != "":
		return string(b.Kind) + " {" + b.Expr + "}"
	case b.Kind == Timeout:
		return "timeout " + duration(b.Number)
	}
	return string(b.Kind) + " " + strconv.FormatInt(b.Number, 10)
}
