package archive

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// oneTar is a tar of one utterance.
func oneTar(t *testing.T, id string) []byte {
	return makeTar(t, pair{id + ".wav", "RIFF"}, pair{id + ".txt", id})
}

// oneTable is a Parquet file of one utterance, or of none.
func oneTable(t *testing.T, ids ...string) []byte {
	var rows []sample
	for _, id := range ids {
		rows = append(rows, sample{ID: id, Audio: sound{[]byte(wav(1, 50)), "a.wav"}, Text: id})
	}
	return makeParquet(t, rows, parquet.Compression(&parquet.Snappy))
}

// TestEmptyShards wants a shard of 0 bytes refused by name in every form, and one that is whole and empty to be none.
func TestEmptyShards(t *testing.T) {
	for _, ending := range []string{".tar", ".parquet"} {
		dir := t.TempDir()
		whole, none := oneTar(t, "a"), makeTar(t)
		if ending == ".parquet" {
			whole, none = oneTable(t, "a"), oneTable(t)
		}
		write(t, filepath.Join(dir, "s-000"+ending), whole)
		write(t, filepath.Join(dir, "s-001"+ending), nil)
		for _, path := range []string{dir, dir + "/*" + ending, dir + "/s-{000..001}" + ending, dir + "/s-001" + ending} {
			refused(t, path, "s-001"+ending+": 0 bytes", "written or copied completely")
		}
		write(t, filepath.Join(dir, "s-001"+ending), none)
		l := mustOpen(t, dir, NewIndex(""))
		checkRows(t, l, "a|a|")
		noted(t, l.Notes, "s-001"+ending+": it has no ")
		refused(t, dir+"/s-001"+ending, "nothing is in it", "it has no ")
	}
	refused(t, write(t, t.TempDir()+"/x.parquet", []byte("<html>no such file</html>")), "not a Parquet file", "<htm")
}

// TestMissingShards reads sets whose names say that there should be more.
func TestMissingShards(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 7} {
		id := fmt.Sprint(n)
		write(t, filepath.Join(dir, fmt.Sprintf("train-0000%d-of-00009.parquet", n)), oneTable(t, id))
		write(t, filepath.Join(dir, "tars", fmt.Sprintf("s-%d-of-2.tar", n/7+1)), oneTar(t, id))
	}
	const want = "train: 2 of 9 shards are there; missing: train-00001-of-00009, train-00002-of-00009, train-00003-of-00009, and 4 more"
	noted(t, mustOpen(t, dir, NewIndex("")).Notes, want)
	noted(t, mustOpen(t, dir+"/train-*.parquet", NewIndex("")).Notes, want)
	for _, all := range []string{dir + "/tars", dir + "/train-{00000,00007}-of-00009.parquet"} {
		if l := mustOpen(t, all, NewIndex("")); len(l.Notes) > 0 {
			t.Errorf("%s: %q", all, l.Notes)
		}
	}
}

// TestLeftOut wants to be told what of a folder is not read, and what isn't data not to be spoken of.
func TestLeftOut(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"s-000.tar", "._s-000.tar", "more.TAR", "sub/deep/s-001.tar"} {
		write(t, filepath.Join(dir, name), oneTar(t, stem(name)))
	}
	for _, name := range []string{"comp.tar.gz", "notes.txt", "list.csv", "b.wav", "plain/readme.md"} {
		write(t, filepath.Join(dir, name), []byte("x"))
	}
	l := mustOpen(t, dir, NewIndex(""))
	checkRows(t, l, "more|more|", "s-000|s-000|")
	noted(t, l.Notes, "not read of what lies in it: b.wav, comp.tar.gz, list.csv, sub/deep/s-001.tar; ")
	checkRows(t, mustOpen(t, dir+"/s*.tar", NewIndex("")), "s-000|s-000|")
	checkRows(t, mustOpen(t, dir+"/*0.tar", NewIndex("")), "s-000|s-000|")
	write(t, dir+"/x.parquet", oneTable(t, "x"))
	refused(t, dir, "tars and Parquet", dir+"/*.tar", dir+"/x.parquet")
}

// TestSplits holds every choice that a message offers to what can be read.
func TestSplits(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"dev", "train-00000-of-00002", "train-00001-of-00002", "train-clean-000", "train-clean-010"} {
		write(t, filepath.Join(dir, name+".parquet"), oneTable(t, name))
	}
	_, err := Open(t.Context(), dir, NewIndex(""))
	if err == nil {
		t.Fatal("several splits are read as one")
	}
	_, list, _ := strings.Cut(err.Error(), "say which: ")
	total := 0
	for _, choice := range strings.Split(list, ", ") {
		l := mustOpen(t, choice, NewIndex(""))
		total += len(l.Rows)
		for i := range l.Rows {
			if splitOf(l.Rows[i].File) != splitOf(l.Rows[0].File) {
				t.Errorf("%s stands for %s and %s", choice, l.Rows[0].File, l.Rows[i].File)
			}
		}
	}
	if total != 5 {
		t.Errorf("%d rows of 5: %v", total, err)
	}
	numbered := t.TempDir()
	for _, name := range []string{"0000", "0001"} {
		write(t, filepath.Join(numbered, name+".parquet"), oneTable(t, name))
	}
	checkRows(t, mustOpen(t, numbered, NewIndex("")), "0000|0000|", "0001|0001|")
}
