//go:build unix

package main

import (
	"runtime/debug"
	"syscall"
)

// abortOnBreakdown makes what Go ends a program for by itself (a panic in a goroutine of its own, no memory for the
// heap, a stack that overflows, a map that two goroutines write) end it by SIGABRT, so exitBroken in a shell: the
// exit code is 2 otherwise, which means a mistake in the command line. SIGABRT would also leave the memory behind as a
// file of gigabytes. A limit of 1 byte, and not of 0, keeps Linux from handing it to a program that collects such files
// too (core(5)).
func abortOnBreakdown() {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_CORE, &limit); err != nil {
		return // then better a wrong exit code than a full disk
	}
	limit.Cur = min(1, limit.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_CORE, &limit); err == nil {
		debug.SetTraceback("crash")
	}
}
