package expr

import "strconv"

// The canonical form is fully parenthesised; it is hashed and shown, never parsed again.

func (n *ref) canon(b []byte) []byte  { return append(b, n.ref.Name...) }
func (n *item) canon(b []byte) []byte { return append(b, '#') }

func (n *literal) canon(b []byte) []byte {
	if f, ok := n.value.(float64); ok {
		return strconv.AppendFloat(b, f, 'e', -1, 64) // as JSON, a large one would look like a whole number
	}
	return append(b, JSON(n.value)...)
}

func (n *memberOf) canon(b []byte) []byte {
	b = n.of.canon(b)
	if IsName(n.name) {
		return append(append(b, '.'), n.name...)
	}
	return append(append(append(b, '['), JSON(n.name)...), ']')
}

func (n *indexOf) canon(b []byte) []byte {
	return append(n.index.canon(append(n.of.canon(b), '[')), ']')
}

func (n *unary) canon(b []byte) []byte {
	return append(n.x.canon(append(append(b, '('), n.op...)), ')')
}

func (n *binary) canon(b []byte) []byte { return infix(b, n.left, n.op, n.right) }

func (n *coalesce) canon(b []byte) []byte { return infix(b, n.left, "??", n.right) }

func infix(b []byte, left node, op string, right node) []byte {
	b = left.canon(append(b, '('))
	b = append(append(append(b, ' '), op...), ' ')
	return append(right.canon(b), ')')
}

func (n *conditional) canon(b []byte) []byte {
	b = append(n.cond.canon(append(b, '(')), " ? "...)
	b = append(n.yes.canon(b), " : "...)
	return append(n.no.canon(b), ')')
}

func (n *array) canon(b []byte) []byte { return append(list(append(b, '['), n.items), ']') }

func (n *call) canon(b []byte) []byte {
	return append(list(append(append(b, n.name...), '('), n.args), ')')
}

func (n *each) canon(b []byte) []byte {
	b = append(n.list.canon(append(append(b, n.name...), '(')), ", ("...) // the body may be an object
	return append(n.body.canon(b), "))"...)
}

func list(b []byte, items []node) []byte {
	for i, n := range items {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = n.canon(b)
	}
	return b
}

func (n *object) canon(b []byte) []byte {
	b = append(b, '{')
	for i, k := range n.keys {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, JSON(k)...), ": "...)
		b = n.values[i].canon(b)
	}
	return append(b, '}')
}
