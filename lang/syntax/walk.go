package syntax

import "iter"

// Children yields nodes in order, with the Body of a Line in place of the Line: what stands directly inside an element or document.
func Children(nodes []Node) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for _, n := range nodes {
			line, ok := n.(*Line)
			if !ok {
				if !yield(n) {
					return
				}
				continue
			}
			for _, inner := range line.Body {
				if !yield(inner) {
					return
				}
			}
		}
	}
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
