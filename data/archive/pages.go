package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go/format"
)

// page is compressed bytes in a Parquet file that hold sound.
type page struct {
	at     int64 // where they lie
	packed int32 // how many there are
	size   int32 // and how many they stand for
	codec  format.CompressionCodec
	cuts   []cut // of Snappy
}

// chunk is a column's values in a row group.
type chunk struct {
	src    io.ReaderAt
	size   int64 // of the file
	column *column
	meta   *format.ColumnMetaData
	n      int     // rows
	pages  *[]page // gets the pages, where the column is sound

	dictionary *values
}

// values are those of a page, or of a dictionary.
type values struct {
	n       int
	bytes   []byte
	extents []extent // [n] in bytes, unless
	strings []string // [n] they had to be put together
	page    int32    // where bytes lie, of the chunk's pages
}

// text is a value as text, "" where there is none.
func (v *values) text(i int, kind format.Type) string {
	if v.strings != nil {
		return v.strings[i]
	}
	e := v.extents[i]
	if e.at < 0 {
		return ""
	}
	b := v.bytes[e.at : e.at+e.size]
	switch kind {
	case format.Int32:
		return strconv.Itoa(int(int32(binary.LittleEndian.Uint32(b))))
	case format.Int64:
		return strconv.FormatInt(int64(binary.LittleEndian.Uint64(b)), 10)
	case format.Float:
		return strconv.FormatFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), 'g', -1, 32)
	case format.Double:
		return strconv.FormatFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)), 'g', -1, 64)
	}
	return string(b)
}

// each calls use with the values of each page and the row that they begin at.
func (c *chunk) each(use func(row int, v *values)) error {
	if err := checkCodec(c.meta.Codec); err != nil {
		return err
	}
	at := c.meta.DataPageOffset
	if d := c.meta.DictionaryPageOffset; d > 0 && d < at {
		at = d
	}
	end := at + c.meta.TotalCompressedSize
	if at < 4 || c.meta.TotalCompressedSize < 0 || end > c.size || end < at {
		return fmt.Errorf("it is said to lie at bytes %d to %d of %d", at, end, c.size)
	}
	for row := 0; row < c.n; {
		if at >= end {
			return fmt.Errorf("it ends after row %d of %d", row, c.n)
		}
		h, took, err := c.header(at, end)
		if err != nil {
			return err
		}
		at += int64(took)
		if h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 || int64(h.CompressedPageSize) > end-at {
			return fmt.Errorf("a page of %d bytes at byte %d goes past the column's end", h.CompressedPageSize, at)
		}
		b := make([]byte, h.CompressedPageSize)
		if _, err := c.src.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		v, err := c.page(h, b, at, c.n-row)
		if err != nil {
			return fmt.Errorf("the page at byte %d: %w", at, err)
		}
		if v != nil {
			use(row, v)
			row += v.n
		}
		at += int64(h.CompressedPageSize)
	}
	return nil
}

// header reads a page's header, whose length isn't known before.
func (c *chunk) header(at, end int64) (*format.PageHeader, int, error) {
	for size := int64(512); ; size *= 16 {
		b := make([]byte, min(size, end-at))
		if _, err := c.src.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		h := new(format.PageHeader)
		took, err := decodeThrift(b, h)
		if err == nil {
			return h, took, nil
		}
		if size >= end-at { // statistics in it may be as long as values are
			return nil, 0, fmt.Errorf("the header of the page at byte %d can't be read (%v)", at, err)
		}
	}
}

