package data_test

import (
	"context"
	"fmt"

	"konkanitrain/data"
)

// A manifest is read and checked against its sound files; what can't be used would stand in the report.
func ExampleLoad() {
	set, err := data.Load(context.Background(), "../examples/konkani_words/validation.jsonl", data.Options{MaxDuration: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(set.Report)
	u := set.At(0)
	fmt.Printf("%s: %q, %.2f s, %d feature frames\n", u.ID, u.Text, u.Duration, u.Frames)
	// Output:
	// ../examples/konkani_words/validation.jsonl: 80 of 80 utterances used, 27.5 s (0.25 to 0.47 s each)
	// wav/v09/01.wav: "आनी", 0.25 s, 25 feature frames
}
