package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-audio/audio"
	"github.com/go-audio/wav"
	"github.com/rogpeppe/go-internal/testscript"

	"konkanitrain/internal/testkit"
)

// programs are what tests can execute: the program, and where there are signals one that breaks down.
var programs = map[string]func(){"konkanitrain": main}

// TestMain makes commands of the programs.
func TestMain(m *testing.M) {
	testscript.Main(m, programs)
}

// TestScripts runs what a user types: testdata/script/*.txtar.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  exits,
			"corpus": corpusCommand,
			"noise":  noiseCommand,
			"append": appendCommand,
			"cut":    cutCommand,
			"babble": babbleCommand,
			"joined": joinedCommand,
		},
	})
}

// exits CODE PROGRAM ARGS... executes a program and wants this exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// corpusCommand is corpus NAME N: N recordings, and the manifest NAME.jsonl that lists them.
func corpusCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: corpus NAME N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(corpus(ts.MkAbs("."), args[0], n))
}

// cutCommand is cut FROM N TO: the first N bytes of a file.
func cutCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: cut FROM N TO")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	content := ts.ReadFile(args[0])
	if n >= len(content) {
		ts.Fatalf("%s has %d bytes", args[0], len(content))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(content[:n]), 0o666))
}

// appendCommand is append FILE OTHER: what OTHER holds is put at the end of FILE.
func appendCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: append FILE OTHER")
	}
	whole := ts.ReadFile(args[0]) + ts.ReadFile(args[1])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(whole), 0o666))
}

// babbleCommand is babble NAME N VOICE: N recordings of a voice that speaks different sentences, at 8 kHz, and the
// manifest NAME.jsonl that lists them.
func babbleCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: babble NAME N VOICE")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	voice, err := strconv.ParseUint(args[2], 10, 64)
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o777))
	syllables := []string{"का", "मी", "तो", "हे", "जा", "ळय"}
	var manifest strings.Builder
	for i := range n {
		code := i*1009 + int(voice)*100003
		var spoken []string
		for range 3 + i%4 {
			word := ""
			for range 1 + code%3 {
				word += syllables[code/3%len(syllables)]
				code = code*31%1000003 + 7
			}
			spoken = append(spoken, word)
		}
		text := strings.Join(spoken, " ")
		file := args[0] + "/" + strconv.Itoa(i) + ".wav"
		ts.Check(writeWAV(ts.MkAbs(file), 8000, testkit.Babble(text, voice, 8000)))
		line, err := json.Marshal(map[string]any{"audio_filepath": file, "text": text, "speaker": "voice" + args[2]})
		ts.Check(err)
		manifest.Write(append(line, '\n'))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".jsonl"), []byte(manifest.String()), 0o666))
}

// noiseCommand is noise FILE: a whole WAV file whose samples are no numbers, which its header doesn't tell.
func noiseCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: noise FILE")
	}
	const rate, samples = 8000, 4000
	header := []any{
		[]byte("RIFF"), uint32(36 + 4*samples), []byte("WAVEfmt "), uint32(16),
		uint16(3), uint16(1), uint32(rate), uint32(4 * rate), uint16(4), uint16(32), []byte("data"), uint32(4 * samples),
	}
	var file bytes.Buffer
	for _, part := range append(header, bytes.Repeat([]byte{0xff}, 4*samples)) {
		ts.Check(binary.Write(&file, binary.LittleEndian, part))
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), file.Bytes(), 0o666))
}

// letters are written for tones of these frequencies, in Hz.
var letters = []struct {
	text string
	tone float64
}{{"क", 400}, {"म", 900}, {"ळ", 1700}, {"ी", 2900}}

// corpus writes n recordings at 8 kHz, of two to four tones with pauses, below dir/NAME, and their manifest.
func corpus(dir, name string, n int) error {
	const rate = 8000
	if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
		return err
	}
	var manifest strings.Builder
	for i := range n {
		var samples []int
		text, code := "", i*7+len(name)
		for range 2 + i%3 {
			letter := letters[code%len(letters)]
			code = code/len(letters) + i + 1
			text += letter.text
			for s := range rate / 8 {
				samples = append(samples, int(8000*math.Sin(2*math.Pi*letter.tone*float64(s)/rate)))
			}
			samples = append(samples, make([]int, rate/20)...)
		}
		file := filepath.Join(name, strconv.Itoa(i)+".wav")
		if err := writeWAV(filepath.Join(dir, file), rate, samples); err != nil {
			return err
		}
		line, err := json.Marshal(map[string]any{"audio_filepath": filepath.ToSlash(file), "text": text})
		if err != nil {
			return err
		}
		manifest.Write(append(line, '\n'))
	}
	return os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(manifest.String()), 0o666)
}

func writeWAV(path string, rate int, samples []int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	e := wav.NewEncoder(f, rate, 16, 1, 1)
	if err := e.Write(&audio.IntBuffer{Format: &audio.Format{NumChannels: 1, SampleRate: rate}, Data: samples, SourceBitDepth: 16}); err != nil {
		return err
	}
	if err := e.Close(); err != nil {
		return err
	}
	return f.Close()
}

// joinedCommand is joined FILE RATE FOLDER...: the recordings of folders one after the other, with pauses.
func joinedCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: joined FILE RATE FOLDER...")
	}
	rate, err := strconv.Atoi(args[1])
	ts.Check(err)
	var folders []string
	for _, folder := range args[2:] {
		folders = append(folders, ts.MkAbs(folder))
	}
	samples, err := joinedSamples(rate, folders...)
	ts.Check(err)
	ts.Check(writeWAV(ts.MkAbs(args[0]), rate, samples))
}

// joinedSamples are those of all WAV files of folders, with a pause of 0.3 s behind each.
func joinedSamples(rate int, folders ...string) (samples []int, err error) {
	for _, folder := range folders {
		paths, err := filepath.Glob(filepath.Join(folder, "*.wav"))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			for b = b[44:]; len(b) > 1; b = b[2:] {
				samples = append(samples, int(int16(binary.LittleEndian.Uint16(b))))
			}
			samples = append(samples, make([]int, rate*3/10)...)
		}
	}
	return samples, nil
}
