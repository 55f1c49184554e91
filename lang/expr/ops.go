package expr

import (
	"math"
	"strings"
)

func (n *unary) eval(m *machine) (any, *Error) {
	if n.op == "!" {
		b, err := m.boolean(n.x, "what ! turns round")
		return !b, err
	}
	v, err := n.x.eval(m)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case int64:
		if n.op == "+" {
			return v, nil
		}
		if v == math.MinInt64 {
			return -float64(v), nil
		}
		return -v, nil
	case float64:
		if n.op == "+" {
			return v, nil
		}
		return whole(-v), nil
	}
	return nil, errorAt(n.pos, CodeValue, n.op+" wants a number, got "+KindName(v), "")
}

func (n *binary) eval(m *machine) (any, *Error) {
	if n.op == "&&" || n.op == "||" {
		return n.logic(m)
	}
	l, err := n.left.eval(m)
	if err != nil {
		return nil, err
	}
	r, err := n.right.eval(m)
	if err != nil {
		return nil, err
	}
	if err := m.spend(1+cost(l)+cost(r), n.pos); err != nil {
		return nil, err
	}
	v, problem := n.apply(l, r)
	if problem != "" {
		return nil, errorAt(n.pos, CodeValue, problem, operatorHint(n.op, l, r))
	}
	return v, nil
}

// cost is what comparing or joining a value costs, which goes through all of it.
func cost(v any) int {
	sum := size(v)
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			sum += cost(e)
		}
	case map[string]any:
		for _, e := range v {
			sum += cost(e)
		}
	}
	return sum
}

func (n *binary) logic(m *machine) (any, *Error) {
	l, err := m.boolean(n.left, "the left side of "+n.op)
	if err != nil {
		return nil, err
	}
	if l == (n.op == "||") {
		return l, nil
	}
	return wrapBool(m.boolean(n.right, "the right side of "+n.op))
}

func wrapBool(b bool, err *Error) (any, *Error) { return b, err }

// apply computes one operator; problem says why the values do not fit it.
func (n *binary) apply(l, r any) (v any, problem string) {
	switch n.op {
	case "==":
		return Equal(l, r), ""
	case "!=":
		return !Equal(l, r), ""
	case "<", "<=", ">", ">=":
		return order(n.op, l, r)
	case "in":
		return isIn(l, r)
	case "contains", "startsWith", "endsWith", "matches":
		return n.text(l, r)
	case "+":
		if a, ok := l.(string); ok {
			if b, ok := r.(string); ok {
				return a + b, ""
			}
		}
	}
	return arithmetic(n.op, l, r)
}

func order(op string, l, r any) (any, string) {
	c, ok := compareNumbers(l, r)
	if !ok {
		a, isA := l.(string)
		b, isB := r.(string)
		if !isA || !isB {
			return nil, op + " wants two numbers or two strings, got " + both(l, r)
		}
		c = compare(a, b)
	}
	switch op {
	case "<":
		return c < 0, ""
	case "<=":
		return c <= 0, ""
	case ">":
		return c > 0, ""
	}
	return c >= 0, ""
}

func both(l, r any) string { return KindName(l) + " and " + KindName(r) }

func operatorHint(op string, l, r any) string {
	if op == "+" && (kindOf(l) == String || kindOf(r) == String) {
		return "string(x) makes a string of any value"
	}
	return ""
}

func isIn(l, r any) (any, string) {
	switch r := r.(type) {
	case []any:
		for _, e := range r {
			if Equal(l, e) {
				return true, ""
			}
		}
		return false, ""
	case map[string]any:
		key, ok := l.(string)
		if !ok {
			return nil, "in wants a string as the key of an object, got " + KindName(l)
		}
		_, ok = r[key]
		return ok, ""
	}
	return nil, "in wants an array or an object on its right, got " + KindName(r)
}

func (n *binary) text(l, r any) (any, string) {
	a, isA := l.(string)
	b, isB := r.(string)
	if !isA || !isB {
		return nil, n.op + " wants two strings, got " + both(l, r)
	}
	switch n.op {
	case "contains":
		return strings.Contains(a, b), ""
	case "startsWith":
		return strings.HasPrefix(a, b), ""
	case "endsWith":
		return strings.HasSuffix(a, b), ""
	}
	re, problem := n.re, ""
	if re == nil {
		re, problem = compilePattern(b)
	}
	if problem != "" {
		return nil, problem
	}
	return re.MatchString(a), ""
}

func arithmetic(op string, l, r any) (any, string) {
	if kindOf(l) != Number || kindOf(r) != Number {
		if op == "+" {
			return nil, "+ joins two strings or adds two numbers, got " + both(l, r)
		}
		return nil, op + " wants two numbers, got " + both(l, r)
	}
	a, isA := l.(int64)
	b, isB := r.(int64)
	if isA && isB {
		if v, ok := exact(op, a, b); ok {
			return v, ""
		}
	}
	return approximate(op, toFloat(l), toFloat(r))
}

// exact computes with whole numbers; ok is false where the result is none, does not fit, or does not exist.
func exact(op string, a, b int64) (v int64, ok bool) {
	switch op {
	case "+":
		v = a + b
		return v, (v > a) == (b > 0)
	case "-":
		v = a - b
		return v, (v < a) == (b > 0)
	case "*":
		if a == 0 || b == 0 {
			return 0, true
		}
		v = a * b
		return v, v/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
	case "/":
		if b == 0 || b == -1 && a == math.MinInt64 || a%b != 0 {
			return 0, false
		}
		return a / b, true
	}
	if b == 0 {
		return 0, false
	}
	if b == -1 {
		return 0, true
	}
	return a % b, true
}

func approximate(op string, a, b float64) (any, string) {
	var f float64
	switch op {
	case "+":
		f = a + b
	case "-":
		f = a - b
	case "*":
		f = a * b
	default:
		if b == 0 {
			return nil, "division by zero"
		}
		if f = a / b; op == "%" {
			f = math.Mod(a, b)
		}
	}
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, "the result of " + op + " is too large"
	}
	return whole(f), ""
}

func toFloat(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}
