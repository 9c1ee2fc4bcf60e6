package recognize_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"

	"konkanitrain/recognize"
)

// A model is loaded and writes down what is said in files. Any checkpoint will do; this one is of a very small network
// that has heard seven words.
func Example() {
	model, err := recognize.Load("../checkpoint/testdata/version1/step-00000302", recognize.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	files := []string{"../examples/konkani_words/wav/v01/01.wav", "nowhere.wav", "../examples/konkani_words/wav/v04/01.wav"}
	err = model.Transcribe(context.Background(), files, func(t recognize.Transcript) error {
		if t.Err != nil {
			fmt.Println("not transcribed:", t.Err)
			return nil
		}
		fmt.Printf("%s: %s\n", filepath.Base(t.Path), t.Text())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// 01.wav: आनी
	// not transcribed: stat nowhere.wav: no such file or directory
	// 01.wav: आनी
}
