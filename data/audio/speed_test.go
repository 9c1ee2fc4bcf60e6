//go:build codecs && unix

package audio

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
)

// BenchmarkSpeech is how fast what people have is decoded, as a multiple of real time, by seconds of one processor: so
// it says little of what runs beside it.
func BenchmarkSpeech(b *testing.B) {
	dir := b.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	run(b, "espeak-ng", "-v", "kok", "-w", at("spoken.wav"), "एक दोन तीन चार पांच, म्हजें नांव कोंकणी, हांव गोंयांत रावतां, तूं खंय रावता, आयज दीस बरो आसा")
	source := func(rate, channels int) string {
		path := at(fmt.Sprintf("%d-%d.wav", rate, channels))
		run(b, "sox", "-D", at("spoken.wav"), "-r", fmt.Sprint(rate), "-c", fmt.Sprint(channels), "-b", "16", path, "gain", "-1", "repeat", "1")
		return path
	}
	for _, c := range []struct {
		name           string
		rate, channels int
		cmd            []string
	}{
		{"WAV, 16 kHz, 16 bit", 16000, 1, []string{"cp", "IN", "OUT"}},
		{"FLAC, 16 kHz", 16000, 1, []string{"flac", "-s", "-f", "-o", "OUT", "IN"}},
		{"FLAC, 44.1 kHz, 2 channels", 44100, 2, []string{"flac", "-s", "-f", "-o", "OUT", "IN"}},
		{"MP3, 16 kHz, 32 kbit/s", 16000, 1, []string{"lame", "--quiet", "-b", "32", "IN", "OUT"}},
		{"MP3, 48 kHz, 64 kbit/s", 48000, 1, []string{"lame", "--quiet", "-b", "64", "IN", "OUT"}},
		{"MP3, 44.1 kHz, 128 kbit/s, 2 channels", 44100, 2, []string{"lame", "--quiet", "-b", "128", "IN", "OUT"}},
		{"Ogg Vorbis, 16 kHz", 16000, 1, []string{"oggenc", "-Q", "-q", "4", "-o", "OUT", "IN"}},
		{"Ogg Vorbis, 44.1 kHz, 2 channels", 44100, 2, []string{"oggenc", "-Q", "-q", "4", "-o", "OUT", "IN"}},
		{"Ogg Opus, 16 kbit/s", 16000, 1, []string{"opusenc", "--quiet", "--bitrate", "16", "IN", "OUT"}},
		{"Ogg Opus, 32 kbit/s", 48000, 1, []string{"opusenc", "--quiet", "--bitrate", "32", "IN", "OUT"}},
		{"Ogg Opus, 96 kbit/s, 2 channels", 48000, 2, []string{"opusenc", "--quiet", "--bitrate", "96", "IN", "OUT"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			out := at("coded")
			cmd := append([]string(nil), c.cmd...)
			for i, w := range cmd {
				cmd[i] = map[string]string{"IN": source(c.rate, c.channels), "OUT": out}[w]
				if cmd[i] == "" {
					cmd[i] = w
				}
			}
			run(b, cmd...)
			info, err := Probe(File(out))
			if err != nil {
				b.Fatal(err)
			}
			var r Reader
			began := processor()
			for b.Loop() {
				if _, _, err := r.Read(File(out), &info, 0, 0); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(info.Seconds()*float64(b.N)/(processor()-began), "x-real-time")
		})
	}
}

// processor is the time that processors have spent on this program, in seconds.
func processor() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
