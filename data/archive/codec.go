package archive

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// checkCodec refuses compression that can't be undone here.
func checkCodec(c format.CompressionCodec) error {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Zstd:
		return nil
	}
	return fmt.Errorf("it is compressed by %v, which is not supported; write it again with snappy or zstd "+
		"(pyarrow.parquet.write_table(table, path, compression=\"snappy\"))", c)
}

// decompress returns the size bytes that b stands for. Memory grows with what is really there.
func decompress(c format.CompressionCodec, b []byte, size int) ([]byte, error) {
	var r io.Reader
	switch c {
	case format.Uncompressed:
		if len(b) != size {
			return nil, errSize(len(b), size)
		}
		return b, nil
	case format.Snappy:
		n, err := snappy.DecodedLen(b)
		if err != nil || n > 32*len(b) { // 3 bytes stand for 64 at most
			return nil, errSnappy
		}
		if n != size {
			return nil, errSize(n, size)
		}
		return snappy.Decode(nil, b)
	case format.Gzip:
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, err
		}
		r = z
	case format.Brotli:
		r = brotli.NewReader(bytes.NewReader(b))
	case format.Zstd:
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(uint64(16<<20+64*len(b)))) // a window is taken as it is claimed
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, checkCodec(c)
	}
	var out bytes.Buffer
	out.Grow(min(size, 8*len(b)) + bytes.MinRead)
	n, err := io.Copy(&out, io.LimitReader(r, int64(size)+1))
	if err == nil && n != int64(size) {
		err = errSize(int(n), size)
	}
	return out.Bytes(), err
}

func errSize(got, want int) error {
	return fmt.Errorf("it has %d bytes decompressed, and its header says %d", got, want)
}
