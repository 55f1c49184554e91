// Package plan holds the immutable compiled form of a document. It does no I/O; any number of runs may share one Plan.
//
//	syntax.Document ─▶ resolve.Resolve ─▶ Build ─▶ *Plan, one for each component file too
//	    plan.go control.go effects.go offers.go   the nodes an executor runs   build*.go   from the annotated tree to nodes
//	    props.go                                  BindProps: flags, JSON, env  digest.go   what is the same plan
//	    uses.go agents.go bounds.go               steps, agents, sessions      text*.go json*.go graph.go mermaid.go dot.go   xmd plan
//
// A Compiler does all of it, and takes component and schema files from its Files. Nothing in a Plan changes after it was made.
package plan
