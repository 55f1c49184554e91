package expr

import "xmd/lang/diag"

// Codes of errors in expressions. They are stable.
const (
	CodeSyntax   = "XMD1201" // not a well-formed expression
	CodeRefused  = "XMD1202" // well-formed in expr-lang, but not part of the language
	CodeFunction = "XMD1203" // unknown function, or wrong arguments
	CodeType     = "XMD1204" // the types cannot fit
	CodeMember   = "XMD1205" // a member that the value cannot have
	CodeValue    = "XMD1206" // found while evaluating
)

// Error is one fault of an expression, found by Compile, Check or Eval.
type Error struct {
	Code    string
	Message string    // one line, lower case, no full stop, no position
	Hint    string    // what to do; may be empty
	Span    diag.Span // in the document
}

// Error gives the message alone; where it is said, the caller knows the source.
func (e *Error) Error() string { return e.Message }

func errorAt(span diag.Span, code, message, hint string) *Error {
	return &Error{Code: code, Message: message, Hint: hint, Span: span}
}
