package data

import "testing"

// A text in which nothing is said is used where that is asked for; one that is missing, or null, never is.
func TestKeepEmpty(t *testing.T) {
	jsonl := lineA + `{"audio_filepath": "audio/b.wav", "text": ""}` + "\n" + `{"audio_filepath": "audio/b.wav", "id": "spaces", "text": " \u00a0"}` + "\n" +
		`{"audio_filepath": "audio/c.wav", "id": "null", "text": null}` + "\n" + `{"audio_filepath": "audio/c.wav", "id": "none"}` + "\n"
	table := "path\tsentence\naudio/a.wav\t" + threeTexts[0] + "\naudio/b.wav\t\n"
	keep := Options{KeepEmpty: true}
	checkAll(t, []loadCase{
		{name: "left out", content: jsonl, texts: threeTexts[:1], notes: []int{2, 3, 4, 5}},
		{name: "kept", content: jsonl, options: keep, texts: []string{threeTexts[0], "", ""}, notes: []int{4, 5}},
		{name: "left out of a table", file: "x.tsv", content: table, texts: threeTexts[:1], notes: []int{3}},
		{name: "kept in a table", file: "x.tsv", content: table, options: keep, texts: []string{threeTexts[0], ""}},
	})
}
