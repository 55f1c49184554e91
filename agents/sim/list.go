package sim

import (
	"slices"
	"strings"
)

// Fault is one fault of the list, for tests that go through all of them.
type Fault struct {
	// Name is what stands before the equals sign.
	Name string
	// Values are what may stand behind it, where that is a choice; nil where nothing or anything does.
	Values []string
	// Needs says that it is given with a value only.
	Needs bool
}

// Faults lists every fault there is, in the order of `xmd sim --help`. The caller may keep and change it.
func Faults() []Fault {
	list := make([]Fault, 0, len(faultTable))
	for _, f := range faultTable {
		one := Fault{Name: f.name, Needs: f.value == required || f.value == millis || f.value == size}
		if f.value == oneOf || f.value == manyOf {
			for _, words := range f.of {
				one.Values = append(one.Values, strings.Split(words, "+")...)
			}
			slices.Sort(one.Values)
			one.Values = slices.Compact(one.Values)
		}
		list = append(list, one)
	}
	return list
}
