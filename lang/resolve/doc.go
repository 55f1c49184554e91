// Package resolve finds what every name, component and attribute of a document means, before anything runs.
//
//	syntax.Document ─▶ Resolve ─▶ Info (annotations of the tree), diag.List
//	    frontmatter.go   props, env, meta: YAML with places          components.go  the table of components, as data
//	    scope.go         which names are bound where, and how surely attrs.go       attributes against the table
//	    text.go          braces in prose, spans and programs         element.go     what each component wants
//	    exec.go          words of exec blocks                        names.go       sessions' names, durations
//
// All errors of a document come out of one pass, also those behind others: what cannot be understood binds its names anyway,
// so that it causes no errors further down. Package plan makes the plan from the tree and the annotations.
package resolve
