package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"konkanitrain/internal/scores"
)

// isAlignments says whether a path is that of alignments as JSON lines.
func isAlignments(path string) bool { return strings.EqualFold(filepath.Ext(path), ".jsonl") }

// readAlignments reads what an earlier eval has written as JSON lines: what it came to, as far as it can be compared.
func readAlignments(path string) (*evalResult, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	if head, err := in.ReadString('\n'); err != nil && err != io.EOF || head != alignmentsHeadJSONL {
		return nil, fmt.Errorf("%s was not written by eval --alignments: its first line is no %s", path, strings.TrimSpace(alignmentsHeadJSONL))
	}
	collector := scores.NewCollector(scores.Options{})
	for number := 2; ; number++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil, fmt.Errorf("%s has no line at its end that says how many were scored: it is not whole", path)
		}
		if err != nil {
			return nil, err
		}
		var x struct {
			scores.Utterance
			Event string
		}
		if err := json.Unmarshal(line, &x); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, number, err)
		}
		switch x.Event {
		case "utterance":
			collector.Add(x.Utterance, nil)
		case "end":
			var end alignmentsEnd
			if err := json.Unmarshal(line, &end); err != nil {
				return nil, fmt.Errorf("%s, line %d: %w", path, number, err)
			}
			l := leftOut{model: end.Model, listed: end.Listed, scored: end.Scored}
			for _, kind := range slices.Sorted(maps.Keys(end.Counts)) {
				l.kinds = append(l.kinds, kindLeftOut{kind, end.Counts[kind], end.Counts[kind]})
			}
			return &evalResult{model: path + " (" + end.Model + ")", report: collector.Report(), leftOut: l}, nil
		}
	}
}