// page decodes a page; nil for one without values of rows. left is how many rows there are still.
func (c *chunk) page(h *format.PageHeader, b []byte, at int64, left int) (*values, error) {
	codec, size := c.meta.Codec, int(h.UncompressedPageSize)
	var levels []byte // of a page of version 2, which has them before what is compressed
	var encoding format.Encoding
	n := 0
	switch h.Type {
	case format.DictionaryPage:
		n = int(h.DictionaryPageHeader.V.NumValues)
		if n < 0 || n > size {
			return nil, errValues
		}
	case format.DataPage:
		n, encoding = int(h.DataPageHeader.V.NumValues), h.DataPageHeader.V.Encoding
	case format.DataPageV2:
		v2 := h.DataPageHeaderV2.V
		n, encoding = int(v2.NumValues), v2.Encoding
		if v2.IsCompressed.Valid && !v2.IsCompressed.V {
			codec = format.Uncompressed
		}
		skip := int(v2.DefinitionLevelsByteLength)
		if skip < 0 || v2.RepetitionLevelsByteLength != 0 || skip > len(b) || skip > size {
			return nil, errValues
		}
		levels, b, at, size = b[:skip], b[skip:], at+int64(skip), size-skip
	default:
		return nil, nil // an index
	}
	if h.Type != format.DictionaryPage && (n < 0 || n > left) {
		return nil, fmt.Errorf("%d values where %d rows are left", n, left)
	}
	if len(b) == 0 {
		codec = format.Uncompressed
	}
	plain, err := decompress(codec, b, size)
	if err != nil {
		return nil, err
	}
	v := &values{n: n, bytes: plain}
	if c.pages != nil && (h.Type == format.DictionaryPage || !isDictionary(encoding)) {
		p := page{at: at, packed: int32(len(b)), size: int32(size), codec: codec}
		if codec == format.Snappy {
			if p.cuts, err = snappyCuts(b); err != nil {
				return nil, err
			}
		}
		v.page = int32(len(*c.pages))
		*c.pages = append(*c.pages, p)
	}
	if h.Type == format.DictionaryPage {
		if c.dictionary != nil {
			return nil, errors.New("a second dictionary")
		}
		v.extents, err = c.extents(plain, n, 0, format.Plain)
		c.dictionary = v
		return nil, err
	}
	from := 0 // where values begin in plain
	if h.Type == format.DataPage && c.column.most > 0 {
		if len(plain) < 4 || uint64(binary.LittleEndian.Uint32(plain)) > uint64(len(plain)-4) {
			return nil, errValues
		}
		from = 4 + int(binary.LittleEndian.Uint32(plain))
		levels = plain[4:from]
	}
	there := n
	var defined []int32
	if c.column.most > 0 {
		if defined, err = hybrid(levels, widthOf(c.column.most), n); err != nil {
			return nil, err
		}
		there = 0
		for _, d := range defined {
			if int(d) == c.column.most {
				there++
			}
		}
	}
	if err := c.decode(v, plain[from:], there, from, encoding); err != nil {
		return nil, err
	}
	v.spread(defined, c.column.most)
	return v, nil
}

// decode fills in the values that are there.
func (c *chunk) decode(v *values, b []byte, n, base int, encoding format.Encoding) (err error) {
	switch {
	case isDictionary(encoding):
		if c.dictionary == nil {
			return errors.New("values refer to a dictionary, and there is none")
		}
		d := c.dictionary
		v.bytes, v.page, v.extents = d.bytes, d.page, make([]extent, n)
		if n == 0 {
			return nil
		}
		if len(b) == 0 {
			return errValues
		}
		numbers, err := hybrid(b[1:], uint(b[0]), n)
		if err != nil {
			return err
		}
		for i, k := range numbers {
			if k < 0 || int(k) >= len(d.extents) {
				return errValues
			}
			v.extents[i] = d.extents[k]
		}
		return nil
	case encoding == format.DeltaByteArray && c.pages == nil:
		v.strings, err = prefixed(b, n, 16*len(b)+1<<20)
		return err
	case encoding == format.DeltaBinaryPacked && (c.column.kind == format.Int32 || c.column.kind == format.Int64):
		numbers, _, err := deltas(b, n)
		if err != nil || len(numbers) < n {
			return errValues
		}
		v.strings = make([]string, n)
		for i, x := range numbers[:n] {
			if c.column.kind == format.Int32 {
				x = int64(int32(x))
			}
			v.strings[i] = strconv.FormatInt(x, 10)
		}
		return nil
	}
	v.extents, err = c.extents(b, n, base, encoding)
	return err
}

// extents finds values that stand in a page as they are.
func (c *chunk) extents(b []byte, n, base int, encoding format.Encoding) ([]extent, error) {
	width := map[format.Type]int{format.Int32: 4, format.Float: 4, format.Int64: 8, format.Double: 8}[c.column.kind]
	switch {
	case c.column.kind == format.ByteArray && encoding == format.Plain:
		return plainExtents(b, n, base)
	case c.column.kind == format.ByteArray && encoding == format.DeltaLengthByteArray:
		return deltaExtents(b, n, base)
	case width > 0 && encoding == format.Plain:
		if len(b)/width < n {
			return nil, errValues
		}
		out := make([]extent, n)
		for i := range out {
			out[i] = extent{int32(base + i*width), int32(width)}
		}
		return out, nil
	}
	return nil, fmt.Errorf("values of the type %v in the encoding %v are not supported here; write the file again with pyarrow's defaults",
		c.column.kind, encoding)
}

// spread puts values at the rows that have one.
func (v *values) spread(defined []int32, most int) {
	if defined == nil {
		return
	}
	extents, texts := v.extents, v.strings
	next := 0
	if texts != nil {
		v.strings = make([]string, v.n)
	} else {
		v.extents = slices.Repeat([]extent{{at: -1}}, v.n)
	}
	for i, d := range defined {
		if int(d) != most {
			continue
		}
		if texts != nil {
			v.strings[i] = texts[next]
		} else {
			v.extents[i] = extents[next]
		}
		next++
	}
}

func isDictionary(e format.Encoding) bool {
	return e == format.RLEDictionary || e == format.PlainDictionary
}
