// Command summary reads the output of go test -json, prints the output of what failed, names what was skipped,
// and ends with one line of counts. It fails if a test failed, was skipped, or none ran.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type event struct {
	Action, Package, Test, Output string
	ImportPath                    string
}

func main() {
	passed, failed, skipped := 0, 0, 0
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
			if e.Test != "" {
				skipped++
				fmt.Printf("SKIP  %s: %s", key, strings.Join(output[key], "      "))
			}
		case "fail":
			failed++
			fmt.Printf("FAIL  %s\n%s", key, strings.Join(output[key], ""))
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || skipped > 0 || passed == 0 {
		os.Exit(1)
	}
}
