// Package words puts numbers and lists into messages.
package words

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Count is a number with its noun, which gets an s where there isn't exactly one: "1 worker", "2 workers".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// List names the first items, at most most of them, and counts the others: "a, b and 3 more".
func List(items []string, most int) string {
	most = max(most, 0)
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	if most == 0 {
		return fmt.Sprintf("%d more", len(items))
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}

// Bytes is an amount of memory or of disk space in the unit that people think in: "44.3 MB".
func Bytes(n int64) string {
	switch {
	case n >= 999_950_000:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 999_950:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return Count(int(n), "byte")
}

// Duration is an amount of sound, of s seconds, in the unit that people think in: "38.2 min".
func Duration(s float64) string {
	switch {
	case s < 120:
		return fmt.Sprintf("%.1f s", s)
	case s < 7200:
		return fmt.Sprintf("%.1f min", s/60)
	}
	return fmt.Sprintf("%.2f h", s/3600)
}

// Shell is a word as a shell reads it.
func Shell(word string) string {
	plain := func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:,@%", c)
	}
	if word != "" && !strings.ContainsFunc(word, plain) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// Wrap is text in lines of at most so many columns of a terminal, or of a single word that is wider. Of spaces and ends
// of lines in the text each is as good as the next, but for spaces that don't break. Without a word it is one empty
// line.
func Wrap(text string, columns int) (lines []string) {
	const noBreak = "\u00a0\u2007\u202f"
	line, used := "", 0
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) && !strings.ContainsRune(noBreak, r) }) {
		n := uniseg.StringWidth(word)
		if line != "" && used+1+n > columns {
			lines = append(lines, line)
			line, used = "", 0
		}
		if line != "" {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}
