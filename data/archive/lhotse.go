package archive

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Lhotse's lists, as far as they are used. (lhotse.MonoCut, MultiCut, Recording, SupervisionSegment as dictionaries.)
type (
	lhotseCut struct {
		Type         string              `json:"type"`
		ID           string              `json:"id"`
		Start        float64             `json:"start"`
		Duration     float64             `json:"duration"`
		Channel      any                 `json:"channel"`
		Supervisions []lhotseSupervision `json:"supervisions"`
		Recording    *lhotseRecording    `json:"recording"`
		Features     any                 `json:"features"`
	}
	lhotseSupervision struct {
		ID        string  `json:"id"`
		Recording string  `json:"recording_id"`
		Start     float64 `json:"start"`
		Duration  float64 `json:"duration"`
		Channel   any     `json:"channel"`
		Text      string  `json:"text"`
		Speaker   string  `json:"speaker"`
	}
	lhotseRecording struct {
		ID         string         `json:"id"`
		Sources    []lhotseSource `json:"sources"`
		Rate       int            `json:"sampling_rate"`
		Samples    int64          `json:"num_samples"`
		Duration   float64        `json:"duration"`
		Transforms []any          `json:"transforms"`
	}
	lhotseSource struct {
		Type     string `json:"type"`
		Channels []int  `json:"channels"`
		Source   any    `json:"source"`
	}
)

// lhotse lists one of Lhotse's files: cuts, or supervisions with the recordings beside them; false if it is none.
func (l *List) lhotse(ctx context.Context, path string) (bool, error) {
	kind := ""
	stop := fmt.Errorf("seen")
	err := jsonLines(ctx, path, func(_ int, b []byte) error {
		kind = lhotseKind(b)
		return stop
	})
	switch {
	case kind == "" && err != nil && err != stop && strings.HasSuffix(path, ".gz"):
		return false, err
	case kind == "cuts":
		return true, l.cuts(ctx, path, nil)
	case kind == "":
		return false, nil
	}
	recordings, supervisions := path, path
	if kind == "recordings" {
		supervisions, err = besides(path, "recordings", "supervisions")
	} else {
		recordings, err = besides(path, "supervisions", "recordings")
	}
	if err != nil {
		return true, err
	}
	return true, l.supervisions(ctx, supervisions, recordings)
}

// lhotseKind says of a line which of the lists it is from, by the keys that others don't have.
func lhotseKind(b []byte) string {
	var keys map[string]json.RawMessage
	if json.Unmarshal(b, &keys) != nil {
		return ""
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := keys[n]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("id", "type", "supervisions"), has("id", "type", "tracks"), has("id", "type", "start", "recording"):
		return "cuts"
	case has("id", "sources", "sampling_rate"):
		return "recordings"
	case has("id", "recording_id", "start", "duration"):
		return "supervisions"
	}
	return ""
}

// besides finds the other one of two lists whose names differ in one word.
func besides(path, word, other string) (string, error) {
	base := filepath.Base(path)
	i := strings.LastIndex(base, word)
	if i < 0 {
		return "", fmt.Errorf("%s: this is Lhotse's list of %s, and the %s that go with it are looked for by the same name; "+
			"call it %s.jsonl.gz, and the other %s.jsonl.gz", path, word, other, word, other)
	}
	found := filepath.Join(filepath.Dir(path), base[:i]+other+base[i+len(word):])
	for _, f := range []string{found, found + ".gz", strings.TrimSuffix(found, ".gz")} {
		if _, err := os.Stat(f); err == nil {
			return f, nil
		}
	}
	return "", fmt.Errorf("%s: this is Lhotse's list of %s, and the %s that go with it are not there as %s", path, word, other, found)
}

// longestLine is how long a line of a list may be, in bytes.
const longestLine = 64 << 20

