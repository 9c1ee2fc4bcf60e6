//go:build !unix

package main

// abortOnBreakdown does nothing: here is no SIGABRT, and Go's own exit code stays.
func abortOnBreakdown() {}
