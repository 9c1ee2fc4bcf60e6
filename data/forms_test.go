package data

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// formCase is a corpus in a form, and what comes of it.
type formCase struct {
	name     string
	files    map[string]string // beside audio/a.wav, b.wav and c.wav; a value that is one of these names is its content
	manifest string
	options  Options

	texts     []string // threeTexts where it is nil
	ids       []string
	speakers  []string
	durations []float64 // 0.5, 1, 1.5 where it is nil
	say       []string  // parts of the report, or of the error
	err       bool
}

var sounds = map[string]string{"a": string(wav(8000, 16000)), "b": string(wav(16000, 16000)), "c": string(wav(24000, 16000))}

func (c formCase) check(t *testing.T) {
	t.Helper()
	files := maps.Clone(c.files)
	for name, content := range files {
		if sound, ok := sounds[content]; ok {
			files[name] = sound
		}
	}
	s, err := Load(context.Background(), filepath.Join(corpus(t, files), c.manifest), c.options)
	said := fmt.Sprint(err)
	if err == nil {
		said = s.Report.String()
	}
	for _, part := range c.say {
		if !strings.Contains(said, part) {
			t.Errorf("%q isn't in: %s", part, said)
		}
	}
	if c.err || err != nil {
		if !c.err || err == nil {
			t.Error(said)
		}
		return
	}
	if c.say == nil && strings.Contains(said, "\n") {
		t.Errorf("there is more to say: %s", said)
	}
	if c.texts == nil {
		c.texts = threeTexts
	}
	if c.durations == nil {
		c.durations = []float64{0.5, 1, 1.5}[:len(c.texts)]
	}
	var speakers []string
	for _, u := range s.All() {
		speakers = append(speakers, u.Speaker)
	}
	if !slices.Equal(texts(s), c.texts) || !slices.Equal(durations(s), c.durations) || c.ids != nil && !slices.Equal(ids(s), c.ids) ||
		c.speakers != nil && !slices.Equal(speakers, c.speakers) {
		t.Errorf("%q %q %q %v: %s", texts(s), ids(s), speakers, durations(s), said)
	}
}

// lines3 writes a line for each of the three utterances: the format's arguments are the file's letter and the text.
func lines3(format string) string {
	var b strings.Builder
	for i, text := range threeTexts {
		fmt.Fprintf(&b, format+"\n", string(rune('a'+i)), text)
	}
	return b.String()
}

