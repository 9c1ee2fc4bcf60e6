package data

import (
	"bytes"
	"path/filepath"
	"strings"
)

// packing is how a file can be compressed: by what it starts with.
type packing struct{ start, name, command string }

// packings are the usual ones. Their starts are those of RFC 1952 (gzip), RFC 8878 (Zstandard), PKWARE's APPNOTE (zip),
// and of the formats of bzip2 and xz.
var packings = []packing{
	{"\x1f\x8b", "compressed with gzip", "gunzip -k"},
	{"\x28\xb5\x2f\xfd", "compressed with Zstandard", "unzstd"},
	{"PK\x03\x04", "a zip archive", "unzip"},
	{"BZh", "compressed with bzip2", "bunzip2 -k"},
	{"\xfd7zXZ\x00", "compressed with xz", "unxz -k"},
}

// packingOf is how a file is compressed by its start; nil for one that isn't.
func packingOf(head []byte) *packing {
	for i, p := range packings {
		rest, ok := bytes.CutPrefix(head, []byte(p.start))
		if p.start == "BZh" { // letters that a text may start with: a digit and a block's mark follow
			ok = ok && len(rest) > 6 && (bytes.HasPrefix(rest[1:], []byte("1AY&SY")) || rest[1] == 0x17)
		}
		if ok {
			return &packings[i]
		}
	}
	return nil
}

// compressed names how a file is compressed and what unpacks it; "" for one that isn't.
func compressed(path string, head []byte) string {
	p := packingOf(head)
	if p == nil {
		return ""
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".xlsx", ".ods":
		return "a spreadsheet, not a text; save it as CSV"
	}
	return p.name + ", not a text; unpack it first (" + p.command + " " + path + ")"
}
