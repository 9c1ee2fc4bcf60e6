package data

import (
	"context"
	"path/filepath"
	"testing"
)

func TestTSV(t *testing.T) {
	checkAll(t, []loadCase{
		{
			name: "Common Voice",
			file: "cv.tsv",
			content: "client_id\tpath\tsentence\tlocale\n" +
				"s\ta.wav\tताणें \"वाट\tgom\n" +
				"s\tb.wav\tबीं, बी\tgom\n" +
				"s\tc.wav\t\tgom\n" +
				"s\tclips/c.wav\tम्हजें\tgom\n",
			options: Options{PathMap: []Mapping{{"a.wav", "audio/a.wav"}, {"b.wav", "audio/b.wav"}, {"clips", "audio"}}},
			texts:   []string{`ताणें "वाट`, "बीं, बी", "म्हजें"},
			ids:     []string{"a.wav", "b.wav", "clips/c.wav"},
			notes:   []int{4},
		},
		{
			name:    "a tab too many",
			file:    "x.tsv",
			content: "path\tsentence\naudio/a.wav\tवाट\naudio/b.wav\tब\tी\n",
			err:     []string{"line 3", "3 columns", "has 2"},
		},
		{
			name:    "a tab too few",
			file:    "x.tsv",
			content: "path\tsentence\naudio/a.wav\tवाट\naudio/b.wav\n",
			err:     []string{"line 3", "1 column where", "has 2"},
		},
		{
			name:    "a row may be short where what is missing isn't used",
			file:    "x.tsv",
			content: "path\tsentence\tduration\tage\naudio/a.wav\tवाट\n",
			texts:   threeTexts[:1],
		},
		{name: "a header alone", file: "x.tsv", content: "path\tsentence\n", err: []string{"no line in it"}},
		{name: "no columns", file: "x.tsv", content: "a\tb\nc\td\n", err: []string{`it has ["a" "b"]`}},
		{name: "no column for the text", file: "x.tsv", content: "path\tb\nc\td\n", err: []string{"one for the text"}},
		{name: "no path", file: "x.tsv", content: "path\ttext\n\tवाट\n", err: []string{"line 2: the column of the audio is empty"}},
		{
			name:    "Latin-1",
			file:    "x.tsv",
			content: "path\ttext\naudio/a.wav\tcaf\xe9\n",
			err:     []string{"line 2", "(0xE9) is not UTF-8"},
		},
		{
			name:      "parts",
			file:      "x.TSV",
			content:   "Path\tText\tOFFSET\tduration\tid\naudio/a.wav\tवाट\t0.25\t0.25\tu1\naudio/a.wav\tवाट\t \t\tu2\n",
			ids:       []string{"u1", "u2"},
			durations: []float64{0.25, 0.5},
		},
		{name: "an offset that is a word", file: "x.tsv", content: "path\ttext\toffset\na\tb\tlate\n", err: []string{`line 2: offset is "late"`}},
		{
			name:    "a duration that is a word, with an offset",
			file:    "x.tsv",
			content: "path\ttext\toffset\tduration\naudio/a.wav\tb\t0.1\tlong\n",
			err:     []string{"line 2: duration is long, not a number of seconds"},
		},
	})
}

func TestCSV(t *testing.T) {
	checkAll(t, []loadCase{
		{
			name: "quotes",
			file: "x.csv",
			content: "audio_filepath,duration,text\r\n" +
				"audio/a.wav,0.5,\"वाट, वांट\"\r\n" +
				"audio/b.wav,1.0,\"ताणें \"\"बीं\"\"\"\r\n" +
				"\"audio/c.wav\",1.5,\"म्हजें\nम्हजे\"\r\n" +
				"audio/no.wav,,बी\r\n",
			texts: []string{"वाट, वांट", `ताणें "बीं"`, "म्हजें म्हजे"},
			notes: []int{6},
		},
		{name: "semicolons", file: "x.csv", content: "path;text\naudio/a.wav;वाट, बीं\n", texts: []string{"वाट, बीं"}},
		{
			name:    "commas and a semicolon in the header",
			file:    "x.csv",
			content: "path,text,a;b\naudio/a.wav,वाट;बीं,\n",
			texts:   []string{"वाट;बीं"},
		},
		{
			name:    "a quote that isn't closed",
			file:    "x.csv",
			content: "path,text\naudio/a.wav,वाट\naudio/b.wav,\"बीं\n",
			err:     []string{"line 3", "quotes"},
		},
		{name: "a header with a quote that isn't closed", file: "x.csv", content: "path,\"text\naudio/a.wav,वाट\n", err: []string{"the header can't be read"}},
		{
			name:    "no columns",
			file:    "x.csv",
			content: "file name,words\naudio/a.wav,वाट\n",
			err:     []string{"audio_filepath", "transcript", `"words"`},
		},
		{name: "nothing", file: "x.csv", err: []string{"no line in it, 0 bytes"}},
		{
			name:      "durations that are no number",
			file:      "x.csv",
			content:   "path,text,duration\naudio/a.wav,वाट,long\naudio/b.wav,बीं,NaN\n",
			durations: []float64{0.5, 1},
			notes:     []int{2, 3},
		},
	})
}

// Clips of a Common Voice table lie in clips/.
func TestLoadClips(t *testing.T) {
	dir := corpus(t, map[string]string{"cv/train.tsv": "path\tsentence\na.wav\tवाट\n", "cv/clips/a.wav": string(wav(8000, 8000))})
	s, err := Load(context.Background(), filepath.Join(dir, "cv", "train.tsv"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	u := s.At(0)
	if u.Path() != filepath.Join(dir, "cv", "clips", "a.wav") || u.Rate() != 8000 || u.Samples != 8000 || u.Duration != 1 || u.Frames != 100 {
		t.Errorf("%+v", u)
	}
}
