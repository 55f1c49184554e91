// Command vulnerable calls what GO-2021-0113 names.
package main

import (
	"fmt"

	"golang.org/x/text/language"
)

func main() {
	tag, err := language.Parse("en")
	fmt.Println(tag, err)
}
