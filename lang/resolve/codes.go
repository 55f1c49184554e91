package resolve

import (
	"xmd/lang/diag"
	"xmd/lang/expr"
)

// Codes of what is wrong with a document's meaning. They are stable: a code keeps its meaning and is never used again.
const (
	CodeUnknownComponent = "XMD1301"
	// XMD1302 was a component that is not built yet.
	CodeUnknownAttribute = "XMD1303"
	// XMD1304 was an attribute that is not built yet.
	CodeMissingAttribute = "XMD1305"
	CodeAttributeValue   = "XMD1306"
	CodeBody             = "XMD1307"
	CodeElse             = "XMD1308"
	CodeSessionName      = "XMD1309"
	CodeBound            = "XMD1310"
	CodeCatch            = "XMD1311"
	CodeBreak            = "XMD1312"
	CodeReturn           = "XMD1313"
	CodeOutput           = "XMD1314"
	CodePermission       = "XMD1315"
	CodeConversation     = "XMD1316"
	CodeLaunch           = "XMD1317"
	CodeSlot             = "XMD1318"
	CodeOfferPlace       = "XMD1319"
	CodeExecLanguage     = "XMD1320"
	CodeExecWord         = "XMD1321"
	// XMD1322 was a word of exec fences that is not built yet.
	CodeExecValue   = "XMD1323"
	CodeDuration    = "XMD1324"
	CodeOfferName   = "XMD1325"
	CodeSchema      = "XMD1330"
	CodeSchemaFile  = "XMD1331"
	CodeSchemaValue = "XMD1332"
	CodeFile        = "XMD1340"
	CodeCycle       = "XMD1341"
	CodeBuiltinFile = "XMD1342"
	CodePropValue   = "XMD1343"
	CodeTest        = "XMD1350"
	CodeTestName    = "XMD1351"

	CodeUnbound      = "XMD1401"
	CodeSometimes    = "XMD1402"
	CodeBadName      = "XMD1403"
	CodeNoInput      = "XMD1404"
	CodeTwoBranches  = "XMD1405"
	CodeNearName     = "XMD1410"
	CodeBlanks       = "XMD1411"
	CodeStringBraces = "XMD1412"
	CodeInertBraces  = "XMD1413"
	CodeExecBraces   = "XMD1414"
	CodeProseMember  = "XMD1415"
	CodeUnreachable  = "XMD1420"
	CodeIdle         = "XMD1421"

	CodeYAML = "XMD1501"
	// XMD1502 was a key of the frontmatter that is not built yet.
	CodeFrontShape    = "XMD1503"
	CodePropName      = "XMD1504"
	CodePropSchema    = "XMD1505"
	CodePropDefault   = "XMD1506"
	CodeFrontEntry    = "XMD1507"
	CodeSchemaKeyword = "XMD1510"
	CodeFrontKey      = "XMD1511"
)

