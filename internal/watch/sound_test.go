package watch

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"konkanitrain/data"
	"konkanitrain/internal/scores"
	"konkanitrain/internal/testkit"
)

// A sound is the part of the recording that the list names, as a WAV file, whole or in parts.
func TestSoundIsSent(t *testing.T) {
	s := serve(t, sourceOf(aRun(t, 20), nil))
	code, wav, head := get(t, s, "/sound?update=100&utterance=1")
	if code != 200 || head.Get("Content-Type") != "audio/wav" || !strings.HasPrefix(wav, "RIFF") {
		t.Fatalf("%d %.100s", code, wav)
	}
	if rate := binary.LittleEndian.Uint32([]byte(wav[24:])); rate != 8000 || len(wav) != 44+2*4000 { // 0.5 s
		t.Errorf("%d bytes at %d Hz", len(wav), rate)
	}
	r, err := http.NewRequest("GET", s.listener.URL+"sound?update=100&utterance=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Range", "bytes=44-1043")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusPartialContent || answer.ContentLength != 1000 {
		t.Errorf("%d, %d bytes", answer.StatusCode, answer.ContentLength)
	}
}

// What is named and is no sound can't be had, whatever it is: its bytes never leave.
func TestOnlySoundIsSent(t *testing.T) {
	dir := aRun(t, 20)
	secret := filepath.Join(dir, "secret")
	write(t, dir, "secret", "RIFF-konkani-secret, and more than a header's bytes of it, but no sound at all")
	link := filepath.Join(dir, "link.wav")
	if err := os.Symlink(secret, link); err != nil {
		t.Fatal(err)
	}
	write(t, dir, validationsFile, utterances(100, secret, link, dir, "/etc/passwd", filepath.Join(dir, "none.wav"), "", "/dev/zero", "shards.tar: a.wav"))
	s := serve(t, sourceOf(dir, nil))
	for i := range 8 {
		code, body, _ := get(t, s, fmt.Sprintf("/sound?utterance=%d", i))
		if code != 404 || strings.Contains(body, "konkani-secret") || strings.Contains(body, "root:") {
			t.Errorf("%d: %d %s", i, code, body)
		}
	}
	write(t, dir, validationsFile, utterances(100, "wav/none.wav"))
	s.fresh()
	if code, body, _ := get(t, s, "/sound?utterance=0"); code != 404 || !strings.Contains(body, "start watch there to hear it") {
		t.Errorf("a path from another folder: %d %s", code, body)
	}
	// A part that there isn't.
	for _, part := range []string{`"offset":-1`, `"offset":1e300`, `"offset":77`} {
		sound := filepath.Join(t.TempDir(), "x.wav")
		testkit.WriteWAV(t, sound, 8000, make([]int, 8000))
		write(t, dir, validationsFile, strings.Replace(utterances(100, sound), `"offset":0.25`, part, 1))
		s.fresh()
		if code, body, _ := get(t, s, "/sound?utterance=0"); code != 404 {
			t.Errorf("%s: %d %.100s", part, code, body)
		}
	}
}

// Of sounds few are in hand at a time: one that nobody takes doesn't keep more than its place.
func TestFewSounds(t *testing.T) {
	source := sourceOf(aRun(t, 20), nil)
	reading, leave := make(chan struct{}, 10), make(chan struct{})
	source.Find = func(*scores.Utterance) *data.Utterance { reading <- struct{}{}; <-leave; return nil }
	s := serve(t, source)
	codes := make(chan int, 10)
	for range mostSounds + 1 {
		go func() {
			code, _, _ := get(t, s, "/sound?update=100&utterance=0")
			codes <- code
		}()
	}
	<-reading
	if code := <-codes; code != http.StatusServiceUnavailable {
		t.Errorf("%d for one too many", code)
	}
	if len(reading) > 0 {
		t.Error("two sounds are decoded at a time")
	}
	if code, _, _ := get(t, s, "/state"); code != 200 {
		t.Errorf("%d for others meanwhile", code)
	}
	close(leave)
	for range mostSounds {
		if code := <-codes; code != 200 {
			t.Errorf("%d", code)
		}
	}
}
