package repl

// onResize does nothing: no signal tells of a change of the terminal's size.
func onResize(func()) (stop func()) { return func() {} }
