package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/audio"
	"konkanitrain/internal/testkit"
)

// exampleWords is the folder of the bundled words.
var exampleWords = filepath.Join("..", "..", "examples", "konkani_words")

// spokenDigits writes recordings of noise, so many takes of each digit by each of three speakers.
func spokenDigits(t testing.TB, takes int) string {
	t.Helper()
	dir := t.TempDir()
	for s, speaker := range []string{"theo", "jackson", "lucas"} {
		for digit := range 10 {
			for take := range takes {
				random := rand.New(rand.NewPCG(uint64(s), uint64(100*digit+take)))
				samples := make([]int, 1600+random.IntN(800))
				for i := range samples {
					samples[i] = random.IntN(1<<16) - 1<<15
				}
				testkit.WriteWAV(t, filepath.Join(dir, fmt.Sprintf("%d_%s_%d.wav", digit, speaker, take)), 8000, samples)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("not sound"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// sum is the first digits of the SHA-256 of a folder's files, in the order of their names; the folders that manifests
// name are left out of them.
func sum(t testing.TB, dir string, sources ...string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, s := range sources {
			s, _ = filepath.Abs(s)
			text = []byte(strings.ReplaceAll(string(text), s, ""))
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(h, "%s %d\n%s", rel, len(text), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16]
}

// The corpora are the same on every machine and each time.
func TestCorporaStay(t *testing.T) {
	c := &corpora{recordings: spokenDigits(t, 6), examples: exampleWords}
	for name, want := range map[string]string{
		"digits-theo": "66950cbb855cd96d", "digits-jackson": "5e52b6735c4c1d79", "digits-official": "bc2d612699aa082f",
		"sequences": "c76a3fe4e60bcfa9", "sequences-theo": "27289c5291f301ed", "words": "a5a908ee66bfd8df",
	} {
		dir := t.TempDir()
		if _, err := taskNamed(name).build(c, dir); err != nil {
			t.Fatal(err)
		}
		if got := sum(t, dir, c.recordings, c.examples); got != want {
			t.Errorf("%s has the sum %s, want %s", name, got, want)
		}
	}
}

// So are those of the real recordings.
func TestCorporaOfTheDataset(t *testing.T) {
	c := &corpora{recordings: filepath.Join(testkit.Shared(t), "data", "fsdd", "recordings")}
	for name, want := range map[string]string{
		"digits-theo": "bb87292ce8a8d1de", "digits-jackson": "7cda3c7085896115", "digits-official": "5e2729ba1b9e4ed2",
		"sequences": "b059183c703fa382", "sequences-theo": "ab4695b18ca0f741",
	} {
		dir := t.TempDir()
		folds, err := taskNamed(name).build(c, dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum(t, dir, c.recordings); got != want {
			t.Errorf("%s has the sum %s, want %s", name, got, want)
		}
		if strings.HasPrefix(name, "sequences") {
			continue
		}
		// The manifests that came with the recordings have the same lines.
		other := map[string]string{"digits-theo": "loso_theo", "digits-jackson": "loso_jackson", "digits-official": "official"}[name]
		for part, path := range map[string]string{"train": folds[0].train, "test": folds[0].test} {
			want := contents(t, filepath.Join(c.recordings, "..", other+"_"+part+".jsonl"))
			if got := contents(t, path); !slices.Equal(got, want) {
				t.Errorf("%s has %d lines in %s, want the %d of %s", name, len(got), part, len(want), other)
			}
		}
	}
}

// contents are the files and texts of a manifest, sorted.
func contents(t testing.TB, path string) (list []string) {
	t.Helper()
	lines, err := readManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		list = append(list, filepath.Base(l.Audio)+" "+l.Text+" "+l.Speaker)
	}
	slices.Sort(list)
	return list
}

// A sequence is its recordings, each with a pause of quiet noise behind it, and nothing else.
func TestSequences(t *testing.T) {
	c := &corpora{recordings: spokenDigits(t, 3)}
	dir := t.TempDir()
	folds, err := c.sequences(dir, "jackson")
	if err != nil {
		t.Fatal(err)
	}
	var reader audio.Reader
	read := func(path string) []float32 {
		_, x, err := reader.Read(audio.File(path), nil, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return slices.Clone(x)
	}
	said := map[string][][]float32{} // takes by speaker and word
	list, err := c.takes()
	if err != nil {
		t.Fatal(err)
	}
	for _, take := range list {
		key := take.speaker + " " + digitNames[take.digit]
		said[key] = append(said[key], read(take.path))
	}
	for path, n := range map[string]int{folds[0].train: sequenceTrain, folds[0].test: sequenceTest} {
		lines, err := readManifest(path)
		if err != nil || len(lines) != n {
			t.Fatalf("%d lines, %v", len(lines), err)
		}
		of := map[string]int{}
		for _, l := range lines {
			of[l.Speaker]++
			rest := read(filepath.Join(dir, l.Audio))
			words := strings.Fields(l.Text)
			if len(words) != sequenceDigits {
				t.Fatalf("%q", l.Text)
			}
			for _, word := range words {
				takes := said[l.Speaker+" "+word]
				i := slices.IndexFunc(takes, func(x []float32) bool { return len(x) <= len(rest) && slices.Equal(x, rest[:len(x)]) })
				if i < 0 {
					t.Fatalf("%s: what is said is not %s", l.Audio, word)
				}
				rest = rest[len(takes[i]):]
				pause := 0
				for pause < len(rest) && rest[pause] >= -20.0/(1<<15) && rest[pause] <= 20.0/(1<<15) {
					pause++
				}
				// A loud sample that is quiet by chance would make it longer: there are 41 in 65536 of these.
				if pause < 800 || pause > 4002 {
					t.Fatalf("%s: a pause of %d samples behind %s", l.Audio, pause, word)
				}
				pause = min(pause, 4000)
				for k := pause; k >= 800; k-- { // its end is where the next word begins
					if starts(said, l.Speaker, rest[k:]) {
						pause = k
						break
					}
				}
				rest = rest[pause:]
			}
			if len(rest) > 0 {
				t.Errorf("%s: %d samples behind the last pause", l.Audio, len(rest))
			}
		}
		want := map[string]int{"theo": 20, "lucas": 20}
		if path == folds[0].test {
			want = map[string]int{"jackson": 30}
		}
		if fmt.Sprint(of) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", path, of, want)
		}
	}
}

// starts says whether a word of a speaker begins here, or nothing more comes.
func starts(said map[string][][]float32, speaker string, x []float32) bool {
	for key, takes := range said {
		for _, take := range takes {
			if strings.HasPrefix(key, speaker+" ") && len(take) <= len(x) && slices.Equal(take, x[:len(take)]) {
				return true
			}
		}
	}
	return len(x) == 0
}

// In each fold the tested voice is in no training line, every word is said twice in training, 20 by each voice.
func TestWords(t *testing.T) {
	folds, err := (&corpora{examples: exampleWords}).words(t.TempDir())
	if err != nil || len(folds) != 5 {
		t.Fatalf("%d folds, %v", len(folds), err)
	}
	for _, f := range folds {
		train, errTrain := readManifest(f.train)
		test, errTest := readManifest(f.test)
		if errTrain != nil || errTest != nil || len(train) != 80 || len(test) != 40 {
			t.Fatalf("%d and %d lines, %v, %v", len(train), len(test), errTrain, errTest)
		}
		byVoice, byWord := map[string]int{}, map[string]int{}
		for _, l := range train {
			byVoice[l.Speaker]++
			byWord[l.Text]++
			if _, err := os.Stat(l.Audio); err != nil {
				t.Error(err)
			}
		}
		for _, l := range test {
			if l.Speaker != f.name || byWord[l.Text] != 2 {
				t.Errorf("fold %s tests %s by %s, which training has %d times", f.name, l.Text, l.Speaker, byWord[l.Text])
			}
		}
		if len(byVoice) != 4 || byVoice[f.name] != 0 || slices.ContainsFunc(wordVoices, func(v string) bool { return v != f.name && byVoice[v] != 20 }) {
			t.Errorf("fold %s: %v", f.name, byVoice)
		}
	}
}

// spokenSentences writes synth and held with the bundled words in place of sentences: two voices to train on, one to
// validate with, one to test on, and a fifth that only held has.
func spokenSentences(t testing.TB) string {
	t.Helper()
	folder, err := filepath.Abs(exampleWords)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readManifest(filepath.Join(folder, "train.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	lists := map[string][]line{}
	for i, l := range all {
		l.Speaker = strings.Split(l.Audio, "/")[1]
		l.Audio = filepath.Join(folder, filepath.FromSlash(l.Audio))
		part := map[string]string{"v01": "synth/train", "v05": "synth/train", "v02": "synth/dev", "v06": "synth/test"}[l.Speaker]
		if i%40 >= 30 {
			part = "held/all" // ten words that synth has not
		}
		if part != "" {
			lists[part] = append(lists[part], l)
		}
	}
	for name, lines := range lists {
		path := filepath.Join(dir, filepath.FromSlash(name)+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := writeManifest(path, lines); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Of the other sentences those by voices that synth has are left out.
func TestSentences(t *testing.T) {
	c := &corpora{spoken: spokenSentences(t)}
	folds, err := c.sentences(t.TempDir())
	if err != nil || len(folds) != 1 || len(folds[0].more) != 1 {
		t.Fatalf("%+v, %v", folds, err)
	}
	held, err := readManifest(folds[0].more[0].manifest)
	if err != nil || len(held) != 40 {
		t.Fatalf("%d lines, %v", len(held), err)
	}
	for _, l := range held {
		if !slices.Contains([]string{"v03", "v04", "v07", "v08"}, l.Speaker) || l.ID == "" {
			t.Errorf("%+v", l)
		}
	}
}

// The script is called once for each part that isn't there whole.
func TestSpeak(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "speak.py")
	const text = `import json, os, sys
a = dict(zip(sys.argv[1::2], sys.argv[2::2]))
os.makedirs(a["--out"])
n = int(a["--voices"])
for part in ("train", "dev", "test", "all"):
    with open(os.path.join(a["--out"], part + ".jsonl"), "w") as f:
        for i, t in enumerate(open(a["--text"])):
            for v in range(n) if part == "all" else [dict(train=0, dev=1, test=2)[part]]:
                print(json.dumps(dict(audio_filepath="wav/%d/%d.wav" % (v, i), text=t.strip(), speaker="v%d" % v)), file=f)
open(os.path.join(a["--out"], "meta.json"), "w").write("{}")
open("` + `calls", "a").write(" ".join(sys.argv[1:]) + "\n")
`
	calls := filepath.Join(dir, "calls")
	if err := os.WriteFile(script, []byte(strings.ReplaceAll(text, `"calls"`, fmt.Sprintf("%q", calls))), 0o666); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i := range 180 {
		fmt.Fprintf(&lines, "sentence %d\n", i)
	}
	c := &corpora{script: script, text: filepath.Join(dir, "sentences.txt")}
	if err := os.WriteFile(c.text, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	for range 2 {
		folds, err := c.sentences(out)
		if err != nil {
			t.Fatal(err)
		}
		train, err := readManifest(folds[0].train)
		if err != nil || len(train) != 150 || train[149].Text != "sentence 149" {
			t.Errorf("%d lines to train on, %v", len(train), err)
		}
		held, err := readManifest(folds[0].more[0].manifest)
		if err != nil || len(held) != 20*17 || held[0].Text != "sentence 150" {
			t.Errorf("%d further lines, %v", len(held), err)
		}
	}
	said, err := os.ReadFile(calls)
	if err != nil || strings.Count(string(said), "\n") != 2 {
		t.Errorf("the script was called so: %s %v", said, err)
	}
	testkit.MustContain(t, string(said), "synth.txt --voices 10\n", "held.txt --voices 20\n")
}

// Sources that aren't there, or aren't what they have to be, are named.
func TestBadSources(t *testing.T) {
	few := t.TempDir()
	testkit.WriteWAV(t, filepath.Join(few, "3_theo_7.wav"), 8000, make([]int, 100))
	fast := spokenDigits(t, 1)
	for digit := range 10 {
		testkit.WriteWAV(t, filepath.Join(fast, fmt.Sprintf("%d_lucas_0.wav", digit)), 16000, make([]int, 100))
	}
	unspoken := func(change func(map[string]any)) string {
		dir := spokenSentences(t)
		path := filepath.Join(dir, "held", "all.jsonl")
		lines, err := readManifest(path)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, l := range lines {
			entry := map[string]any{"audio_filepath": l.Audio, "text": l.Text, "speaker": l.Speaker}
			change(entry)
			text, _ := json.Marshal(entry)
			out.Write(append(text, '\n'))
		}
		if err := os.WriteFile(path, []byte(out.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	short := filepath.Join(t.TempDir(), "short.txt")
	if err := os.WriteFile(short, []byte("one\ntwo\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		task string
		corpora
		want []string
	}{
		{"digits-theo", corpora{}, []string{"no --recordings", "DIGIT_SPEAKER_TAKE.wav"}},
		{"digits-theo", corpora{recordings: filepath.Join(few, "none")}, []string{"--recordings", "none"}},
		{"digits-theo", corpora{recordings: t.TempDir()}, []string{"has no files DIGIT_SPEAKER_TAKE.wav"}},
		{"digits-theo", corpora{recordings: few}, []string{"0 recordings to train on and 1 to test on", "speaker theo"}},
		{"digits-official", corpora{recordings: few}, []string{"1 recordings to train on and 0 to test on", "takes 0 to 4"}},
		{"sequences", corpora{recordings: few}, []string{"no zero by jackson"}},
		{"sequences", corpora{recordings: fast}, []string{"a rate of 16000 Hz, want 8000"}},
		{"words", corpora{examples: few}, []string{"the bundled words", "give --words"}},
		{"sentences", corpora{}, []string{"no --sentences"}},
		{"sentences", corpora{spoken: few}, []string{"--sentences", "train.jsonl"}},
		{"sentences", corpora{spoken: unspoken(func(m map[string]any) { m["text"] = "आनी" })}, []string{"it isn't an unseen sentence"}},
		{"sentences", corpora{spoken: unspoken(func(m map[string]any) { m["speaker"] = "v01" })}, []string{"no voice that"}},
		{"sentences", corpora{script: "speak.py", text: few + "/none.txt"}, []string{"--text", "none.txt"}},
		{"sentences", corpora{script: "speak.py", text: short}, []string{"has 2 lines, want 170"}},
	} {
		_, err := taskNamed(c.task).build(&c.corpora, t.TempDir())
		testkit.MustFail(t, err, c.want...)
	}
}
