package data

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Where says where an utterance is listed, for messages: "train.jsonl, line 3", or of a Parquet file its row, of a tar
// the member with which the utterance begins. Line is counted from 1; it is 0 for a sound file of a folder, which is
// listed nowhere: there it is the folder alone.
func Where(file string, line int) string {
	if line <= 0 {
		return file
	}
	return file + ", " + lineOf(file, line)
}

// lineOf is "line 3" of a list, "row 3" of a Parquet file, "member 3" of a tar.
func lineOf(file string, line int) string {
	what := "line"
	switch name := strings.ToLower(filepath.Base(file)); {
	case strings.HasSuffix(name, ".parquet"):
		what = "row"
	case strings.HasSuffix(name, ".tar"):
		what = "member"
	}
	return fmt.Sprintf("%s %d", what, line)
}
