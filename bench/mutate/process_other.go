//go:build !unix

package main

import "os/exec"

// runGroup runs a command. There are no process groups here: what changed code leaves behind is not ended.
func runGroup(cmd *exec.Cmd) error { return cmd.Run() }

// limitMemory sets no limit, for there is none to set here.
func limitMemory() {}