// One corpus in every form that is text.
func TestForms(t *testing.T) {
	cases := []formCase{
		{name: "Hugging Face's metadata.csv", manifest: "f", ids: []string{"a.wav", "b.wav", "c.wav"}, files: map[string]string{
			"f/metadata.csv": "file_name,transcription\n" + lines3("%s.wav,%s"), "f/a.wav": "a", "f/b.wav": "b", "f/c.wav": "c"}},
		{name: "Hugging Face's metadata.jsonl", manifest: "f", files: map[string]string{
			"f/metadata.jsonl": lines3(`{"file_name": "data/%s.wav", "transcription": "%s"}`), "f/data/a.wav": "a", "f/data/b.wav": "b", "f/data/c.wav": "c"}},
		{name: "audio that is an object", manifest: "x.jsonl", files: map[string]string{
			"x.jsonl": lines3(`{"audio": {"bytes": null, "path": "audio/%s.wav"}, "sentence": "%s"}`)}},
		{name: "LibriSpeech", manifest: "libri", ids: []string{"7-1-0", "7-1-1", "8-2-0"}, speakers: []string{"7", "7", "8"}, files: map[string]string{
			"libri/dev/7/1/7-1.trans.txt": "7-1-0 वाट\n7-1-1 बीं\n", "libri/dev/8/2/8-2.trans.txt": "8-2-0 म्हजें\n",
			"libri/dev/7/1/7-1-0.flac": "a", "libri/dev/7/1/7-1-1.flac": "b", "libri/dev/8/2/8-2-0.flac": "c", "libri/SPEAKERS.TXT": "7 | F"}},
		{name: "LibriSpeech with what macOS adds", manifest: "l", ids: []string{"7-1-0"}, texts: threeTexts[:1], files: map[string]string{
			"l/7/7-1.trans.txt": "7-1-0 वाट\n", "l/7/._7-1.trans.txt": "\x00\x05\x16\x07\xbd", "l/7/7-1-0.flac": "a"}},
		{name: "a chapter of LibriSpeech", manifest: "7/1/7-1.trans.txt", texts: threeTexts[:1], files: map[string]string{
			"7/1/7-1.trans.txt": "7-1-0 वाट\n", "7/1/7-1-0.flac": "a"}},
		{name: "LibriSpeech as MP3", manifest: "l", say: []string{"3 used, file found under another name", "7-1-0.flac is not there, 7-1-0.mp3 is used"}, files: map[string]string{
			"l/7-1.trans.txt": "7-1-0 वाट\n7-1-1 बीं\n7-1-2 म्हजें\n", "l/7-1-0.mp3": "a", "l/7-1-1.MP3": "b", "l/7-1-2.wav": "c"}},
		{name: "LJSpeech", manifest: "lj", ids: []string{"LJ-a", "LJ-b", "LJ-c"}, files: map[string]string{
			"lj/metadata.csv": lines3("LJ-%s|It \"is|%s"), "lj/wavs/LJ-a.wav": "a", "lj/wavs/LJ-b.wav": "b", "lj/wavs/LJ-c.wav": "c"}},
		{name: "LJSpeech with two columns, and an empty third", manifest: "lj/metadata.csv", texts: threeTexts[:2], files: map[string]string{
			"lj/metadata.csv": "x|वाट\ny|बीं|\n", "lj/wavs/x.wav": "a", "lj/y.wav": "b"}},
		{name: "Coqui", manifest: "c.csv", ids: []string{"audio/a.wav", "audio/b.wav", "audio/c.wav"}, speakers: []string{"ann", "ann", "ann"}, files: map[string]string{
			"c.csv": "audio_file|text|speaker_name\n" + lines3("audio/%s.wav|%s|ann")}},
		{name: "SpeechBrain", manifest: "s/train.csv", ids: []string{"u-a", "u-b", "u-c"}, speakers: []string{"9", "9", "9"}, files: map[string]string{
			"s/train.csv": "ID,duration,wav,spk_id,wrd\n" + lines3("u-%[1]s,,$data_root/%[1]s.wav,9,%[2]s"), "s/a.wav": "a", "s/b.wav": "b", "s/c.wav": "c"}},
		{name: "SpeechBrain elsewhere", manifest: "s/train.csv", options: Options{PathMap: []Mapping{{"$data_root", "../audio"}}}, files: map[string]string{
			"s/train.csv": "ID,duration,wav,spk_id,wrd\n" + lines3("u-%[1]s,,$data_root/%[1]s.wav,9,%[2]s")}},
		{name: "SpeechBrain's parts", manifest: "s.csv", texts: threeTexts[:2], durations: []float64{0.25, 0.5}, files: map[string]string{
			"s.csv": "ID,duration,wav,start,stop,spk_id,wrd\nx,0.25,{data_root}/audio/c.wav,0.25,0.5,s,वाट\ny,0.5,{data_root}/audio/c.wav,8000,16000,s,बीं\n"}},
		{name: "SpeechBrain's part that is none", manifest: "s.csv", err: true, say: []string{"line 2: start 0.5 and stop 0.5"}, files: map[string]string{
			"s.csv": "ID,duration,wav,start,stop,spk_id,wrd\nx,0.25,audio/c.wav,0.5,0.5,s,वाट\n"}},
		{name: "Common Voice", manifest: "cv/train.tsv", files: map[string]string{
			"cv/train.tsv": "client_id\tpath\tsentence_id\tsentence\n" + lines3("s\t%s.mp3\t7\t%s"), "cv/clips/a.mp3": "a", "cv/clips/b.mp3": "b", "cv/clips/c.mp3": "c"}},
		{name: "Common Voice with its lists in a folder", manifest: "cv/lists/train.tsv", files: map[string]string{
			"cv/lists/train.tsv": "client_id\tpath\tsentence\n" + lines3("s\t%s.mp3\t%s"), "cv/clips/a.mp3": "a", "cv/clips/b.mp3": "b", "cv/clips/c.mp3": "c"}},
		{name: "decimal commas", manifest: "x.csv", files: map[string]string{
			"x.csv": "path;text;duration\naudio/a.wav;वाट;0,5\naudio/b.wav;बीं;1,0\naudio/c.wav;म्हजें;1,5\n"}},
		{name: "decimal commas of parts, in quotes", manifest: "x.csv", texts: threeTexts[:1], durations: []float64{0.5}, files: map[string]string{
			"x.csv": "path,text,offset,duration\naudio/c.wav,वाट,\"0,25\",\"0,5\"\n"}},
		{name: "a table without an extension", manifest: "x.txt", files: map[string]string{"x.txt": "wav\ttranscript\n" + lines3("audio/%s.wav\t%s")}},
		{name: "columns with bars in a .csv", manifest: "x.csv", files: map[string]string{"x.csv": "filename|transcription\n" + lines3("audio/%s.wav|%s")}},
		{name: "a folder of what nobody reads", manifest: "f", err: true, files: map[string]string{"f/readme.md": "x"},
			say: []string{"none of what is looked for", "text and wav.scp (Kaldi)", "metadata.jsonl", "*.trans.txt", "*.tar (WebDataset)", "*.parquet", "Shar", "it has readme.md"}},
		{name: "a folder of two forms", manifest: "f", err: true, files: map[string]string{"f/metadata.csv": "x", "f/wav.scp": "x"},
			say: []string{"several forms", "metadata.csv", "wav.scp", "name the file"}},
		{name: "two texts that differ", manifest: "x.jsonl", files: map[string]string{
			"x.jsonl": lines3(`{"audio": "audio/%[1]s.wav", "text": "%[2]s", "normalized_text": "%[2]s", "sentence": "x%[2]s"}`)},
			say: []string{"3 lines with one text under text and another under sentence; text is used (the first is line 1)"}},
		{name: "two texts that are the same", manifest: "x.csv", files: map[string]string{
			"x.csv": "wav,sentence,text\n" + lines3("audio/%[1]s.wav,%[2]s,%[2]s")}},
	}
	for _, key := range audioKeys {
		cases = append(cases, formCase{name: "JSON with " + key, manifest: "x.jsonl", files: map[string]string{
			"x.jsonl": lines3(`{"` + key + `": "audio/%s.wav", "text": "%s"}`)}})
	}
	for _, key := range textKeys {
		cases = append(cases,
			formCase{name: "JSON with " + key, manifest: "x.jsonl", files: map[string]string{"x.jsonl": lines3(`{"text": null, "path": "audio/%s.wav", "` + key + `": "%s"}`)}},
			formCase{name: "a table with " + key, manifest: "x.tsv", files: map[string]string{"x.tsv": "file\t" + key + "\n" + lines3("audio/%s.wav\t%s")}})
	}
	cases = slices.DeleteFunc(cases, func(c formCase) bool { return c.name == "JSON with text" })
	for _, c := range cases {
		t.Run(c.name, c.check)
	}
}

