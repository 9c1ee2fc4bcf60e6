package archive

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// table is a Parquet file that was gone through.
type table struct {
	file  file
	pages []page
	rows  []cells
	notes []string
}

// cells is what a row has in the columns that are used.
type cells struct {
	id, path, text, speaker, stated string
	page                            int32 // of the sound, in pages; -1 if there is only a path
	extent
}

// column is a leaf of the schema.
type column struct {
	index  int // among the leaves
	path   []string
	kind   format.Type
	most   int  // the definition level of a value that is there
	many   bool // there may be several values a row
	isText bool
}

func (c *column) name() string { return strings.Join(c.path, ".") }

// footer reads the metadata at the end of a Parquet file.
func footer(src io.ReaderAt, f file) (*format.FileMetaData, error) {
	var head [4]byte
	var tail [8]byte
	if f.size < 12 {
		return nil, fmt.Errorf("%s: %d bytes, too short for a Parquet file", f.path, f.size)
	}
	if _, err := src.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	if _, err := src.ReadAt(tail[:], f.size-8); err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	size := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(tail[4:]) == "PARE":
		return nil, fmt.Errorf("%s: an encrypted Parquet file, which can't be read", f.path)
	case string(head[:]) != "PAR1":
		return nil, fmt.Errorf("%s: not a Parquet file, it begins with %q", f.path, head)
	case string(tail[4:]) != "PAR1" || size > f.size-12:
		return nil, fmt.Errorf("%s: it starts like a Parquet file and doesn't end like one; was it written or copied completely?", f.path)
	}
	b := make([]byte, size)
	if _, err := src.ReadAt(b, f.size-8-size); err != nil {
		return nil, fmt.Errorf("%s: %w", f.path, err)
	}
	meta := new(format.FileMetaData)
	if _, err := decodeThrift(b, meta); err != nil {
		return nil, fmt.Errorf("%s: the metadata at its end can't be read (%v)", f.path, err)
	}
	return meta, nil
}

