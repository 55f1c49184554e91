package format_test

import (
	"fmt"

	"xmd/lang/diag"
	"xmd/lang/format"
)

func Example() {
	text, _ := format.Source(diag.NewSource("a.xmd", "<Agent   name='sim'>\n      <Prompt text = \"hello\" />\n</Agent >\n"))
	fmt.Print(text)
	// Output:
	// <Agent name="sim">
	//   <Prompt text="hello"/>
	// </Agent>
}
