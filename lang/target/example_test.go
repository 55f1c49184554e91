package target_test

import (
	"fmt"

	"xmd/lang"
	"xmd/lang/target"
)

func Example() {
	doc, _ := lang.Parse("plan.xmd", "# Plan\n\n## Release\n\n### Build\n\n### Publish\n\nShip it.\n")
	for _, t := range target.List(doc) {
		fmt.Println(t.Path)
	}
	s, _ := target.Select(doc, "Release/Pub*")
	fmt.Println("selected:", s.Path)
	_, err := target.Select(doc, "Publish")
	fmt.Println(err)
	// Output:
	// Release
	// Release/Build
	// Release/Publish
	// selected: Release/Publish
	// plan.xmd: there is no target "Publish"; a path begins at the outermost heading: Release/Publish
}
