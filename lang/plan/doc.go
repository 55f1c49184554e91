// Package plan holds the immutable compiled form of a document. It does no I/O; any number of runs may share one Plan.
//
//	syntax.Document ─▶ resolve.Resolve ─▶ Build ─▶ *Plan
//	    plan.go     the nodes that an executor runs       build.go    from the annotated tree to nodes
//	    props.go    BindProps: flags, JSON, environment   digest.go   what is the same plan
//	    uses.go     agents, sessions, steps, bounds       text.go json.go   xmd plan
//
// Compile does all of it. Nothing in a Plan changes after it was made.
package plan
