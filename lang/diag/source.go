package diag

// Source is one source text with its name as people write it.
type Source struct {
	Name string
	Text string
	lines []int // offsets of line starts; built on first use
}
