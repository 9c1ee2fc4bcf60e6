package words

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are what ParseBytes knows, by their names in lower case.
var units = map[string]float64{
	"": 1, "b": 1,
	"k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
	"ki": 1 << 10, "kib": 1 << 10, "mi": 1 << 20, "mib": 1 << 20, "gi": 1 << 30, "gib": 1 << 30, "ti": 1 << 40, "tib": 1 << 40,
}

// ParseBytes reads an amount of memory: a number of bytes, or one with a unit: "2GiB", "14.74 GiB", "500MB".
func ParseBytes(text string) (int64, error) {
	s := strings.TrimSpace(text)
	end := strings.IndexFunc(s, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if end < 0 {
		end = len(s)
	}
	unit, known := units[strings.ToLower(strings.TrimSpace(s[end:]))]
	number, err := strconv.ParseFloat(s[:end], 64)
	if err != nil || !known {
		return 0, fmt.Errorf("%q is no amount of memory: want a number with a unit, as in 2GiB, 14.74GiB or 500MB", text)
	}
	if known && strings.TrimSpace(s[end:]) == "" && err == nil && number >= 1 && number < 1<<20 {
		return 0, fmt.Errorf("%q has no unit, and would be as many bytes: want one, as in 2GiB, 14.74GiB or 500MB", text)
	}
	switch bytes := number * unit; {
	case bytes < 1:
		return 0, fmt.Errorf("%q is no memory at all", text)
	case bytes >= math.MaxInt64:
		return 0, errors.New(text + " is more than any machine has")
	default:
		return int64(bytes), nil
	}
}

// Binary is an amount of memory in the units that ParseBytes and makers of memory count in: "14.74 GiB", "332.1 MiB".
func Binary(n int64) string {
	switch {
	case n >= 1<<30-1<<30/200:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20-1<<20/20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return Count(int(n), "byte")
}
