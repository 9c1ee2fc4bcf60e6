// Command konkanitrain trains small Conformer speech recognizers, and evaluates and uses them.
package main

import "os"

func main() {
	abortOnBreakdown()
	os.Exit(run(os.Args[1:], streams{out: os.Stdout, err: os.Stderr}))
}
