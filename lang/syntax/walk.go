package syntax

import "iter"

// Children yields nodes in order, with what is in a Line in place of the Line: what stands directly inside an element or document.
func Children(nodes []Node) iter.Seq[Node] {
	return func(yield func(Node) bool) { children(nodes, yield) }
}

// children tells whether all were taken.
func children(nodes []Node, yield func(Node) bool) bool {
	for _, n := range nodes {
		if line, ok := n.(*Line); ok { // also that which an Else is put into
			if !children(line.Body, yield) {
				return false
			}
		} else if !yield(n) {
			return false
		}
	}
	return true
}

// Walk calls visit for every node in document order, parents first. Where visit returns false, what is inside the node is left out.
// Depth is bounded by MaxDepth.
func Walk(nodes []Node, visit func(Node) bool) {
	for _, n := range nodes {
		if !visit(n) {
			continue
		}
		switch n := n.(type) {
		case *Element:
			Walk(n.Body, visit)
		case *Fill:
			Walk(n.Body, visit)
		case *Line:
			Walk(n.Body, visit)
		}
	}
}
