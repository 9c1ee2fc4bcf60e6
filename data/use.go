package data

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"golang.org/x/text/unicode/norm"

	"konkanitrain/data/audio"
	"konkanitrain/data/feature"
	"konkanitrain/internal/words"
)

// choose keeps the lines that can be used. What isn't used, or is doubtful, is noted.
func (in *intake) choose() {
	r, n := in.rows, len(in.rows.places)
	r.samples, r.frames = append(r.samples, make([]int64, n-in.from)...), append(r.frames, make([]int32, n-in.from)...)
	in.report.Lines, in.report.Warnings = n-in.from, in.notes
	in.report.SampleRate, in.report.Sounds = in.options.SampleRate, map[Sound]int{}
	kept := in.from
	for i := in.from; i < n; i++ {
		l := line{intake: in, row: i, packedRow: r.at(i)}
		used := l.use()
		if used && r.repeats != nil && r.repeats[i] > 0 {
			l.note(RepeatedSource, false, "%v", again{in.ids, i})
		}
		if used {
			in.used = append(in.used, int32(i))
		}
	}
	for _, i := range in.used {
		r.keep(kept, int(i))
		in.report.take(r.seconds(kept), r.written(kept), r.letters.startsWithMark(r.at(kept).text))
		kept++
	}
	r.cut(kept)
}

// line is a row while it is decided about.
type line struct {
	*intake
	packedRow
	row int
}

// note keeps a note about the line.
func (l *line) note(kind Kind, skipped bool, format string, args ...any) {
	if !l.report.wants(kind, skipped) {
		l.report.more(kind, skipped, 1)
		return
	}
	l.report.Add(Note{kind, l.rows.files.list[l.file], l.line, l.rows.id(l.row), fmt.Sprintf(format, args...), skipped})
}

func (l *line) skip(kind Kind, format string, args ...any) bool {
	l.note(kind, true, format, args...)
	return false
}

// use fills in what the audio file says and decides whether the line is used; if not, or if something is doubtful, it
// leaves a note.
func (l *line) use() bool {
	r, i, o := l.rows, l.row, l.options
	if l.unfit > 0 {
		return l.skip(kinds[l.unfit-1], "%s", l.reasons[i])
	}
	f, stated := &r.found[r.sounds[i]], l.stated[i-l.from]
	switch {
	case !f.found:
		return l.skip(Missing, "%s%s", f.path, pathHint(r.paths.list[r.sounds[i]]))
	case f.err != nil:
		return l.skip(Unreadable, "%v", f.err)
	}
	info := f.Info
	if l.inSamples {
		l.offset, stated = l.offset/float64(info.Rate), stated/float64(info.Rate)
	}
	samples := l.samples(info, stated)
	if samples <= 0 {
		return l.skip(Unreadable, "%s: the part starts at %v s, the file has %.3f s", f.path, l.offset, info.Seconds())
	}
	const slack = 0.1 // seconds that an end may be rounded by
	if end := l.offset + stated; l.part && end > info.Seconds()+slack {
		return l.skip(PastEnd, "%s: ends at %.3f s, and %s has %.3f s", r.id(i), end, f.path, info.Seconds())
	}
	frames, err := (feature.Options{SampleRate: o.SampleRate}).Frames(samples, info.Rate, audio.Ratio{})
	if err != nil {
		return l.skip(Unreadable, "%s: %v", f.path, err)
	}
	if frames < 1 {
		return l.skip(TooShort, "%s: %s at %d Hz, 0 feature frames", r.id(i), words.Count(samples, "sample"), info.Rate)
	}
	r.samples[i], r.frames[i] = int64(samples), int32(min(frames, math.MaxInt32))
	const rounding = 1e-6 // seconds; 1.2 s of 44.1 kHz is no whole number of samples
	switch s := float64(samples) / float64(info.Rate); {
	case s < o.MinDuration-rounding:
		return l.skip(TooShort, "%s: %.3f s, min_duration is %v", r.id(i), s, o.MinDuration)
	case o.MaxDuration > 0 && s > o.MaxDuration+rounding:
		return l.skip(TooLong, "%s: %.3f s, the limit is %v", r.id(i), s, o.MaxDuration)
	default:
		l.remark(s, stated, info.Warnings)
	}
	return true
}

// samples is the number of samples that the line has of its recording: none if the part starts past its end.
func (l *line) samples(info audio.Info, stated float64) int {
	rate := float64(info.Rate)
	count := float64(info.Samples)
	if l.part {
		count -= math.Round(l.offset * rate)
		if stated > 0 {
			count = min(count, math.Round(stated*rate))
		}
	}
	return int(max(count, 0))
}

// remark notes what is odd about a line that is used, of so many seconds.
func (l *line) remark(seconds, stated float64, warnings []string) {
	if f := &l.rows.found[l.rows.sounds[l.row]]; f.instead != "" {
		form := ""
		if norm.NFC.String(filepath.Base(f.instead)) == norm.NFC.String(filepath.Base(f.path)) {
			form = ", its name in another Unicode form," // both look the same
		}
		l.note(OtherFile, false, "%s is not there, %s%s is used", f.instead, filepath.Base(f.path), form)
	}
	if l.odd != "" {
		l.note(WrongDuration, false, "states %.40q, has %.3f s", l.odd, seconds)
	} else if stated != 0 && math.Abs(stated-seconds) > 0.1+0.01*seconds {
		l.note(WrongDuration, false, "states %v s, has %.3f s", stated, seconds)
	}
	if l.twice != "" {
		for key := range strings.SplitSeq(l.twice, "\x00") {
			l.note(RepeatedKey, false, "%s", key)
		}
	}
	for _, w := range warnings {
		l.note(AudioWarning, false, "%s", w)
	}
}
