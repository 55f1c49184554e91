package expr

import "xmd/lang/diag"

// DidYouMean is the hint for a name that was not found: it names the nearest one, or is "".
func DidYouMean(name string, among []string) string {
	if n := diag.Nearest(name, among); n != "" {
		return "did you mean " + n + "?"
	}
	return ""
}
