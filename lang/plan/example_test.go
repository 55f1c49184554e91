package plan_test

import (
	"fmt"

	"xmd/lang"
	"xmd/lang/plan"
)

func ExampleCompile() {
	doc, _ := lang.Parse("hello.xmd", "<Agent name=\"codex\">\n<Prompt session=\"s\">Hello</Prompt>\n</Agent>\n")
	p, _ := plan.Compile(doc)
	for _, it := range p.Items() {
		fmt.Printf("%s agent=%q session=%q\n", it.ID, it.Agent, it.Session)
	}
	doc, _ = lang.Parse("wrong.xmd", "<Prompt>Hello {name}</Prompt>")
	_, list := plan.Compile(doc)
	fmt.Println(list[0].Summary)
	// Output:
	// Agent1 agent="codex" session=""
	// Agent1/body/Prompt1 agent="codex" session="s"
	// name is not bound here
}