// jsonLines calls use with each line that isn't blank, of a file that may be compressed by gzip.
func jsonLines(ctx context.Context, path string, use func(number int, b []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<16)
	if head, _ := r.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
		z, err := gzip.NewReader(r)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		r = bufio.NewReaderSize(z, 1<<16)
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), longestLine)
	for number := 1; lines.Scan(); number++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if b := bytes.TrimSpace(lines.Bytes()); len(b) > 0 {
			if err := use(number, b); err != nil {
				return err
			}
		}
	}
	if err := lines.Err(); err != nil {
		if err == io.ErrUnexpectedEOF {
			err = fmt.Errorf("it is cut off (%w)", err)
		}
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// cuts lists the utterances of cuts. in finds the sound of a cut in the tar of its shard; nil where there is none.
func (l *List) cuts(ctx context.Context, path string, in *sharSounds) error {
	from := len(l.Rows)
	var cuts []string // of each row, what it is called where supervisions are not unique
	err := jsonLines(ctx, path, func(number int, b []byte) error {
		var c lhotseCut
		if err := json.Unmarshal(b, &c); err != nil {
			r := Row{File: path, Line: number}
			r.fail("not a cut: %v", err)
			l.Rows, cuts = append(l.Rows, r), append(cuts, "")
			return nil
		}
		for i := range max(len(c.Supervisions), 1) {
			l.Rows = append(l.Rows, c.row(path, number, i, in))
			id := c.ID
			if len(c.Supervisions) > 1 {
				id = fmt.Sprintf("%s-%d", c.ID, i)
			}
			cuts = append(cuts, id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	again := ""
	for i := range l.Rows[from:] {
		if r := &l.Rows[from+i]; r.ID != "" && seen[r.ID] {
			again = r.ID
		} else {
			seen[r.ID] = true
		}
	}
	if again != "" {
		l.note("%s: several cuts have the supervision %s, so utterances are called by their cuts", path, again)
		for i := range l.Rows[from:] {
			l.Rows[from+i].ID = cuts[i]
		}
	}
	return nil
}

// row is supervision i of a cut: the part of it that the supervision covers.
func (c *lhotseCut) row(path string, number, i int, in *sharSounds) Row {
	r := Row{ID: c.ID, Audio: c.ID, File: path, Line: number}
	switch {
	case c.Type == "MixedCut" || c.Type == "PaddingCut":
		r.fail("cut %s is a %s, which is put together when it is read; write the sound out first (save_audios)", c.ID, c.Type)
	case len(c.Supervisions) == 0:
		r.Empty = true
		r.fail("cut %s has no supervision, so no text", c.ID)
	case c.Recording == nil:
		r.fail("cut %s has no recording, only features; sound is needed", c.ID)
	}
	if r.Wrong != "" {
		return r
	}
	s := &c.Supervisions[i]
	start, end := max(s.Start, 0), min(s.Start+s.Duration, c.Duration)
	const slack = 0.1 // seconds that an end may be rounded by
	if past := max(-s.Start, s.Start+s.Duration-c.Duration); past > slack {
		r.fail("supervision %s goes %.3f s past its cut %s: its text says more than is heard", s.ID, past, c.ID)
	}
	member := in.find(c.ID)
	switch {
	case member != nil:
		whole := *c.Recording
		whole.Duration = c.Duration
		r.fromSupervision(s, &whole, start, end-start, c.Channel)
		r.Audio, r.Source = member.member, member
		return r
	case c.Recording.isShar():
		r.fail("%s", in.lacks(path, c.ID))
	}
	r.fromSupervision(s, c.Recording, c.Start+start, end-start, c.Channel)
	r.file(c.Recording)
	return r
}

// supervisions lists the utterances of supervisions, whose times are those of the recording.
func (l *List) supervisions(ctx context.Context, path, recordings string) error {
	known := map[string]*lhotseRecording{}
	err := jsonLines(ctx, recordings, func(number int, b []byte) error {
		r := new(lhotseRecording)
		if err := json.Unmarshal(b, r); err != nil {
			return fmt.Errorf("%s, line %d: not a recording: %w", recordings, number, err)
		}
		known[r.ID] = r
		return nil
	})
	if err != nil {
		return err
	}
	return jsonLines(ctx, path, func(number int, b []byte) error {
		r := Row{File: path, Line: number}
		var s lhotseSupervision
		if err := json.Unmarshal(b, &s); err != nil {
			r.fail("not a supervision: %v", err)
		} else if recording := known[s.Recording]; recording == nil {
			r.ID = s.ID
			r.fail("supervision %s is of the recording %s, which %s doesn't have", s.ID, s.Recording, recordings)
		} else {
			r.fromSupervision(&s, recording, s.Start, s.Duration, s.Channel)
			r.file(recording)
		}
		l.Rows = append(l.Rows, r)
		return nil
	})
}

// fromSupervision is the part of a recording that a supervision describes.
func (r *Row) fromSupervision(s *lhotseSupervision, recording *lhotseRecording, start, duration float64, channel any) {
	r.ID, r.Text, r.Speaker = s.ID, strings.TrimSpace(s.Text), s.Speaker
	half := 0.5 / float64(max(recording.Rate, 1))
	if start < half && start+duration > recording.Duration-half {
		r.Stated = fmt.Sprint(recording.Duration)
	} else {
		r.Part, r.Offset, r.Duration = true, max(start, 0), duration
	}
	if !(start > -half) || !(duration > 0) || math.IsInf(start+duration, 0) {
		r.fail("supervision %s: %v s from %v s on", s.ID, duration, start)
	}
	if r.Text == "" && r.Wrong == "" {
		r.Empty = true
		r.fail("%s", s.ID)
	}
	if one, ok := channel.(float64); ok {
		for _, source := range recording.Sources {
			if len(source.Channels) > 1 {
				r.fail("supervision %s is of channel %v alone, and its file has %d; write the channel out as a file of its own",
					s.ID, one, len(source.Channels))
			}
		}
	}
}

// file takes over the file that a recording is.
func (r *Row) file(recording *lhotseRecording) {
	if len(recording.Transforms) > 0 {
		r.fail("recording %s is changed when it is read (transforms); write the sound out first (save_audios)", recording.ID)
	}
	if len(recording.Sources) != 1 {
		r.fail("recording %s has %d files; one is needed", recording.ID, len(recording.Sources))
		return
	}
	source := &recording.Sources[0]
	path, _ := source.Source.(string)
	switch {
	case source.Type == "command":
		r.fail("recording %s is what the command %q prints, and commands are never run; write the sound out first", recording.ID, path)
	case source.Type != "file" || path == "":
		r.fail("recording %s is of the kind %q, and only files are read; write the sound out first (save_audios)", recording.ID, source.Type)
	default:
		r.Audio = path
	}
}
