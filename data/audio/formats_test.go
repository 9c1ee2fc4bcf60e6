//go:build codecs

package audio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// This test needs ffmpeg, flac, lame, oggenc (vorbis-tools), opusenc (opus-tools), sndfile-convert (sndfile-programs),
// sox and espeak-ng. It makes some 300 files of all rates, channels, depths and bitrates, and compares what is decoded
// here with what others decode: flac for FLAC, ffmpeg for MP3, libopus for Opus, libsndfile for Vorbis, whose end ffmpeg
// doesn't cut off at some rates.

// coded is one file and how it was made.
type coded struct {
	codec, name string
	make        [][]string // commands, one after the other
	reference   []string
	file        string
}

// references decode a codec's files.
var references = map[string][]string{
	"FLAC": {"flac", "-s", "-f", "-d", "-o"}, "MP3": {"ffmpeg"}, "Vorbis": {"sndfile-convert", "-float32"}, "Opus": {"ffmpeg"},
}

// bound is the least ratio of the signal to the difference, in dB.
//
// FLAC has no difference. MP3 comes in 16 bits, whose rounding lies 98 dB below full scale and the signal some 20 dB;
// with two channels the library takes frequencies behind the last coded one, where short blocks put them, for left and
// right instead of middle and side: with noise, 35 dB were seen. Vorbis and CELT are computed in float32
// as by the others, in another order; of six channels at 48 kHz and the lowest quality, 23 dB were seen. SILK is
// integers in libopus, and float32 here: of speech, 39 dB at the lowest bitrate.
func (c *coded) bound(info Info) float64 {
	switch {
	case c.codec == "FLAC":
		return math.Inf(1)
	case c.codec == "MP3" && info.Channels == 2:
		return 34
	case c.codec == "MP3":
		return 60
	case c.codec == "Vorbis" && info.Channels == 6:
		return 20
	case c.codec == "Vorbis":
		return 100
	default:
		return 36
	}
}

func TestOtherDecoders(t *testing.T) {
	dir := t.TempDir()
	files := codedFiles(t, dir)
	type row struct {
		n, lengths int
		worst, sum float64
		worstAt    string
	}
	rows := map[string]*row{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	queue := make(chan coded)
	for range 2 {
		wait.Go(func() {
			for c := range queue {
				n, want, db, bound, err := c.compare()
				mu.Lock()
				r := rows[c.codec]
				if r == nil {
					r = &row{worst: math.Inf(1)}
					rows[c.codec] = r
				}
				r.n++
				switch {
				case err != nil:
					t.Errorf("%s: %v", c.name, err)
				case n != want:
					r.lengths++
					t.Errorf("%s: %d samples, %d are due", c.name, n, want)
				case db < bound:
					t.Errorf("%s: %.1f dB, want %.1f", c.name, db, bound)
				}
				if db < r.worst {
					r.worst, r.worstAt = db, c.name
				}
				r.sum += min(db, 200)
				mu.Unlock()
			}
		})
	}
	for _, c := range files {
		queue <- c
	}
	close(queue)
	wait.Wait()
	var table strings.Builder
	fmt.Fprintf(&table, "%-8s %6s %14s %10s %10s  %s\n", "codec", "files", "lengths wrong", "worst dB", "mean dB", "worst file")
	for _, codec := range []string{"FLAC", "MP3", "Vorbis", "Opus"} {
		if r := rows[codec]; r != nil {
			fmt.Fprintf(&table, "%-8s %6d %14d %10.1f %10.1f  %s\n", codec, r.n, r.lengths, r.worst, r.sum/float64(r.n), r.worstAt)
		}
	}
	t.Logf("%d files\n%s", len(files), table.String())
}

// compare makes a file, and decodes it here and with ffmpeg.
func (c *coded) compare() (n, want int, db, bound float64, err error) {
	defer os.Remove(c.file)
	for _, cmd := range c.make {
		if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
			return 0, 0, 0, 0, fmt.Errorf("%v: %v: %s", cmd, err, out)
		}
	}
	info, x, err := new(Reader).Read(File(c.file), nil, 0, 0)
	if err != nil {
		return 0, 0, 0, 0, err
	}
	for _, w := range info.Warnings {
		return 0, 0, 0, 0, fmt.Errorf("a warning: %s", w)
	}
	if info.Format[:3] == "MP3" && info.Rate == 24000 { // ffmpeg's last but three bands of scale factors are wrong here
		c.reference = []string{"lame", "--quiet", "--decode"}
	}
	if c.reference[0] != "ffmpeg" {
		wav := c.file + ".wav"
		defer os.Remove(wav)
		args := append(slices.Clone(c.reference[1:]), c.file, wav)
		if c.codec == "FLAC" {
			args = append(slices.Clone(c.reference[1:]), wav, c.file)
		}
		if out, err := exec.Command(c.reference[0], args...).CombinedOutput(); err != nil {
			return 0, 0, 0, 0, fmt.Errorf("%v: %v: %s", c.reference, err, out)
		}
		_, ref, err := new(Reader).Read(File(wav), nil, 0, 0)
		return len(x), len(ref), decibels(ref, x), c.bound(info), err
	}
	raw, err := exec.Command("ffmpeg", "-v", "error", "-c:a", map[string]string{"Opus": "libopus", "MP3": "mp3float"}[c.codec], "-i", c.file, "-f", "f32le", "-").Output()
	if err != nil {
		return 0, 0, 0, 0, err
	}
	ref := make([]float32, len(raw)/4)
	binary.Read(bytes.NewReader(raw), binary.LittleEndian, ref)
	mono := make([]float32, len(ref)/info.Channels)
	mean(mono, ref, info.Channels)
	return len(x), len(mono), decibels(mono, x), c.bound(info), nil
}

