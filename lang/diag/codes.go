package diag

// Codes of what is wrong with the text itself. They are stable: a code keeps its meaning for ever and is never used again.
const (
	CodeUnclosed      = "XMD1001"
	CodeStrayCloser   = "XMD1002"
	CodeMismatch      = "XMD1003"
	CodeTagUnfinished = "XMD1004"
	CodeCloserBad     = "XMD1005"
	CodeTooDeep       = "XMD1006"
	CodeUnquoted      = "XMD1010"
	CodeStringOpen    = "XMD1011"
	CodeBraceOpen     = "XMD1012"
	CodeNoValue       = "XMD1013"
	CodeRepeated      = "XMD1014"
	CodeSpread        = "XMD1015"
	CodeAttrBad       = "XMD1016"
	CodeEmptyExpr     = "XMD1017"
	CodeExecOpen      = "XMD1020"
	CodeExecInfo      = "XMD1021"
	CodeCommentOpen   = "XMD1022"
	CodeAuthorOpen    = "XMD1023"
	CodeNotUTF8       = "XMD1030"
	CodeTooManyErrors = "XMD1031"
)

// Code is one row of the table of codes.
type Code struct {
	Code  string
	Title string // what the code stands for, in a few words
}

// ParseCodes lists the codes XMD10xx and XMD11xx in their order, for specs/errors.md.
var ParseCodes = []Code{
	{CodeUnclosed, "an element is not closed"},
	{CodeStrayCloser, "a closing tag without its opening tag"},
	{CodeMismatch, "a closing tag of another name than the open element"},
	{CodeTagUnfinished, "an opening tag without its end `>`"},
	{CodeCloserBad, "a closing tag that holds more than its name, or has no `>`"},
	{CodeTooDeep, "elements nested more than 200 deep"},
	{CodeUnquoted, "an attribute's value without quotes or braces"},
	{CodeStringOpen, "an attribute's string is not closed"},
	{CodeBraceOpen, "an expression's brace is not closed"},
	{CodeNoValue, "an attribute with `=` and no value"},
	{CodeRepeated, "an attribute given twice"},
	{CodeSpread, "`{...x}` in a tag"},
	{CodeAttrBad, "something in a tag that is no attribute"},
	{CodeEmptyExpr, "an attribute with empty braces"},
	{CodeExecOpen, "an exec fence is not closed"},
	{CodeExecInfo, "a word of an exec fence's opening line is malformed"},
	{CodeCommentOpen, "a comment `<!--` is not closed"},
	{CodeAuthorOpen, "a comment `{/*` is not closed"},
	{CodeNotUTF8, "the text is not UTF-8"},
	{CodeTooManyErrors, "more errors than are listed"},
}
