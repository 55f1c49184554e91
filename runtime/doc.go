// Package runtime runs a plan.
package runtime