// The sounds of a Kaldi folder lie in it or in a folder above, and are named by the usual commands.
func TestKaldiFolders(t *testing.T) {
	for _, format := range []string{
		"sound/%s.flac", "flac -c -d -s sound/%s.flac |", "cat 'sound/%s.flac' |", "sox sound/%s.flac -t wav - |", "sph2pipe -f wav sound/%s.flac|",
		"ffmpeg -i sound/%s.flac -f wav - |",
	} {
		formCase{manifest: "egs/s5/data/train", ids: []string{"u-a", "u-b", "u-c"}, files: map[string]string{
			"egs/s5/data/train/wav.scp": strings.ReplaceAll(lines3("u-%[1]s "+strings.ReplaceAll(format, "%s", "%[1]s")+"%.0[2]s"), "%!(EXTRA", ""),
			"egs/s5/data/train/text":    lines3("u-%s %s"), "egs/s5/sound/a.flac": "a", "egs/s5/sound/b.flac": "b", "egs/s5/sound/c.flac": "c",
		}}.check(t)
	}
	formCase{manifest: "k", err: true, say: []string{"commands are not run: sox a.wav -r 16000 -t wav - |"}, files: map[string]string{
		"k/wav.scp": "u1 sox a.wav -r 16000 -t wav - |\n", "k/text": "u1 a\n", "k/a.wav": "a"}}.check(t)
}

