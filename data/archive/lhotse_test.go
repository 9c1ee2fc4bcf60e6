package archive

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recording is one of Lhotse's as JSON, 2 s long.
func recording(id, sources string) string {
	return `{"id": "` + id + `", "sources": [` + sources + `], "sampling_rate": 16000, "num_samples": 32000, "duration": 2.0, "channel_ids": [0]}`
}

const oneFile = `{"type": "file", "channels": [0], "source": "wav/a.wav"}`

func TestLhotseCuts(t *testing.T) {
	cut := func(id, rest string) string { return `{"id": "` + id + `", "channel": 0, ` + rest + `}` }
	whole := `"start": 0, "duration": 2.0, "type": "MonoCut", `
	r := `"recording": ` + recording("r", oneFile)
	lines := []string{
		cut("whole", whole+`"supervisions": [{"id": "s1", "start": 0, "duration": 2.0, "text": "one", "speaker": "v"}], `+r),
		cut("part", `"start": 0.5, "duration": 1.0, "type": "MonoCut", "supervisions": [{"id": "s2", "start": 0.25, "duration": 0.5, "text": "two"}], `+r),
		cut("two", whole+`"supervisions": [{"id": "s3", "start": 0, "duration": 0.5, "text": "three"}, {"id": "s4", "start": 1, "duration": 1, "text": "four"}], `+r),
		cut("past", `"start": 0.5, "duration": 0.5, "type": "MonoCut", "supervisions": [{"id": "s5", "start": -0.5, "duration": 2, "text": "x"}], `+r),
		cut("mixed", `"type": "MixedCut", "tracks": [], "supervisions": []`),
		cut("bare", whole+`"supervisions": [], `+r),
		cut("features", whole+`"supervisions": [{"id": "s6", "start": 0, "duration": 2.0, "text": "x"}], "features": {}`),
		cut("command", whole+`"supervisions": [{"id": "s7", "start": 0, "duration": 2.0, "text": "x"}], "recording": `+
			recording("r", `{"type": "command", "channels": [0], "source": "touch /tmp/was-run"}`)),
		cut("stereo", whole+`"supervisions": [{"id": "s8", "start": 0, "duration": 2.0, "text": "x"}], "recording": `+
			recording("r", `{"type": "file", "channels": [0, 1], "source": "b.wav"}`)),
		cut("silent", whole+`"supervisions": [{"id": "s9", "start": 0, "duration": 2.0}], `+r),
		`{"id": 3`,
	}
	want := []string{"s1|one|", "s2|two||0.750+0.500", "s3|three||0.000+0.500", "s4|four||1.000+1.000",
		"s5|x|supervision s5 goes 1.000 s past its cut past: its text says more than is heard|0.500+0.500",
		"mixed||cut mixed is a MixedCut, which is put together when it is read; write the sound out first (save_audios)",
		"bare||cut bare has no supervision, so no text", "features||cut features has no recording, only features; sound is needed",
		`s7|x|recording r is what the command "touch /tmp/was-run" prints, and commands are never run; write the sound out first`,
		"s8|x|supervision s8 is of channel 0 alone, and its file has 2; write the channel out as a file of its own",
		"s9||s9", "||not a cut: unexpected end of JSON input"}
	b := []byte(strings.Join(lines, "\n") + "\n")
	dir := t.TempDir()
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	w.Write(b)
	w.Close()
	for _, path := range []string{write(t, dir+"/cuts.jsonl", b), write(t, dir+"/gz/cuts.jsonl.gz", z.Bytes()), dir + "/gz"} {
		l := mustOpen(t, path, NewIndex(""))
		checkRows(t, l, want...)
		if r := l.Rows[0]; r.Audio != "wav/a.wav" || r.Source != nil || r.Speaker != "v" || r.Stated != "2" {
			t.Errorf("%+v", r)
		}
	}
	refused(t, write(t, dir+"/cut.jsonl.gz", z.Bytes()[:z.Len()-30]), "cut off")
}

