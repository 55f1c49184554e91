package lang_test

import (
	"fmt"
	"os"

	"xmd/lang"
	"xmd/lang/diag"
	"xmd/lang/syntax"
)

func ExampleParse() {
	doc, list := lang.Parse("plan.xmd", "# Plan\n\n<Prompt agent=codex>\n  Look at {file}.\n</Promt>\n")
	_ = diag.WriteText(os.Stdout, doc.Source, list)
	syntax.Walk(doc.Body, func(n syntax.Node) bool {
		if el, ok := n.(*syntax.Element); ok {
			fmt.Println(el.Name, doc.Source.At(el.Pos.Start))
		}
		return true
	})
	// Output:
	// plan.xmd:3:15: the value of agent needs quotes or braces [XMD1010]
	//     <Prompt agent=codex>
	//                   ^~~~~
	// hint: write agent="codex" or agent={codex}
	// plan.xmd:5:1: </Promt> does not close <Prompt> [XMD1003]
	//     </Promt>
	//     ^~~~~~~~
	// hint: write </Prompt>
	// plan.xmd:3:1: <Prompt> is opened here
	// Prompt plan.xmd:3:1
}
