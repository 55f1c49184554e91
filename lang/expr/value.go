package expr

import (
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
)

// Normalize turns a Go value that came from JSON, YAML or the runtime into one of the value types of this package:
// nil, bool, int64, float64, string, []any, map[string]any. Containers are copied, so v may be changed afterwards.
// A whole number that fits becomes int64. Values that JSON does not have (NaN, infinities, other Go types) are an error.
func Normalize(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v), nil
		}
		return float64(v), nil
	case float64:
		return normalizeFloat(v)
	case json.Number:
		return parseNumber(v.String())
	case []string:
		out := make([]any, len(v))
		for i, s := range v {
			out[i] = s
		}
		return out, nil
	case []any:
		return normalizeArray(v)
	case map[string]any:
		return normalizeObject(v)
	}
	return nil, fmt.Errorf("%T is not a JSON value", v)
}

func normalizeArray(v []any) (any, error) {
	out := make([]any, len(v))
	for i, e := range v {
		n, err := Normalize(e)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

func normalizeObject(v map[string]any) (any, error) {
	out := make(map[string]any, len(v))
	for k, e := range v {
		n, err := Normalize(e)
		if err != nil {
			return nil, err
		}
		out[k] = n
	}
	return out, nil
}

func normalizeFloat(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is not a JSON number", f)
	}
	return whole(f), nil
}

// whole gives an int64 for a float that is a whole number and fits, else the float itself.
func whole(f float64) any {
	// 2^63 itself does not fit; every whole float below it does.
	if f == math.Trunc(f) && f >= math.MinInt64 && f < -math.MinInt64 {
		return int64(f)
	}
	return f
}

// parseNumber reads a JSON number exactly: as int64 where it is a whole number that fits.
func parseNumber(s string) (any, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("the number %s is too large", s)
	}
	return normalizeFloat(f)
}

// Equal reports whether two values are the same JSON value. Numbers are compared by their exact mathematical value.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case string:
		b, ok := b.(string)
		return ok && a == b
	case int64, float64:
		c, ok := compareNumbers(a, b)
		return ok && c == 0
	case []any:
		b, ok := b.([]any)
		return ok && equalArrays(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalObjects(a, b)
	}
	return false
}

func equalArrays(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func equalObjects(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

// compareNumbers compares two numbers exactly; ok is false if one of them is no number.
func compareNumbers(a, b any) (cmp int, ok bool) {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return compare(a, b), true
		case float64:
			return -compareFloatInt(b, a), true
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return compareFloatInt(a, b), true
		case float64:
			return compare(a, b), true
		}
	}
	return 0, false
}

func compare[T int64 | float64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareFloatInt does not convert i to float64, which would round it: it cuts f to a whole number instead.
func compareFloatInt(f float64, i int64) int {
	if f >= -math.MinInt64 {
		return 1
	}
	if f < math.MinInt64 {
		return -1
	}
	t := math.Trunc(f)
	if c := compare(int64(t), i); c != 0 {
		return c
	}
	return compare(f, t)
}

// Keys lists the keys of an object in key order.
func Keys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// KindName says what a value is, in the words of messages: "a string", "null".
func KindName(v any) string { return kindOf(v).String() }

func kindOf(v any) Kind {
	switch v.(type) {
	case nil:
		return Null
	case bool:
		return Bool
	case int64, float64:
		return Number
	case string:
		return String
	case []any:
		return Array
	case map[string]any:
		return Object
	}
	return 0
}

// Less reports whether a and b are numbers and a is the smaller one, by their exact values.
func Less(a, b any) bool {
	c, ok := compareNumbers(a, b)
	return ok && c < 0
}
