package archive

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"
)

// sound and sample are rows as Hugging Face's datasets has them.
type sound struct {
	Bytes []byte `parquet:"bytes,optional"`
	Path  string `parquet:"path,optional"`
}

type sample struct {
	ID       string  `parquet:"id,optional"`
	Audio    sound   `parquet:"audio,optional"`
	Text     string  `parquet:"sentence,optional"`
	Speaker  int64   `parquet:"speaker_id"`
	Duration float64 `parquet:"duration"`
}

func makeParquet[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	for i := range rows {
		if _, err := w.Write(rows[i : i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var codecs = map[string]compress.Codec{"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip,
	"brotli": &parquet.Brotli, "zstd": &parquet.Zstd}

// makeParquets writes rows in every compression, both versions of pages and several encodings.
func makeParquets(t testing.TB, rows []sample) map[string][]byte {
	files := map[string][]byte{}
	for name, codec := range codecs {
		for version := 1; version <= 2; version++ {
			files[fmt.Sprint(name, version)] = makeParquet(t, rows, parquet.Compression(codec), parquet.DataPageVersion(version),
				parquet.MaxRowsPerRowGroup(17), parquet.PageBufferSize(5000))
		}
	}
	type dictionary struct {
		ID    string `parquet:"id,dict"`
		Audio struct {
			Bytes []byte `parquet:"bytes,optional,dict"`
		} `parquet:"audio"`
		Text string `parquet:"transcription,dict"`
	}
	type deltas struct {
		ID    string `parquet:"id,delta"` // DELTA_LENGTH_BYTE_ARRAY
		Audio []byte `parquet:"audio"`
		Text  []byte `parquet:"text,delta"` // DELTA_BYTE_ARRAY
		Other int64  `parquet:"duration,delta"`
	}
	var asDictionary []dictionary
	var asDeltas []deltas
	for _, r := range rows {
		d := dictionary{ID: r.ID, Text: r.Text}
		d.Audio.Bytes = r.Audio.Bytes
		asDictionary = append(asDictionary, d)
		asDeltas = append(asDeltas, deltas{ID: r.ID, Audio: r.Audio.Bytes, Text: []byte(r.Text), Other: -3})
	}
	files["dictionary"] = makeParquet(t, asDictionary, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(25))
	files["deltas"] = makeParquet(t, asDeltas, parquet.Compression(&parquet.Snappy))
	return files
}

func TestParquetValues(t *testing.T) {
	dir := t.TempDir()
	s := wav(1, 50)
	rows := []sample{
		{ID: "a", Audio: sound{[]byte(s), "a.wav"}, Text: " one ", Speaker: -7, Duration: 0.5},
		{Audio: sound{nil, "clips/b.mp3"}, Text: "two"},
		{ID: "c", Text: "three"},
		{ID: "d", Audio: sound{[]byte(s), ""}},
	}
	l := mustOpen(t, write(t, dir+"/x.parquet", makeParquet(t, rows)), NewIndex(""))
	checkRows(t, l, "a|one|", "clips/b.mp3|two|", "c|three|row 3: neither sound nor a path", "d||d")
	if r := l.Rows[0]; r.Speaker != "-7" || r.Stated != "0.5" || content(t, r.Source) != s ||
		r.Source.Name() != filepath.Join(dir, "x.parquet")+": row 1 (a.wav)" {
		t.Errorf("%+v, %s", r, r.Source.Name())
	}
	if r := l.Rows[1]; r.Source != nil || r.Audio != "clips/b.mp3" {
		t.Errorf("a path alone: %+v", r)
	}
	if !l.Rows[3].Empty {
		t.Error("no text is not said")
	}
}

func TestParquetWithoutIDs(t *testing.T) {
	s := sound{[]byte(wav(1, 50)), "same.wav"}
	path := write(t, filepath.Join(t.TempDir(), "train.parquet"), makeParquet(t, []sample{{Audio: s, Text: "x"}, {Audio: s, Text: "y"}}))
	checkRows(t, mustOpen(t, path, NewIndex("")), "train/row 1|x|", "train/row 2|y|")
}

func TestParquetRefused(t *testing.T) {
	dir := t.TempDir()
	one := []sample{{ID: "a", Audio: sound{[]byte(wav(1, 50)), "a.wav"}, Text: "x"}}
	whole := makeParquet(t, one)
	refused(t, write(t, dir+"/lz4.parquet", makeParquet(t, one, parquet.Compression(&parquet.Lz4Raw))), "LZ4_RAW", "not supported", "snappy")
	refused(t, write(t, dir+"/cut.parquet", whole[:len(whole)-9]), "cut.parquet", "written or copied completely")
	refused(t, write(t, dir+"/none.parquet", makeParquet(t, []struct{ A string }{{"x"}})), "no column for the text", "it has A")
	refused(t, write(t, dir+"/text.parquet", makeParquet(t, []struct {
		Text string `parquet:"text"`
	}{{"x"}})), "no column for the sound")
	folder := filepath.Join(t.TempDir(), "data")
	for _, name := range []string{"train-00000-of-00002", "train-00001-of-00002", "test-00000-of-00001"} {
		write(t, filepath.Join(folder, name+".parquet"), whole)
	}
	refused(t, folder, "test, train", "test-00000-of-00001.parquet, "+folder+"/train-[0-9]*.parquet")
	refused(t, filepath.Dir(folder), "test, train")
	l := mustOpen(t, filepath.Join(folder, "train-*.parquet"), NewIndex(""))
	checkRows(t, l, "train-00000-of-00002/a|x|", "train-00001-of-00002/a|x|")
	noted(t, l.Notes, "ids begin with the archive's name")
}

// TestDearPages wants it said where reading a row means decompressing megabytes.
func TestDearPages(t *testing.T) {
	big := []sample{{ID: "a", Audio: sound{[]byte(strings.Repeat(wav(1, 30000), 80)), "a.wav"}, Text: "x"}}
	dir := t.TempDir()
	l := mustOpen(t, write(t, dir+"/z.parquet", makeParquet(t, big, parquet.Compression(&parquet.Zstd))), NewIndex(""))
	noted(t, l.Notes, "up to 4 MB are decompressed")
	table := &table{pages: []page{{codec: format.Snappy, size: 9 << 20}}}
	var err error
	if table.pages[0].cuts, err = snappyCuts(inPieces(make([]byte, 9<<20))); err != nil {
		t.Fatal(err)
	}
	if table.weigh(); len(table.notes) > 0 {
		t.Error(table.notes)
	}
}
