// Package resolve finds what every name, component and attribute of a document means, before anything runs.
//
//	syntax.Document ─▶ Resolve ─▶ Info (annotations of the tree), diag.List
//	    frontmatter.go yaml.go   props, env, returns, meta      components.go       the table of components, as data
//	    scope.go loops.go        which names are bound where,   attrs.go forms.go   attributes against the table
//	    arms.go ends.go          and what is never reached      element.go          what each component wants
//	    text.go exec.go          braces, programs               effects.go offers.go permissions.go
//	    files.go component.go    component files and their use  schemas.go          schemas and their files
//
// All errors of a document, and of the files that it uses, come out of one pass, also those behind others: what cannot be
// understood binds its names anyway, so that it causes no errors further down. Package plan makes the plan from the tree and the
// annotations.
package resolve
