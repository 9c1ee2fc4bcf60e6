package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"konkanitrain/checkpoint"
	"konkanitrain/internal/words"
	"konkanitrain/recognize"
	"konkanitrain/recognize/transcript"
)

// sheet is where transcripts are written to: standard output, a folder, or a file that can be gone on with. Beside such
// a file lies another one, its name with .progress behind it, which says how much of it stands and what comes next;
// what is behind that, as a kill leaves it, is cut off and made again. It is gone when all is done.
type sheet struct {
	format transcript.Format
	path   string // of the file; "" where there is none
	all    []recognize.Recording
	w      transcript.Writer
	file   *os.File
	err    io.Writer
	say    func(any) // prints a line to err, beside a progress bar
	folder bool
	tty    bool // what is written is seen on a terminal
	bytes  int64
	state  sheetState
	base   int // number of the first of the recordings that are transcribed now
	names  transcript.Names
}

// sheetState is what a half-done file is gone on with.
type sheetState struct {
	Batch  string          `json:"batch"`  // of what: recordings, model and settings
	Bytes  int64           `json:"bytes"`  // of the file, that stand
	Ended  int             `json:"ended"`  // recordings
	From   recognize.Rest  `json:"from"`   // of the next one
	Failed []string        `json:"failed"` // names of recordings that could not be read
	Mark   transcript.Mark `json:"mark"`
}

// toFolder says whether an output is a folder: one that is there, or a name that ends with a separator or has no
// extension.
func toFolder(path string) bool {
	return path != "" && (isFolder(path) || os.IsPathSeparator(path[len(path)-1]) || filepath.Ext(path) == "")
}

// sheet opens the output.
func (c *transcribeConfig) sheet(model *recognize.Model, list []recognize.Recording, s streams) (*sheet, error) {
	o := &sheet{format: transcript.Format(c.Format), all: list, err: s.err, tty: isTerminal(s.out) && c.Output == ""}
	o.state.Batch = c.batch(model, list)
	if o.format == transcript.CTM {
		for _, r := range list {
			o.names.Of(r.Name)
		}
		sayNames(&o.names, s.err)
	}
	var err error
	switch {
	case c.Output == "":
		o.w, err = transcript.New(o.format, s.out)
	case toFolder(c.Output):
		o.folder = true
		if err := transcript.Distinct(o.format, names(list)); err != nil {
			return nil, fmt.Errorf("output: in %s %w", c.Output, err)
		}
		if err := writable("output", c.Output); err != nil {
			return nil, err
		}
		o.passOver(c.Output)
		o.w = transcript.NewFolder(o.format, c.Output)
	default:
		o.path = c.Output
		err = o.open()
	}
	return o, err
}

// batch tells apart what can't be gone on with by each other's command.
func (c *transcribeConfig) batch(model *recognize.Model, list []recognize.Recording) string {
	h := fnv.New64a()
	for _, r := range list {
		fmt.Fprintf(h, "%s\n%v %v\n", r.Name, r.Offset, r.Duration)
	}
	return fmt.Sprintf("%s %x; %s; %s, pieces of %g s, %g s shared, nbest %d, %+v", words.Count(len(list), "recording"), h.Sum64(), model.Description,
		c.Format, c.PieceSeconds, c.OverlapSeconds, c.NBest, c.decoding)
}

func names(list []recognize.Recording) []string {
	all := make([]string, len(list))
	for i, r := range list {
		all[i] = r.Name
	}
	return all
}

// passOver leaves out what has its file in a folder already.
func (o *sheet) passOver(dir string) {
	var rest []recognize.Recording
	for _, r := range o.all {
		if _, err := os.Stat(filepath.Join(dir, transcript.Name(o.format, r.Name))); err != nil {
			rest = append(rest, r)
		}
	}
	if n := len(o.all) - len(rest); n > 0 {
		fmt.Fprintf(o.err, "%d of %s have their files in %s already, and are passed over\n", n, words.Count(len(o.all), "recording"), dir)
	}
	o.all = rest
}

// open begins a file, or goes on with one that is half done.
func (o *sheet) open() error {
	kept, err := os.ReadFile(o.progress())
	if errors.Is(err, fs.ErrNotExist) {
		if err := o.begin(); err != nil {
			return err
		}
	} else if err != nil {
		return fmt.Errorf("output: %w", err)
	} else if err := o.goOn(kept); errors.Is(err, checkpoint.ErrWritten) {
		return fmt.Errorf("output: %s: %w", o.path, err)
	} else if err != nil {
		return fmt.Errorf("output: %s: %w; start it as it was started, or remove both files", o.progress(), err)
	}
	o.bytes = o.state.Bytes
	o.w, err = transcript.Continue(o.format, counted{o.file, &o.bytes}, o.state.Mark)
	return err
}

