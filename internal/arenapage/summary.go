package arenapage

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// summary is who holds what during a step of a program: what the page says without its script, of the peak. The
// script's table.js makes the same table of any step.
type summary struct {
	Program string
	Step    int
	Op      string // what runs there: "crossentropy at decoder.loss"
	Rows    []row  // by bytes, the largest first; equal ones in the order of the buffers
	Live    row
	Free    row
	Arena   row
}

// row is a part of the network with the memory that it holds.
type row struct{ Name, Bytes, Share string }

func summarize(p Program, step int) summary {
	live := p.live()[step]
	held := map[string]int64{}
	var names []string // in the order of the buffers
	for _, b := range p.Buffers {
		if b.Size == 0 || b.First > step || step > b.Last {
			continue
		}
		name := b.block()
		if _, known := held[name]; !known {
			names = append(names, name)
		}
		held[name] += b.Size
	}
	newRow := func(name string, bytes int64) row { return row{name, bytesText(bytes), shareText(bytes, p.Size)} }
	s := summary{
		Program: p.Name, Step: step, Op: p.Steps[step].Name + " at " + place(p.Steps[step].Place),
		Live:  newRow("in use", live),
		Free:  newRow("free", p.Size-live),
		Arena: newRow("arena", p.Size),
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(held[b], held[a]) })
	for _, name := range names {
		s.Rows = append(s.Rows, newRow(name, held[name]))
	}
	return s
}

// bytesText is a size for people, in powers of 1000: "117.0 MB". Both functions have twins in the script, which round
// with the same operations, so that the two tables never differ in a last digit.
func bytesText(bytes int64) string {
	switch {
	case bytes < 1e3:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1e6:
		return oneDigit(float64(bytes)/1e2) + " kB"
	case bytes < 1e9:
		return oneDigit(float64(bytes)/1e5) + " MB"
	default:
		return oneDigit(float64(bytes)/1e8) + " GB"
	}
}

// shareText is a part of a whole in percent: "12.3 %".
func shareText(part, whole int64) string { return oneDigit(1000*float64(part)/float64(whole)) + " %" }

// oneDigit is a tenth of a number with one digit behind the point.
func oneDigit(tenths float64) string { return fmt.Sprintf("%.1f", math.Round(tenths)/10) }