// leaves lists the columns of a schema, which stands depth first.
func leaves(schema []format.SchemaElement) ([]column, error) {
	var out []column
	at := 0
	var walk func(path []string, most int, many bool, depth int) error
	walk = func(path []string, most int, many bool, depth int) error {
		if at >= len(schema) || depth > deepest {
			return errThrift
		}
		e := &schema[at]
		at++
		if depth > 0 {
			path = append(slices.Clip(path), e.Name)
			if r := e.RepetitionType.V; e.RepetitionType.Valid && r != format.Required {
				most++
				many = many || r == format.Repeated
			}
		}
		if e.Type.Valid {
			text := e.LogicalType.Value != nil || e.ConvertedType.Valid && e.ConvertedType.V == deprecated.UTF8
			out = append(out, column{len(out), path, e.Type.V, most, many, text})
			return nil
		}
		for range e.NumChildren.V {
			if err := walk(path, most, many, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return out, walk(nil, 0, false, 0)
}

// used are the columns that are read; nil where there is none.
type used struct{ sound, path, text, id, speaker, stated *column }

// choose finds the columns that are used, by name.
func choose(f file, all []column) (used, error) {
	var names []string
	for i := range all {
		names = append(names, all[i].name())
	}
	find := func(wanted []string) *column {
		for _, name := range wanted {
			for i := range all {
				if c := &all[i]; strings.EqualFold(c.name(), name) && !c.many {
					return c
				}
			}
		}
		return nil
	}
	u := used{text: find(textNames), id: find(idNames), speaker: find(speakerNames), stated: find(durationNames)}
	if u.text == nil {
		return u, fmt.Errorf("%s: no column for the text (%s); it has %s", f.path, oneOf(textNames), strings.Join(names, ", "))
	}
	var sounds []*column
	for i := range all {
		c := &all[i]
		embedded := len(c.path) == 2 && c.path[1] == "bytes"
		alone := len(c.path) == 1 && !c.isText && slices.Contains(soundNames, strings.ToLower(c.path[0]))
		if c.kind == format.ByteArray && !c.many && (embedded || alone) {
			sounds = append(sounds, c)
		}
	}
	slices.SortStableFunc(sounds, func(a, b *column) int { return rank(a) - rank(b) })
	switch {
	case len(sounds) == 0:
		if u.path = find([]string{"audio.path", "audio_filepath", "path", "audio", "file", "file_name", "wav"}); u.path == nil {
			return u, fmt.Errorf("%s: no column for the sound (a struct with bytes and path, or bytes, under %s); it has %s",
				f.path, oneOf(soundNames), strings.Join(names, ", "))
		}
		return u, nil
	case len(sounds) > 1 && rank(sounds[0]) == rank(sounds[1]):
		return u, fmt.Errorf("%s: %s and %s are both sound; leave one, under the name audio", f.path, sounds[0].name(), sounds[1].name())
	}
	u.sound = sounds[0]
	if len(u.sound.path) == 2 {
		u.path = find([]string{u.sound.path[0] + ".path"})
	} else {
		u.path = find([]string{"audio_filepath", "path", "file", "file_name"})
	}
	return u, nil
}

// rank is how usual the name of a column of sound is.
func rank(c *column) int {
	if i := slices.Index(soundNames, strings.ToLower(c.path[0])); i >= 0 {
		return i
	}
	return len(soundNames)
}

// readParquet goes through a Parquet file: rows, and where their sound lies.
func readParquet(ctx context.Context, src io.ReaderAt, f file) (*table, error) {
	meta, err := footer(src, f)
	if err != nil {
		return nil, err
	}
	all, err := leaves(meta.Schema)
	if err != nil {
		return nil, fmt.Errorf("%s: the metadata at its end can't be read (%v)", f.path, err)
	}
	u, err := choose(f, all)
	if err != nil {
		return nil, err
	}
	t := &table{file: f}
	for g := range meta.RowGroups {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		group := &meta.RowGroups[g]
		if n := group.NumRows; n < 0 || n > f.size-int64(len(t.rows)) || len(group.Columns) != len(all) {
			return nil, fmt.Errorf("%s: row group %d claims %d rows and has %d columns of %d", f.path, g, n, len(group.Columns), len(all))
		}
		if group.NumRows == 0 {
			continue // its pages are not written
		}
		if err := t.group(src, group, u); err != nil {
			return nil, fmt.Errorf("%s: row group %d: %w", f.path, g, err)
		}
	}
	t.weigh()
	return t, nil
}

// group takes over the rows of a row group.
func (t *table) group(src io.ReaderAt, group *format.RowGroup, u used) error {
	n, from := int(group.NumRows), len(t.rows)
	t.rows = append(t.rows, make([]cells, n)...)
	rows := t.rows[from:]
	for i := range rows {
		rows[i].page = -1
	}
	for _, c := range []struct {
		*column
		to func(*cells) *string
	}{
		{u.path, func(r *cells) *string { return &r.path }}, {u.text, func(r *cells) *string { return &r.text }},
		{u.id, func(r *cells) *string { return &r.id }}, {u.speaker, func(r *cells) *string { return &r.speaker }},
		{u.stated, func(r *cells) *string { return &r.stated }},
	} {
		if c.column == nil {
			continue
		}
		r := &chunk{src: src, size: t.file.size, column: c.column, meta: &group.Columns[c.index].MetaData, n: n}
		err := r.each(func(row int, v *values) {
			for i := range v.n {
				*c.to(&rows[row+i]) = v.text(i, c.kind)
			}
		})
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name(), err)
		}
	}
	if u.sound == nil {
		return nil
	}
	r := &chunk{src: src, size: t.file.size, column: u.sound, meta: &group.Columns[u.sound.index].MetaData, n: n, pages: &t.pages}
	err := r.each(func(row int, v *values) {
		for i, e := range v.extents {
			if e.at >= 0 {
				rows[row+i].page, rows[row+i].extent = v.page, e
			}
		}
	})
	if err != nil {
		return fmt.Errorf("column %s: %w", u.sound.name(), err)
	}
	return nil
}

// weigh notes where reading a row is dear, as its compression can't be undone in small parts.
func (t *table) weigh() {
	const dear = 4 << 20
	largest := uint32(0)
	for i := range t.pages {
		p := &t.pages[i]
		switch {
		case p.codec == format.Uncompressed:
		case p.cuts == nil:
			largest = max(largest, uint32(p.size))
		default:
			for k, c := range p.cuts[1:] {
				largest = max(largest, c.plain-p.cuts[k].plain)
			}
		}
	}
	if largest > dear {
		t.notes = append(t.notes, fmt.Sprintf("%s: for each recording up to %d MB are decompressed, as its pages are that long and "+
			"can't be read in parts; write it with pyarrow and compression=\"snappy\", or row_group_size=100, to read it faster",
			t.file.path, largest/1e6))
	}
}

// list is the rows as utterances.
func (t *table) list(l *List) {
	l.Notes = append(l.Notes, t.notes...)
	if len(t.rows) == 0 {
		l.note("%s: it has no rows", t.file.path)
	}
	seen := make(map[string]bool, len(t.rows))
	named := true
	places := &places{file: t.file, pages: t.pages}
	for i := range t.rows {
		c := &t.rows[i]
		if c.id == "" {
			named = named && c.path != "" && !seen[c.path]
			seen[c.path] = true
		}
	}
	for i := range t.rows {
		c := &t.rows[i]
		r := Row{ID: c.id, Audio: c.path, Text: strings.TrimSpace(c.text), Speaker: c.speaker, Stated: c.stated, File: t.file.path, Line: i + 1}
		number := fmt.Sprintf("row %d", i+1)
		if c.page >= 0 {
			r.Source = &cell{places, c.path, int32(i + 1), c.page, c.extent}
		}
		if r.Audio == "" {
			r.Audio = stem(t.file.path) + " " + number
			if r.Source == nil {
				r.fail("%s: neither sound nor a path", number)
			}
		}
		switch {
		case r.ID != "":
		case named:
			r.ID = c.path
		default:
			r.ID = stem(t.file.path) + "/" + number
		}
		if r.Text == "" && r.Wrong == "" {
			r.Empty = true
			r.fail("%s", r.ID)
		}
		l.Rows = append(l.Rows, r)
	}
}