// begin makes the file. One that is there already has to be empty, as a start leaves it that was killed, or for whose
// state there was no room on the disk.
func (o *sheet) begin() error {
	there := fmt.Errorf("output: %s is there already, and %s, by which it could be gone on with, isn't: name another file, or remove it", o.path, o.progress())
	if stat, err := os.Stat(o.path); err == nil && (!stat.Mode().IsRegular() || stat.Size() > 0) {
		return there
	}
	var err error
	if o.file, err = os.OpenFile(o.path, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if err := checkpoint.LockFile(o.file); err != nil {
		return fmt.Errorf("output: %s: %w", o.path, err)
	}
	if stat, err := o.file.Stat(); err != nil || stat.Size() > 0 { // another process has written it meanwhile
		return errors.Join(there, err)
	}
	return o.save()
}

// goOn opens a file that is half done and cuts off what is behind its state.
func (o *sheet) goOn(kept []byte) error {
	var state sheetState
	if err := json.Unmarshal(kept, &state); err != nil {
		return fmt.Errorf("it is damaged: %w", err)
	}
	switch {
	case state.Batch != o.state.Batch:
		return fmt.Errorf("%s is half done with other sound files, another model or other settings (%s; now %s)", o.path, state.Batch, o.state.Batch)
	case state.Ended < 0 || state.Ended > len(o.all) || state.Bytes < 0 || state.From.Sample < 0 || state.From.Joined < 0:
		return errors.New("it is damaged")
	}
	var err error
	if o.file, err = os.OpenFile(o.path, os.O_WRONLY, 0); err != nil {
		return err
	}
	if err := checkpoint.LockFile(o.file); err != nil {
		return err
	}
	stat, err := o.file.Stat()
	if err != nil {
		return err
	}
	if stat.Size() < state.Bytes {
		return fmt.Errorf("%s has %s, and had %d when that was written", o.path, words.Count(int(stat.Size()), "byte"), state.Bytes)
	}
	if err := o.file.Truncate(state.Bytes); err != nil {
		return err
	}
	if _, err := o.file.Seek(state.Bytes, io.SeekStart); err != nil {
		return err
	}
	o.state = state
	where := ""
	if state.Mark.Open {
		where = fmt.Sprintf(", and with %s in its middle", o.all[state.Ended].Name)
	}
	fmt.Fprintf(o.err, "going on with %s: %d of %s are done%s\n", o.path, state.Ended, words.Count(len(o.all), "recording"), where)
	return nil
}

// progress is the file with the state.
func (o *sheet) progress() string { return o.path + ".progress" }

// save writes the state, whole or not at all.
func (o *sheet) save() error {
	if o.path == "" {
		return nil
	}
	b, err := json.Marshal(o.state)
	if err == nil {
		err = os.WriteFile(o.progress()+".new", b, 0o666)
	}
	if err == nil {
		err = os.Rename(o.progress()+".new", o.progress())
	}
	if err != nil {
		os.Remove(o.progress() + ".new") // an error here adds nothing to that of the write
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// left are the recordings that are still to be transcribed.
func (o *sheet) left() []recognize.Recording {
	o.base = o.state.Ended
	list := append([]recognize.Recording(nil), o.all[o.base:]...)
	if o.state.Mark.Open && len(list) > 0 {
		list[0].From = o.state.From
	}
	return list
}

// Begin begins a recording, unless it is gone on with.
func (o *sheet) Begin(_ int, r transcript.Recording) error {
	if o.w.Mark().Open {
		return nil
	}
	return o.w.Begin(named(r, o.format, &o.names))
}

// named gives a recording the name that it has in a format.
func named(r transcript.Recording, f transcript.Format, names *transcript.Names) transcript.Recording {
	if f == transcript.CTM {
		r.Name = names.Of(r.Path)
	}
	return r
}

// sayNames says which recordings have more than their usual name.
func sayNames(n *transcript.Names, w io.Writer) {
	if apart := n.Apart(); len(apart) > 0 {
		fmt.Fprintf(w, "NOTE: files of one name are told apart by more of their paths: %s\n", words.List(apart, 5))
	}
}

// Segment writes one.
func (o *sheet) Segment(s transcript.Segment) error { return o.w.Segment(s) }

// Through keeps what the recording can be gone on with.
func (o *sheet) Through(r recognize.Rest) error {
	if o.path == "" || o.format == transcript.TextGrid {
		return nil
	}
	o.state.From = r
	o.mark()
	return o.save()
}

func (o *sheet) mark() { o.state.Mark, o.state.Bytes = o.w.Mark(), o.bytes }

// End ends a recording, and names one that could not be read to its end.
func (o *sheet) End(i int, failed error) error {
	if o.w.Mark().Open {
		if err := o.w.End(); err != nil {
			return err
		}
	}
	if failed != nil {
		name := o.all[o.base+i].Name
		o.state.Failed = append(o.state.Failed, name)
		if !strings.Contains(failed.Error(), name) {
			failed = fmt.Errorf("%s: %w", name, failed)
		}
		o.say(fmt.Sprintf("konkanitrain: %v", failed))
	}
	o.state.Ended, o.state.From = o.base+i+1, recognize.Rest{}
	o.mark()
	return o.save()
}

// end closes the output, after a transcription that came to err. A file that is not done stays as it is.
func (o *sheet) end(err error) error {
	if o.path != "" && err != nil {
		fmt.Fprintf(o.err, "%d of %s are done; the same command goes on behind what %s has\n", o.state.Ended, words.Count(len(o.all), "recording"), o.path)
		return errors.Join(err, o.file.Close())
	}
	if err != nil && o.w.Mark().Open && !o.folder {
		_ = o.w.End() // so that what stands is whole
	}
	closing := o.w.Close()
	if o.path != "" {
		closing = errors.Join(closing, o.file.Close(), os.Remove(o.progress()))
	}
	if err == nil {
		err = closing
	}
	return err
}

// counted counts what is written.
type counted struct {
	w io.Writer
	n *int64
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	*c.n += int64(n)
	return n, err
}
