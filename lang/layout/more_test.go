package layout_test

import (
	"maps"
	"testing"

	"xmd/lang"
	"xmd/lang/layout"
	"xmd/lang/syntax"
)

// more examples: what the worked ones leave open. Names as there: x="X", xs=["a","b"], no=null, nl="end\n".
var more = []struct{ name, in, out string }{
	{"gaps: blanks between whole elements stay only between what is rendered",
		"<If condition={true}>a</If> <If condition={false}>b</If> <If condition={true}>c</If> <If condition={false}>d</If> \n", "a  c\n"},
	{"a line of elements that render nothing", "A\n<If condition={false}>a</If> <Let as=\"v\" value={1}/> {/* c */}\nB\n", "A\nB\n"},
	{"Else on a line of its own, true", "<If condition={true}>\n  A\n  <Else>B</Else>\n</If>\nC\n", "A\nC\n"},
	{"Else on a line of its own, false", "<If condition={false}>\n  A\n  <Else>B</Else>\n</If>\nC\n", "B\nC\n"},
	{"Else alone", "<If condition={false}>\n  <Else>\n    B\n  </Else>\n</If>\nC\n", "B\nC\n"},
	{"Else in a list", "- a\n  <If condition={false}>\n  - b\n  <Else>\n  - c\n    d\n  </Else>\n  </If>\n- e\n", "- a\n  - c\n    d\n- e\n"},
	{"Else in an inline If over lines", "It is <If condition={false}>good<Else>\nbad</Else></If>.\n", "It is \nbad.\n"},
	{"indent of a line stays before the first that renders", "A\n  <Let as=\"v\" value={1}/><Prompt text=\"q\"/>\nB\n", "A\n  «q»\nB\n"},
	{"a body on its own lines brings its own indent", "A\n  <Let as=\"v\" value={1}/><If condition={true}>\n    B\n  </If>\nC\n", "A\n  B\nC\n"},
	{"a reply before a body on its own lines keeps its line", "<Prompt text=\"q\"/><If condition={true}>\nB\n</If>\nC\n", "«q»\nB\nC\n"},
	{"a captured body that begins on the tag's line moves with what is around it", "<If condition={true}>\n  <Prompt>Hi\n  there</Prompt>\n</If>\n", "«Hi\nthere»\n"},
	{"a list item without anything", "- <If condition={false}>x</If>\n- b\n", "- \n- b\n"},
	{"an exec block with as after a list marker", "- ```bash exec as=\"r\"\n  ls\n  ```\n- b\n", "- \n- b\n"},
	{"text after a closing tag", "<If condition={true}>\n  A\n  </If> B\nC\n", "A\n B\nC\n"},
	{"an element that ends on a line of its own behind text", "A <If condition={false}>\n  B\n</If>\nC\n", "A \nC\n"},
	{"two elements over lines, close to each other", "<If condition={true}>\nA\n</If><If condition={true}>\nB\n</If>\nC\n", "A\nB\nC\n"},
	{"a reply that ends where a body on its own lines begins", "<Prompt>\n  Hi\n</Prompt><If condition={true}>\n  B\n</If>\nC\n", "«Hi»\n  B\nC\n"},
	{"Content's fallback with an indent", "- a\n  <Nested/>\n- b\n", "- a\n  none\nat all\n- b\n"},
	{"Content with an indent", "- a\n  <Nested>given</Nested>\n", "- a\n  given\n"},
	{"quote: nested and indented", "> <If condition={true}>\n>   <If condition={true}>\n>     > B\n>   </If>\n> </If>\n> C\n", "> > B\n> C\n"},
	{"quote: nothing rendered, no line", "> A\n> <If condition={false}>x</If>\n> B\n", "> A\n> B\n"},
	{"quote: a reply", "> A\n>   <Prompt>\n>     Hi\n>       you\n>   </Prompt>\n> B\n", "> A\n>   «Hi\n  you»\n> B\n"},
	{"quote inside a body is text", "<If condition={true}>\n  > <Prompt text=\"q\"/>\n  >\n  > B\n</If>\n", "> «q»\n>\n> B\n"},
	{"a comment's line is not measured", "<If condition={true}>\n{/* why */}\n  B\n</If>\n", "B\n"},
	{"a comment over lines is inert and moves", "<If condition={true}>\n  <!-- a\n b\n    c -->\n  B\n</If>\n", "<!-- a\nb\n  c -->\nB\n"},
	{"a code span over lines is measured", "<If condition={true}>\n    A `b\n  c` d\n</If>\n", "  A `b\nc` d\n"},
	{"escape at the start of an indented line", "<If condition={true}>\n  \\<If> \\{x}\n</If>\n", "<If> {x}\n"},
	{"interpolation at the start of an indented line", "<If condition={true}>\n  {x}\n    {x}\n</If>\n", "X\n  X\n"},
	{"tabs below a common prefix", "<If condition={true}>\n\t A\n\t  B\n</If>\n", "A\n B\n"},
	{"Each renders lines of its own each time", "<Each in={xs} let=\"i\">\n\n  {i}\n</Each>\nC\n", "\na\n\nb\nC\n"},
	{"Each with a reply each time", "<Each in={xs} let=\"i\"><Prompt>{i}</Prompt></Each>\nC\n", "«a»«b»\nC\n"},
	{"Each with a reply on its line each time", "<Each in={xs} let=\"i\">\n  <Prompt>{i}</Prompt>\n</Each>\nC\n", "«a»\n«b»\nC\n"},
	{"nothing bound in a body of blanks", "<Let as=\"v\">  </Let>[{v}]\n<Let as=\"w\">\n \n</Let>[{w}]\n", "[  ]\n[]\n"},
	{"blank lines that a null leaves are the author's", "<Let as=\"v\">\n{no}\na\n{no}\n</Let>[{v}]\n", "[a]\n"},
	{"a value's line end, then the author's", "<Let as=\"v\">\n{nl}\n\n</Let>[{v}]\n", "[end\n]\n"},
	{"a line end at the end of a program is one", "```bash exec\nls\n```", "EXEC:ls\n"},
	{"a fence that ends with its quote", "> ```x fill\n> {x}\n\nA\n", "> ```x\n> X\n\nA\n"},
	{"a filled fence in a captured body in a quote", "> <Prompt>\n> ```x fill\n> {x}\n> ```\n> </Prompt>\n", "> «```x\nX\n```»\n"},
	{"CRLF in a File's end", "<File path=\"f\">\r\n  {x}\r\n\r\n</File>\r\nC\r\n", "C\r\n|X\r\n"},
	{"File: a value without line end gets one", "<File path=\"f\">\n{x}</File>\n<File path=\"g\">\n{nl}\n</File>\n", "|X|end\n"},
	{"File: the closing tag behind others", "<File path=\"f\">\n<If condition={true}>\nA\n</If></File>\n", "|A\n"},
	{"frontmatter, then a tag", "---\nprops: {}\n---\n  <If condition={true}>\n    A\n  </If>\n", "  A\n"},
	{"byte order mark before a tag", "\uFEFF  <If condition={true}>\n    A\n  </If>\n", "  A\n"},
	{"a tag over lines counts as one line", "A\n<If\n  condition={true}\n>\n  B\n</If\n>\nC\n", "A\nB\nC\n"},
}

func TestMore(t *testing.T) {
	ex := load(t)
	components := map[string]*syntax.Document{"Nested": mustParse("Nested", "<Content>\n  none\n  at all\n</Content>\n")}
	for _, c := range more {
		doc, list := lang.Parse("in.xmd", c.in)
		if len(list) > 0 {
			t.Errorf("%s: %+v", c.name, list)
			continue
		}
		e := &evaluator{components: components, files: map[string]string{}}
		var out layout.Buffer
		if err := e.nodes(doc.Body, &names{vars: maps.Clone(ex.Vars)}, &out); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		for _, f := range []string{"f", "g"} {
			if text, ok := e.files[f]; ok {
				got += "|" + text
			}
		}
		if got != c.out {
			t.Errorf("%s\nin   %q\ngot  %q\nwant %q", c.name, c.in, got, c.out)
		}
	}
}
