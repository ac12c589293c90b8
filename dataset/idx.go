package dataset

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/amtrl/amtrl/internal/datafile"
)

// ReadIDXImages reads images in the IDX format of MNIST (unsigned bytes, three dimensions), plain or gzip, whatever the file is called.
// pixels has rows*height*width elements, row-major. Memory stays in proportion to what the file holds, not to what its header promises: a
// compressed file may expand to at most 100 times its size, or 16 MiB if that is more. Anything before, after or missing from the promised
// pixels is an error.
func ReadIDXImages(path string) (pixels []uint8, rows, height, width int, err error) {
	pixels, dims, err := readIDXFile(path, 3)
	if err != nil {
		return nil, 0, 0, 0, err
	}
	return pixels, dims[0], dims[1], dims[2], nil
}

// ReadIDXLabels reads labels in the IDX format of MNIST (unsigned bytes, one
// dimension) under the rules of [ReadIDXImages].
func ReadIDXLabels(path string) ([]uint8, error) {
	labels, _, err := readIDXFile(path, 1)
	return labels, err
}

func readIDXFile(path string, rank int) ([]uint8, []int, error) {
	f, size, err := datafile.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return readIDX(path, f, size, rank)
}

// maxDeflateRatio is the largest number of bytes that one byte of a deflate stream can expand to.
const maxDeflateRatio = 1032

// readIDX reads an array of the given rank from the size bytes of r. Offsets in
// its errors count bytes after decompression.
func readIDX(path string, r io.Reader, size int64, rank int) ([]uint8, []int, error) {
	in := bufio.NewReader(r)
	most, bound := size, size
	r = in
	if magic, _ := in.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, idxReadError(path, 0, err)
		}
		r = z
		most = min(size, math.MaxInt64/maxDeflateRatio) * maxDeflateRatio
		bound = datafile.MayBecome(size)
	}

	header := make([]byte, 4+4*rank)
	n, err := io.ReadFull(r, header)
	if n >= 4 || err == nil {
		if err := checkIDXMagic(path, header[:4], rank); err != nil {
			return nil, nil, err
		}
	}
	if datafile.EndsEarly(err) {
		return nil, nil, datafile.Fault(path, int64(n), "an IDX header of %d bytes", "the end of the data", len(header))
	}
	if err != nil {
		return nil, nil, idxReadError(path, int64(n), err)
	}

	dims := make([]int, rank)
	want := int64(1)
	for i := range dims {
		d := int64(binary.BigEndian.Uint32(header[4+4*i:]))
		if d < 1 || d > math.MaxInt32 || d > math.MaxInt/want {
			return nil, nil, datafile.Fault(path, int64(4+4*i), "a dimension of 1 to %d in an array that fits in memory", "%d", math.MaxInt32, d)
		}
		dims[i] = int(d)
		want *= d
	}
	start := int64(len(header))
	if want > most {
		return nil, nil, datafile.Fault(path, start, "%d bytes for the dimensions %v", "a file of %d bytes, which cannot hold them",
			want, dims, size)
	}
	if want > bound {
		return nil, nil, datafile.Fault(path, start, "at most %d bytes, %d for each byte of the file", "a header that promises %d",
			bound, datafile.MaxInflation, want)
	}
	data, err := readGrowing(r, int(want))
	end := start + int64(len(data))
	if datafile.EndsEarly(err) {
		return nil, nil, datafile.Fault(path, end, "%d bytes for the dimensions %v", "the end of the data after %d", want, dims, len(data))
	}
	if err != nil {
		return nil, nil, idxReadError(path, end, err)
	}
	// The read past the end also makes gzip check its sum.
	switch n, err := io.ReadFull(r, header[:1]); {
	case n > 0:
		return nil, nil, datafile.Fault(path, end, "the end of the data", "more bytes")
	case err != io.EOF:
		return nil, nil, idxReadError(path, end, err)
	}
	return data, dims, nil
}

func idxReadError(path string, offset int64, err error) error {
	if datafile.EndsEarly(err) {
		return datafile.Fault(path, offset, "a complete gzip stream", "a truncated one")
	}
	return fmt.Errorf("%s: byte %d: %w", path, offset, err)
}

// checkIDXMagic checks the first four bytes: two zeros, the element type, the
// number of dimensions.
func checkIDXMagic(path string, magic []byte, rank int) error {
	const unsignedByte = 8
	switch {
	case magic[0] != 0 || magic[1] != 0:
		return datafile.Fault(path, 0, "the IDX magic 00 00 or a gzip stream", "% 02x", magic[:2])
	case magic[2] != unsignedByte:
		return datafile.Fault(path, 2, "IDX element type 08 (unsigned byte)", "%02x", magic[2])
	case int(magic[3]) != rank:
		return datafile.Fault(path, 3, "%d IDX dimensions", "%d", rank, magic[3])
	}
	return nil
}

// readGrowing reads want bytes into memory that grows as they arrive. On an error it also returns what it has read.
func readGrowing(r io.Reader, want int) ([]byte, error) {
	const first = 1 << 20
	data := make([]byte, 0, min(want, first))
	for len(data) < want {
		if len(data) == cap(data) {
			data = slices.Grow(data, min(want-len(data), len(data)))
		}
		n, err := io.ReadFull(r, data[len(data):min(cap(data), want)])
		data = data[:len(data)+n]
		if err != nil {
			return data, err
		}
	}
	return data, nil
}
