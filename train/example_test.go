package train_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"konkanitrain/recognize"
	"konkanitrain/train"
)

// A run trains on a manifest and leaves checkpoints; one that was stopped goes on where it was. The sounds here are
// made up: each letter is a tone.
func Example() {
	dir, err := os.MkdirTemp("", "train")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	manifest, err := tones(dir, "ab", "ba", "aab", "bba", "abab", "baab")
	if err != nil {
		log.Fatal(err)
	}

	cfg := train.Default()
	cfg.Data.TrainManifest, cfg.Data.ValManifest = []string{manifest}, []string{manifest}
	cfg.Model.DModel, cfg.Model.EncoderLayers, cfg.Model.DecoderLayers, cfg.Model.SubsampleChannels = 16, 1, 0, 4
	cfg.Optimizer.BatchSize, cfg.Optimizer.GradAccum, cfg.Optimizer.NumEpochs, cfg.Optimizer.MaxUpdates = 3, 1, 4, 5
	cfg.Optimizer.WarmupUpdates = 4
	cfg.Run.CheckpointDir = filepath.Join(dir, "run")
	for range 2 {
		result, err := train.Run(context.Background(), cfg, train.Options{}) // Out: os.Stderr shows how it goes on
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d updates, %d whole epochs, %s\n", result.Updates, result.Epochs, filepath.Base(result.Checkpoint))
		cfg.Run.Resume, cfg.Optimizer.MaxUpdates = "auto", 0
	}

	model, err := recognize.Load(cfg.Run.CheckpointDir, recognize.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	fmt.Println(model.Description.Vocabulary.Size(), "labels: blank, end, unknown, a, b")
	// Output:
	// 5 updates, 2 whole epochs, step-00000005
	// 8 updates, 4 whole epochs, step-00000008
	// 5 labels: blank, end, unknown, a, b
}

// tones writes a manifest of these texts, and half a second of sound for each of their letters.
func tones(dir string, texts ...string) (manifest string, err error) {
	list := ""
	for i, text := range texts {
		var samples []int16 // 16 kHz
		for _, letter := range text {
			for n := range 8000 {
				hz := 400 * float64(1+letter-'a')
				samples = append(samples, int16(8000*math.Sin(2*math.Pi*hz*float64(n)/16000)))
			}
		}
		name := fmt.Sprintf("%d.wav", i)
		if err := writeWAV(filepath.Join(dir, name), samples); err != nil {
			return "", err
		}
		list += fmt.Sprintf("{\"audio_filepath\": %q, \"text\": %q}\n", name, text)
	}
	manifest = filepath.Join(dir, "manifest.jsonl")
	return manifest, os.WriteFile(manifest, []byte(list), 0o666)
}

// writeWAV writes samples of one channel at 16 kHz.
func writeWAV(path string, samples []int16) error {
	b := []byte("RIFF")
	b = binary.LittleEndian.AppendUint32(b, uint32(36+2*len(samples)))
	b = append(b, "WAVEfmt "...)
	b = binary.LittleEndian.AppendUint32(b, 16)
	for _, x := range []uint16{1, 1, 16000, 0, 32000, 0, 2, 16} { // PCM, channels, rate, bytes a second, of a frame, bits
		b = binary.LittleEndian.AppendUint16(b, x)
	}
	b = append(b, "data"...)
	b = binary.LittleEndian.AppendUint32(b, uint32(2*len(samples)))
	for _, x := range samples {
		b = binary.LittleEndian.AppendUint16(b, uint16(x))
	}
	return os.WriteFile(path, b, 0o666)
}
