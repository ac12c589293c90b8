package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// unpack decompresses Parquet pages into memory of the size that they state.
type unpack struct {
	codec format.CompressionCodec
	zstd  *zstd.Decoder
	gzip  *gzip.Reader
}

var errSize = errors.New("a compressed page that becomes more or less than it promises")

func (u *unpack) init(codec format.CompressionCodec) (err error) {
	switch u.codec = codec; codec {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Brotli, format.Lz4Raw:
	case format.Zstd:
		u.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true),
			zstd.WithDecoderMaxMemory(maxPage))
	default:
		err = fmt.Errorf("compression %s, which is not read: write it with zstd or snappy", codec)
	}
	return err
}

func (u *unpack) close() {
	if u.zstd != nil {
		u.zstd.Close()
	}
}

// unpackTo decompresses packed, which becomes size bytes, into dst where that is long enough.
func (u *unpack) unpackTo(dst, packed []byte, size int) ([]byte, error) {
	dst = resize(dst, size)
	n, err := 0, error(nil)
	switch u.codec {
	case format.Uncompressed:
		return append(dst[:0], packed...), nil
	case format.Snappy:
		if n, err = snappy.DecodedLen(packed); err == nil && n == size {
			_, err = snappy.Decode(dst, packed)
		}
	case format.Zstd:
		var out []byte
		out, err = u.zstd.DecodeAll(packed, dst[:0:size])
		n = len(out)
	case format.Lz4Raw:
		n, err = lz4.UncompressBlock(packed, dst)
	case format.Gzip:
		if u.gzip == nil {
			u.gzip = new(gzip.Reader)
		}
		if err = u.gzip.Reset(bytes.NewReader(packed)); err == nil {
			n, err = readAll(u.gzip, dst)
		}
	case format.Brotli:
		n, err = readAll(brotli.NewReader(bytes.NewReader(packed)), dst)
	}
	if err == nil && n != size {
		err = errSize
	}
	return dst, err
}

// readAll reads r to its end, which must fill dst exactly.
func readAll(r io.Reader, dst []byte) (int, error) {
	n, err := io.ReadFull(r, dst)
	if err != nil {
		return n, err
	}
	var more [1]byte
	if extra, err := io.ReadFull(r, more[:]); extra > 0 || err != io.EOF {
		return n, errors.Join(errSize, err)
	}
	return n, nil
}
