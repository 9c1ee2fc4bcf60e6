package testkit

import (
	"errors"
	"os"
	"testing"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"
)

// WriteWAV writes samples of one channel as a WAV file of 16 bits, rate samples a second.
func WriteWAV(t testing.TB, path string, rate int, samples []int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := wav.NewEncoder(f, rate, 16, 1, 1)
	format := &audio.Format{NumChannels: 1, SampleRate: rate}
	err = w.Write(&audio.IntBuffer{Format: format, Data: samples, SourceBitDepth: 16})
	if err := errors.Join(err, w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