// Codes lists the codes XMD12xx to XMD15xx in their order, for specs/errors.md.
var Codes = []diag.Code{
	{Code: expr.CodeSyntax, Title: "an expression is malformed"},
	{Code: expr.CodeRefused, Title: "an expression uses what is not part of the language"},
	{Code: expr.CodeFunction, Title: "an unknown function, or one with the wrong arguments"},
	{Code: expr.CodeType, Title: "an expression's types cannot fit"},
	{Code: expr.CodeMember, Title: "a member that the value cannot have"},
	{Code: expr.CodeValue, Title: "an expression failed while it was evaluated"},
	{Code: CodeUnknownComponent, Title: "there is no component of this name"},
	{Code: CodeUnknownAttribute, Title: "an attribute that the component does not have"},
	{Code: CodeMissingAttribute, Title: "a required attribute is missing"},
	{Code: CodeAttributeValue, Title: "an attribute's value is of the wrong form"},
	{Code: CodeBody, Title: "both or neither of a body and the attribute that stands for it"},
	{Code: CodeElse, Title: "`Else` stands where it cannot"},
	{Code: CodeSessionName, Title: "a name that no session or agent can have"},
	{Code: CodeBound, Title: "a bound that is no whole number, or outside of what it may be"},
	{Code: CodeCatch, Title: "`Catch` stands where it cannot"},
	{Code: CodeBreak, Title: "`Break` that leaves no `Loop`"},
	{Code: CodeReturn, Title: "`Return` stands where it cannot, or is missing on a path"},
	{Code: CodeOutput, Title: "`Output` stands where it cannot"},
	{Code: CodePermission, Title: "an entry of `Permissions` that is malformed"},
	{Code: CodeConversation, Title: "what cannot stand in a `Conversation`"},
	{Code: CodeLaunch, Title: "`Session.Launch` stands where others run at the same time"},
	{Code: CodeSlot, Title: "a slot that does not exist, or `slot` where it means nothing"},
	{Code: CodeOfferPlace, Title: "`Tool`, `Mcp` or `Instructions` where it holds for no prompt"},
	{Code: CodeExecLanguage, Title: "an exec block in a language that no program is known for"},
	{Code: CodeExecWord, Title: "an unknown word on an exec fence"},
	{Code: CodeExecValue, Title: "the value of a word on an exec fence is of the wrong form"},
	{Code: CodeDuration, Title: "a malformed duration"},
	{Code: CodeOfferName, Title: "a name that no tool or MCP server can have, or that another one has"},
	{Code: CodeSchema, Title: "a schema is not valid"},
	{Code: CodeSchemaFile, Title: "a schema file that cannot be read"},
	{Code: CodeSchemaValue, Title: "a value that does not fit its schema or choices"},
	{Code: CodeFile, Title: "a component file that cannot be read"},
	{Code: CodeCycle, Title: "a component is part of itself"},
	{Code: CodeBuiltinFile, Title: "a component file has the name of a built-in component"},
	{Code: CodePropValue, Title: "a prop's value does not fit its schema"},
	{Code: CodeTest, Title: "a component of test documents where it cannot stand, or a test document with a result of its own"},
	{Code: CodeTestName, Title: "a name that no test can have, or that another one has"},
	{Code: CodeUnbound, Title: "a name that is not bound"},
	{Code: CodeSometimes, Title: "a name that is bound on some paths only"},
	{Code: CodeBadName, Title: "a name that cannot be bound"},
	{Code: CodeNoInput, Title: "a prop, environment name or frontmatter key that is not declared"},
	{Code: CodeTwoBranches, Title: "two branches that run at once bind one name"},
	{Code: CodeNearName, Title: "warning: braces in prose that nearly are a bound name"},
	{Code: CodeBlanks, Title: "warning: blanks keep braces from being an interpolation"},
	{Code: CodeStringBraces, Title: "warning: a string attribute is not interpolated"},
	{Code: CodeInertBraces, Title: "warning: a code span or fence is not interpolated"},
	{Code: CodeExecBraces, Title: "warning: a program is not interpolated"},
	{Code: CodeProseMember, Title: "warning: braces in prose name a member that the value cannot have"},
	{Code: CodeUnreachable, Title: "warning: something is never reached"},
	{Code: CodeIdle, Title: "warning: an attribute does nothing here"},
	{Code: CodeYAML, Title: "the frontmatter is not valid YAML"},
	{Code: CodeFrontShape, Title: "a key of the frontmatter has a value of the wrong form"},
	{Code: CodePropName, Title: "a name that no prop or environment variable can have"},
	{Code: CodePropSchema, Title: "a prop's schema is not valid"},
	{Code: CodePropDefault, Title: "a prop's default does not fit its schema"},
	{Code: CodeFrontEntry, Title: "frontmatter in a REPL entry"},
	{Code: CodeSchemaKeyword, Title: "warning: a schema's keyword does not exist"},
	{Code: CodeFrontKey, Title: "warning: a key of the frontmatter nearly is one that acts"},
}
