package proc

// Reach says what of the programs that Start starts is certainly ended with xmd on this machine, however xmd ends. whole is true when it is
// everything; else words says what it is.
func Reach() (whole bool, words string) { return reach() }
