package archive

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// member is a regular file in a tar, or a link.
type member struct {
	name     string
	at, size int64  // where its bytes lie
	text     string // its content, where it is a text that goes with sound
	whole    bool   // text is all of it
	link     string // what it is a link to, "" for a file
}

// mac says whether a member is one that macOS adds beside a file, with what only macOS knows of it.
func (m *member) mac() bool {
	return strings.HasPrefix(path.Base(m.name), "._") || strings.HasPrefix(m.name, "__MACOSX/")
}

// tarball is a tar that was gone through.
type tarball struct {
	file    *file // apart, so that what refers to it doesn't keep the members
	members []member
	notes   []string
}

// mostText is the longest member that is read as a text, in bytes: 64 KiB, an hour of speech written down.
const mostText = 1 << 16

// readTar lists the members of a tar. A tar that is cut off gives what is whole, with a note.
func readTar(ctx context.Context, src io.ReaderAt, f file) (*tarball, error) {
	var head [512]byte
	n, _ := src.ReadAt(head[:], 0)
	if n >= 2 && head[0] == 0x1f && head[1] == 0x8b {
		return nil, fmt.Errorf("%s: this is compressed by gzip, where nothing can be read without all before it; "+
			"write it out once: gunzip -k %s", f.path, f.path)
	}
	t := &tarball{file: &f}
	at := io.NewSectionReader(src, 0, f.size)
	r := tar.NewReader(at)
	end := int64(0) // of the last member
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		h, err := r.Next()
		if err == io.EOF {
			return t, t.ended(src, at, end)
		}
		if err != nil {
			where, _ := at.Seek(0, io.SeekCurrent)
			if len(t.members) == 0 {
				return nil, fmt.Errorf("%s: not a tar that can be read: %w", f.path, err)
			}
			t.note("it is cut off or damaged near byte %d of %d, behind %s (%v); what lies before is used",
				min(where, f.size), f.size, t.members[len(t.members)-1].name, err)
			break
		}
		if sparse(h) {
			return nil, fmt.Errorf("%s: %s is a sparse file, which is not read; write the tar without --sparse", f.path, h.Name)
		}
		m := member{name: h.Name}
		if m.at, err = at.Seek(0, io.SeekCurrent); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		end = m.at
		switch h.Typeflag {
		case tar.TypeReg:
			m.size = h.Size
		case tar.TypeLink, tar.TypeSymlink:
			if m.link = h.Linkname; m.link != "" && (isTextName(m.name) || isSoundName(m.name)) {
				t.members = append(t.members, m)
			}
			continue
		default:
			continue
		}
		end += (m.size + tarBlock - 1) / tarBlock * tarBlock
		if m.size > f.size-m.at {
			t.note("it is cut off in %s, which should have %d bytes and has %d; what lies before is used", m.name, m.size, f.size-m.at)
			break
		}
		if m.size <= mostText && isTextName(m.name) {
			b := make([]byte, m.size)
			if _, err := src.ReadAt(b, m.at); err != nil && !errors.Is(err, io.EOF) {
				return nil, fmt.Errorf("%s: %s: %w", f.path, m.name, err)
			}
			m.text, m.whole = string(b), true
		}
		t.members = append(t.members, m)
	}
	return t, nil
}

// tarBlock is what the headers and contents of a tar are filled up to, and what its end has two of, in bytes.
const tarBlock = 512

// ended notes a tar that ends without saying so, behind a member that is whole, and one that goes on behind its end.
func (t *tarball) ended(src io.ReaderAt, at *io.SectionReader, end int64) error {
	where, err := at.Seek(0, io.SeekCurrent)
	if err != nil {
		return fmt.Errorf("%s: %w", t.file.path, err)
	}
	if where <= end {
		t.note("it ends behind %s without the mark of a tar's end: was it written or copied completely?", t.last())
		return nil
	}
	b := make([]byte, 1<<16)
	for where < t.file.size {
		n, err := src.ReadAt(b[:min(int64(len(b)), t.file.size-where)], where)
		if i := bytes.IndexFunc(b[:n], func(r rune) bool { return r != 0 }); i >= 0 {
			t.note("it has its end at byte %d of %d, and what lies behind is not read; if tars were put one behind the other, "+
				"give them one by one, or join them with tar --concatenate", where, t.file.size)
			return nil
		}
		if err != nil && err != io.EOF || n == 0 {
			return fmt.Errorf("%s: %w", t.file.path, err)
		}
		where += int64(n)
	}
	return nil
}

// last names the last member.
func (t *tarball) last() string {
	if len(t.members) == 0 {
		return "its first header"
	}
	return t.members[len(t.members)-1].name
}

func (t *tarball) note(format string, args ...any) {
	t.notes = append(t.notes, t.file.path+": "+fmt.Sprintf(format, args...))
}

// source is the sound in a member.
func (t *tarball) source(m *member) *span { return &span{t.file, m.name, m.at, m.size} }

// sparse says whether a member's bytes don't lie in the tar one behind the other.
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// splitName cuts a member's name into the key that it shares with the members of the same sample and the rest, at the
// first dot of the last element, as WebDataset does.
func splitName(name string) (key, ending string, ok bool) {
	folder, base := path.Split(name)
	stem, ending, ok := strings.Cut(base, ".")
	if !ok || stem == "" {
		return "", "", false
	}
	return folder + stem, strings.ToLower(ending), true
}

// lastEnding is what stands behind the last dot: mic.wav has the ending of sound.
func lastEnding(ending string) string { return ending[strings.LastIndexByte(ending, '.')+1:] }

// isTextName says whether a member is one of those whose text belongs to sound.
func isTextName(name string) bool {
	_, ending, ok := splitName(name)
	return ok && (lastEnding(ending) == "json" || textEndings[lastEnding(ending)])
}

// isSoundName says whether a member has the name of sound.
func isSoundName(name string) bool {
	_, ending, ok := splitName(name)
	return ok && soundEndings[lastEnding(ending)]
}

// textEndings are those of members that are a transcript and nothing else.
var textEndings = map[string]bool{
	"txt": true, "text": true, "transcript": true, "transcription": true, "sentence": true, "normalized_text": true,
	"trans": true, "trn": true, "lab": true,
}

// soundEndings are those of sound, whether it can be decoded or not: what can't is reported by its decoder.
var soundEndings = map[string]bool{
	"wav": true, "wave": true, "flac": true, "mp3": true, "ogg": true, "oga": true, "opus": true, "m4a": true, "mp4": true,
	"aac": true, "wma": true, "amr": true, "aiff": true, "aif": true, "au": true, "sph": true, "caf": true, "webm": true,
}