// decibels is the power of want over that of the difference.
func decibels(want, got []float32) float64 {
	signal, noise := 0.0, 0.0
	for i := range min(len(want), len(got)) {
		d := float64(want[i]) - float64(got[i])
		signal += float64(want[i]) * float64(want[i])
		noise += d * d
	}
	return 10 * math.Log10(signal/noise)
}

// codedFiles lists what to make.
func codedFiles(t *testing.T, dir string) (files []coded) {
	t.Helper()
	at := func(format string, args ...any) string { return filepath.Join(dir, fmt.Sprintf(format, args...)) }
	// Sources by rate and channels: half a second of speech behind half a second of chirps and noise.
	speech := at("speech.wav")
	run(t, "espeak-ng", "-v", "kok", "-w", speech, "एक दोन तीन चार पांच")
	sources := map[string]string{}
	source := func(rate, channels, bits int) string {
		key := fmt.Sprintf("%d-%d-%d", rate, channels, bits)
		if sources[key] == "" {
			synthetic := at("synthetic-%s.wav", key)
			writeChirps(t, synthetic, rate, channels)
			sources[key] = at("source-%s.wav", key)
			spoken := at("spoken-%s.wav", key)
			run(t, "sox", "-D", speech, "-r", fmt.Sprint(rate), "-c", fmt.Sprint(channels), "-b", "16", spoken, "gain", "-4", "trim", "0", "0.733")
			run(t, "sox", "-D", synthetic, spoken, "-b", fmt.Sprint(bits), sources[key])
			os.Remove(synthetic)
			os.Remove(spoken)
		}
		return sources[key]
	}
	// Speech alone, for Opus: in SILK, a pure tone makes the roundings of another arithmetic grow for a while.
	spoken := func(rate, channels int) string {
		path := at("speech-%d-%d.wav", rate, channels)
		if _, err := os.Stat(path); err != nil {
			run(t, "sox", "-D", speech, "-r", fmt.Sprint(rate), "-c", fmt.Sprint(channels), "-b", "16", path, "gain", "-4", "trim", "0", "1.433")
		}
		return path
	}
	add := func(codec string, channels int, ending string, cmd ...string) {
		c := coded{codec: codec, reference: references[codec], file: at("%03d.%s", len(files), ending)}
		c.name = strings.Join(cmd, " ")
		for i := range cmd {
			cmd[i] = strings.ReplaceAll(cmd[i], "OUT", c.file)
		}
		c.name = strings.ReplaceAll(c.name, dir+"/", "")
		c.make = [][]string{cmd}
		files = append(files, c)
	}
	flacRates := []int{8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000, 176400, 192000}
	for i, rate := range flacRates {
		for _, channels := range []int{1, 2, 6} {
			bits := []int{8, 16, 24}[(i+channels)%3]
			add("FLAC", channels, "flac", "flac", "-s", "-f", fmt.Sprintf("-%d", (i*3+channels)%9), "-o", "OUT", source(rate, channels, bits))
		}
	}
	for _, channels := range []int{1, 2} {
		add("FLAC", channels, "flac", "sox", "-D", source(16000, channels, 16), "-b", "24", "OUT", "vol", "0.3337")
		add("FLAC", channels, "flac", "ffmpeg", "-v", "error", "-i", source(24000, channels, 24), "-c:a", "flac", "-sample_fmt", "s32", "OUT")
		add("FLAC", channels, "flac", "flac", "-s", "-f", "--blocksize=192", "-o", "OUT", source(16000, channels, 16))
		add("FLAC", channels, "flac", "flac", "-s", "-f", "--no-seektable", "--lax", "--blocksize=16384", "-o", "OUT", source(16000, channels, 16))
	}
	for _, rate := range []int{16000, 22050, 24000, 32000, 44100, 48000} {
		for _, channels := range []int{1, 2} {
			for _, b := range []string{"32", "64", "128", "160"} {
				add("MP3", channels, "mp3", "lame", "--quiet", "-b", b, source(rate, channels, 16), "OUT")
			}
			add("MP3", channels, "mp3", "lame", "--quiet", "-V", "2", source(rate, channels, 16), "OUT")
			add("MP3", channels, "mp3", "lame", "--quiet", "-V", "7", source(rate, channels, 16), "OUT")
			add("MP3", channels, "mp3", "lame", "--quiet", "--abr", "72", source(rate, channels, 16), "OUT")
			if rate != 24000 {
				add("MP3", channels, "mp3", "lame", "--quiet", "-t", "-b", "96", source(rate, channels, 16), "OUT")
			}
		}
	}
	for _, mode := range []string{"s", "j", "f", "m"} {
		add("MP3", 2, "mp3", "lame", "--quiet", "-m", mode, "-p", source(44100, 2, 16), "OUT")
	}
	add("MP3", 2, "mp3", "ffmpeg", "-v", "error", "-i", source(44100, 2, 16), "-c:a", "libmp3lame", "-b:a", "96k", "OUT")
	add("MP3", 1, "mp3", "ffmpeg", "-v", "error", "-i", source(16000, 1, 16), "-c:a", "libmp3lame", "-write_xing", "0", "OUT")
	for i, rate := range []int{8000, 11025, 16000, 22050, 32000, 44100, 48000} {
		for _, channels := range []int{1, 2, 6} {
			for j, q := range []int{-1, 1, 4, 7, 10} {
				if channels < 6 || j%2 == i%2 {
					add("Vorbis", channels, "ogg", "oggenc", "-Q", "-q", fmt.Sprint(q), "-o", "OUT", source(rate, channels, 16))
				}
			}
		}
	}
	for i, b := range []string{"6", "12", "16", "24", "32", "48", "64", "96", "128", "256"} {
		for j, frame := range []string{"2.5", "5", "10", "20", "40", "60"} {
			channels := 1 + (i+j)%2
			mode := []string{"--speech", "--music"}[(i+j/2)%2]
			add("Opus", channels, "opus", "opusenc", "--quiet", "--bitrate", b, "--framesize", frame, mode,
				spoken([]int{48000, 16000, 8000, 24000}[(i+j)%4], channels), "OUT")
		}
	}
	return files
}

func run(t testing.TB, cmd ...string) {
	t.Helper()
	if out, err := exec.Command(cmd[0], cmd[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, out)
	}
}

// writeChirps writes 0.7 s: a tone that rises to 90 % of half the rate, noise, and silence, another in each channel.
func writeChirps(t *testing.T, path string, rate, channels int) {
	n := rate * 7 / 10
	random := rand.New(rand.NewPCG(uint64(rate), uint64(channels)))
	var body []byte
	for i := range n {
		s := float64(i) / float64(n)
		for ch := range channels {
			v := 0.3 * math.Sin(0.45*math.Pi*s*float64(i)*(1-0.1*float64(ch)))
			if s > 0.5 {
				v *= 0.3
				v += 0.1 * random.NormFloat64()
			}
			if s > 0.8 {
				v = 0
			}
			body = le.AppendUint16(body, uint16(int16(math.Round(max(min(v, 0.99), -0.99)*32767))))
		}
	}
	file := riffFile(le, "RIFF", format(le, 1, channels, rate, 2*channels, 16), chunk(le, "data", body))
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}
