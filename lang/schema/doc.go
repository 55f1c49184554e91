// Package schema compiles JSON Schemas (2020-12) and says in words what does not fit them.
//
//	value ─▶ Compile: metaschema, references, patterns, unknown keywords ─▶ *Schema
//	                                                                          │
//	         Validate: google/jsonschema-go gives the verdict,                │
//	                   explain.go the words for all faults  ◀─────────────────┤
//	         Type:     what the checker of expressions may rely on  ◀─────────┘
//
// The words are our own since the library names one fault only, a random one of several, and no array index: a text that is
// sent to an agent for repair must be the same on every run. Where the explainer knows nothing to say, the library's sentence
// stands. Values are those of package expr, normalized.
package schema
