// Package report writes what happened in a run for other programs and for people who were not there. Its sinks read the event stream and
// nothing else, so a replay makes the same report as the run did.
//
//	event.Stream ─▶ steps ─▶ JUnit    a test suite, written at the end
//	                  │  ├──▶ GitHub   annotations and groups on stderr, the step summary
//	                  │  └──▶ HTML     one file that needs nothing, written at the end
//	                  └ one record for each step, complete when the step has ended
//
// Everything that an agent or a program wrote is data here: it is escaped for the form it stands in, and bounded.
package report
