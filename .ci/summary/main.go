// Command summary reads the output of go test -json, prints the output of what failed, names what was skipped,
// and ends with one line of counts. It fails if a test failed, was skipped, or none ran. The one skip it allows,
// and counts, is that of kernels for instructions that this machine's processor lacks.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// noSuchCPU is in what a test says when the processor lacks the instructions it is for.
const noSuchCPU = "NOT TESTED: this CPU"

type event struct {
	Action, Package, Test, Output string
	ImportPath                    string
}

func main() {
	passed, failed, skipped, lacking := 0, 0, 0, 0
	output := map[string][]string{}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Println(in.Text()) // not JSON: a build error of an old toolchain
			continue
		}
		key := e.Package + " " + e.Test
		switch e.Action {
		case "output", "build-output":
			if e.Action == "build-output" {
				key = e.ImportPath
				fmt.Print(e.Output)
			}
			output[key] = append(output[key], e.Output)
		case "build-fail":
			failed++
		case "pass":
			if e.Test != "" {
				passed++
			} else {
				fmt.Printf("ok    %s\n", e.Package)
			}
		case "skip":
			if said := strings.Join(output[key], ""); strings.Contains(said, noSuchCPU) {
				lacking++
			} else if e.Test != "" {
				skipped++
				fmt.Printf("SKIP  %s: %s", key, strings.Join(output[key], "      "))
			}
		case "fail":
			failed++
			fmt.Printf("FAIL  %s\n%s", key, strings.Join(output[key], ""))
		}
	}
	if lacking > 0 {
		fmt.Printf("NOT TESTED HERE: %d tests of kernels for another processor (%s)\n", lacking, noSuchCPU)
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || skipped > 0 || passed == 0 {
		os.Exit(1)
	}
}
