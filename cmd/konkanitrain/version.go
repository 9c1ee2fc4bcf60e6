package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"konkanitrain/op"
)

func versionCommand() command {
	return command{
		name: "version", summary: "print the version of the program, of Go, and the CPU kernels in use", onStop: "stopping",
		run: func(_ context.Context, args []string, s streams) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return errHelpWanted
			}
			if len(args) > 0 {
				return &usageError{errors.New("version takes no arguments"), "version"}
			}
			_, err := fmt.Fprintln(s.out, buildText())
			return err
		},
	}
}

// buildText is which program this is, and on what it runs.
func buildText() string {
	version, revision := programVersion(), ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision += ", revision " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				revision += ", modified"
			}
		}
	}
	return strings.Join([]string{
		"konkanitrain " + version + revision,
		fmt.Sprintf("%s %s/%s, %d cores", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		"CPU kernels " + op.Kernels(),
	}, "\n")
}

// programVersion is the version of this program alone.
func programVersion() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case !ok:
		return "unknown version"
	case info.Main.Version == "" || info.Main.Version == "(devel)":
		return "development version"
	}
	return info.Main.Version
}
