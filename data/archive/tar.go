package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// member is a regular file in a tar.
type member struct {
	name     string
	at, size int64  // where its bytes lie
	text     string // its content, where it is a text that goes with sound
	whole    bool   // text is all of it
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
	for {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		h, err := r.Next()
		if err == io.EOF {
			break
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
		if h.Typeflag != tar.TypeReg {
			continue
		}
		m := member{name: h.Name, size: h.Size}
		if m.at, err = at.Seek(0, io.SeekCurrent); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
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