// A command is a file where it only writes the file's sound.
func TestPipedFile(t *testing.T) {
	for command, want := range map[string]string{
		"flac -c -d -s a.flac |": "a.flac", "flac -cds a.flac|": "a.flac", "/usr/bin/flac --decode --stdout --silent 'a b.flac' |": "a b.flac",
		"flac -c a.flac |": "", "flac -c -d a.flac b.flac |": "", "flac -d -c --skip=5 a.flac |": "", "flac -d -c --until=5 a.flac |": "",
		"sph2pipe -f wav a.sph |": "a.sph", "sph2pipe -f wav -p a.sph |": "a.sph", "sph2pipe -f wav -c 1 a.sph |": "", "sph2pipe -f raw a.sph |": "",
		"sox a.wav -t wav - |": "a.wav", "sox -t flac a.flac -t wav - |": "a.flac", "sox a.wav -t wav - rate 8000 |": "", "sox a.wav -r 8000 -t wav - |": "",
		"sox a.wav b.wav -t wav - |": "", "sox a.wav -c 1 -t wav - |": "", "sox - -t wav - |": "",
		"cat a.wav |": "a.wav", `cat "a b.wav" |`: "a b.wav", "cat a.wav b.wav |": "", "cat a.wav | sox - -t wav - |": "", "cat - |": "", "cat |": "",
		"ffmpeg -i a.mp3 -f wav - |": "a.mp3", "ffmpeg -nostdin -loglevel error -i a.mp3 -acodec pcm_s16le -f wav pipe:1 |": "a.mp3",
		"ffmpeg -i a.mp3 -ar 8000 -f wav - |": "", "ffmpeg -ss 3 -i a.mp3 -f wav - |": "", "ffmpeg -i a.mp3 -i b.mp3 -f wav - |": "",
		"ffmpeg -i http://x/a.mp3 -f wav - |": "", "ffmpeg -i a.mp3 -f mp3 - |": "", "ffmpeg -i a.mp3 b.wav |": "", "ffmpeg -i |": "", "ffmpeg -i a.mp3 - |": "",
		"cat $(rm x) |": "", "cat `x` |": "", "cat a.wav > b |": "", "cat a;b |": "", "cat 'a.wav |": "", "cat *.wav |": "", "gunzip -c a.gz |": "", "a.wav": "", "|": "", "cat a.wav": "",
	} {
		if got, ok := pipedFile(command); got != want && ok || ok != (want != "") {
			t.Errorf("%s: %q, %v; want %q", command, got, ok, want)
		}
	}
}

func FuzzPipedFile(f *testing.F) {
	for _, c := range []string{"flac -c -d -s 'a b' |", "sox a -t wav - |", "ffmpeg -i a -f wav - |", "sph2pipe -f wav a |", `cat "a\" |`, "-|"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		file, ok := pipedFile(command)
		if ok && (file == "" || file[0] == '-' || !strings.Contains(command, file[:1])) {
			t.Fatalf("%q is the file %q", command, file)
		}
	})
}