func TestLhotseCutsOfOneSupervision(t *testing.T) {
	line := func(id string) string {
		return `{"id": "` + id + `", "start": 0, "duration": 2.0, "type": "MonoCut", "channel": 0, "supervisions": ` +
			`[{"id": "s", "start": 0, "duration": 2.0, "text": "one"}], "recording": ` + recording("r", oneFile) + "}\n"
	}
	l := mustOpen(t, write(t, t.TempDir()+"/cuts.jsonl", []byte(line("a")+line("b"))), NewIndex(""))
	checkRows(t, l, "a|one|", "b|one|")
	noted(t, l.Notes, "called by their cuts")
}

func TestLhotseSupervisions(t *testing.T) {
	dir := t.TempDir()
	recordings := write(t, dir+"/dev_recordings.jsonl", []byte(recording("r", oneFile)+"\n"))
	supervisions := write(t, dir+"/dev_supervisions.jsonl", []byte(`{"id": "a", "recording_id": "r", "start": 0.5, "duration": 1.0, "channel": 0, "text": "x"}
{"id": "b", "recording_id": "q", "start": 0.5, "duration": 1.0, "channel": 0, "text": "x"}
`))
	for _, path := range []string{recordings, supervisions} {
		checkRows(t, mustOpen(t, path, NewIndex("")), "a|x||0.500+1.000",
			"b||supervision b is of the recording q, which "+recordings+" doesn't have")
	}
	refused(t, write(t, t.TempDir()+"/supervisions.jsonl", []byte(`{"id": "a", "recording_id": "r", "start": 0, "duration": 1}`)), "recordings", "not there")
}

func TestNotLhotse(t *testing.T) {
	for _, line := range []string{`{"audio_filepath": "a.wav", "text": "x"}`, `{"id": "a", "audio": "x", "text": "y", "duration": 1}`, "a,b", "", "{"} {
		l, err := Open(t.Context(), write(t, filepath.Join(t.TempDir(), "a.jsonl"), []byte(line)), NewIndex(""))
		if l != nil || err != nil {
			t.Errorf("%q: %v, %v", line, l, err)
		}
	}
}

// TestShar damages the tar of a shard in each way: the message names it.
func TestShar(t *testing.T) {
	_, paths := corpus(t, 2)
	dir := paths["shar"]
	cuts, tar := filepath.Join(dir, "cuts.000000.jsonl"), filepath.Join(dir, "recording.000000.tar")
	checkRows(t, mustOpen(t, cuts, NewIndex("")),
		"u000|text u000|the sound of cut u000 lies in a tar beside its list (Shar); give the folder, "+dir,
		"u001|text u001|the sound of cut u001 lies in a tar beside its list (Shar); give the folder, "+dir)
	write(t, tar, makeTar(t, pair{"u001.wav", wav(1, 437)}, pair{"x.wav", wav(2, 5)}, pair{"._u000.wav", "mac"}))
	write(t, filepath.Join(dir, "recording.000001.tar"), makeTar(t))
	write(t, filepath.Join(dir, "features.000000.tar"), makeTar(t))
	l := mustOpen(t, dir, NewIndex(""))
	checkRows(t, l, "u000|text u000|cut u000 is not in "+tar+", which has the sound of 2 other cuts", "u001|text u001|")
	noted(t, l.Notes, "not read of what lies in it: recording.000001.tar; ")
	if err := os.Remove(tar); err != nil {
		t.Fatal(err)
	}
	l = mustOpen(t, dir, NewIndex(""))
	if want := "the sound of cut u000 should lie in " + tar + ", which is not there"; l.Rows[0].Wrong != want {
		t.Errorf("%q, want %q", l.Rows[0].Wrong, want)
	}
	write(t, tar, nil)
	refused(t, dir, "recording.000000.tar: 0 bytes")
	write(t, cuts, nil)
	refused(t, dir, "cuts.000000.jsonl: 0 bytes")
}
