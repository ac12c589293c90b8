package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/amtrl/amtrl/internal/datafile"
)

// Bounds of the memory that a page may ask for; writers put about a mebibyte into a page. maxValues bounds how many values a byte of the
// file may stand for: in a column of vectors that are all the same it is some 100.
const (
	maxValues     = 256
	maxPage       = 256 << 20 // bytes
	maxPageValues = 1 << 24
	maxPageHeader = 1 << 20
	maxPageLists  = 1 << 12
)

// plainDictionary is the encoding that old writers name in place of format.RLEDictionary.
const plainDictionary format.Encoding = 2

// pageReader reads the pages of a leaf in a row group. The library's own reader trusts the sizes that pages state, and reads booleans in
// run lengths as false.
type pageReader struct {
	leaf *parquet.Column
	kind parquet.Kind
	file io.ReaderAt
	in   *bufio.Reader
	end  int64 // byte of the file at which the chunk ends
	left int64 // bytes of the chunk that are not read yet
	pass int   // entries that need not be read; pages within them are passed over
	// What the rest of the chunk may yield: mayBecome decompressed bytes and mayHold values.
	mayBecome, mayHold int64
	unpack

	packed []byte
	buf    []byte

	// The content of the last page: the levels of each entry, and the values, or indices into the values of the dictionary. Booleans are
	// bytes.
	reps, defs []byte
	entries    int
	values     encoding.Values
	bools      []byte
	indices    []int32

	kept       []int32 // the memory of indices, for the next page
	dict       encoding.Values
	dictSize   int
	dictNumber int // counts the dictionaries that were read
	data       encoding.Values
}

func newPageReader(file io.ReaderAt, size int64, leaf *parquet.Column, meta *format.ColumnMetaData) (*pageReader, error) {
	start := meta.DataPageOffset
	if d := meta.DictionaryPageOffset; d > 0 && d < start {
		start = d
	}
	if start < 4 || meta.TotalCompressedSize < 0 || start > size || meta.TotalCompressedSize > size-start {
		return nil, fmt.Errorf("a column at byte %d of %d bytes in a file of %d", start, meta.TotalCompressedSize, size)
	}
	p := &pageReader{
		leaf: leaf, kind: leaf.Type().Kind(), left: meta.TotalCompressedSize, file: file, end: start + meta.TotalCompressedSize,
		mayBecome: datafile.MayBecome(meta.TotalCompressedSize), mayHold: max(maxPageValues, maxValues*meta.TotalCompressedSize),
		in: bufio.NewReaderSize(io.NewSectionReader(file, start, meta.TotalCompressedSize), 1<<16),
	}
	return p, p.unpack.init(meta.Codec)
}

// header reads the header of the next page. It returns io.EOF after the last.
func (p *pageReader) header() (*format.PageHeader, error) {
	if p.left == 0 {
		return nil, io.EOF
	}
	var raw []byte
	for size := 512; ; size *= 8 { // a header is rarely longer
		size = int(min(int64(size), p.left, maxPageHeader))
		if size > p.in.Size() {
			p.in = bufio.NewReaderSize(p.in, size)
		}
		var err error
		if raw, err = p.in.Peek(size); err != nil && err != io.EOF {
			return nil, err
		}
		n, err := checkCompact(raw, maxPageLists)
		if err == nil {
			raw = raw[:n]
			break
		}
		if !errors.Is(err, errShort) || int64(size) == p.left || size == maxPageHeader || len(raw) < size {
			return nil, err
		}
	}
	h := new(format.PageHeader)
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), raw, h); err != nil {
		return nil, err
	}
	p.left -= int64(len(raw))
	if _, err := p.in.Discard(len(raw)); err != nil {
		return nil, err
	}
	c, u := int64(h.CompressedPageSize), int64(h.UncompressedPageSize)
	if c < 0 || c > p.left || u < 0 || u > min(maxPage, p.mayBecome) {
		return nil, fmt.Errorf("a page of %d bytes that become %d, with %d left", c, u, p.left)
	}
	p.mayBecome -= u
	return h, nil
}

// next reads the next page that has values. It returns io.EOF after the last.
func (p *pageReader) next() error {
	for {
		h, err := p.header()
		if err != nil {
			return err
		}
		entries := int(h.DataPageHeader.V.NumValues) + int(h.DataPageHeaderV2.V.NumValues)
		if h.Type != format.DictionaryPage && entries > 0 && entries <= p.pass {
			p.left -= int64(h.CompressedPageSize)
			p.pass -= entries
			p.in.Reset(io.NewSectionReader(p.file, p.end-p.left, p.left))
			continue
		}
		p.packed = resize(p.packed, int(h.CompressedPageSize))
		if _, err := io.ReadFull(p.in, p.packed); err != nil {
			return err
		}
		p.left -= int64(len(p.packed))
		switch h.Type {
		case format.DictionaryPage:
			err = p.dictionary(h)
		case format.DataPage:
			err = p.dataPage(h)
		case format.DataPageV2:
			err = p.dataPageV2(h)
		}
		if err != nil {
			return err
		}
		if (h.Type == format.DataPage || h.Type == format.DataPageV2) && p.entries > 0 {
			return nil
		}
	}
}

func (p *pageReader) dictionary(h *format.PageHeader) error {
	d := h.DictionaryPageHeader.V
	if !h.DictionaryPageHeader.Valid || d.NumValues < 0 || d.NumValues > maxPageValues || p.kind == parquet.Boolean {
		return errors.New("a dictionary that cannot be")
	}
	raw, err := p.unpackTo(nil, p.packed, int(h.UncompressedPageSize))
	if err != nil {
		return err
	}
	p.dict, err = p.decode(encoding.Values{}, raw, format.Plain, int(d.NumValues))
	p.dictSize = int(d.NumValues)
	p.dictNumber++
	return err
}

func (p *pageReader) dataPage(h *format.PageHeader) (err error) {
	d := h.DataPageHeader.V
	if !h.DataPageHeader.Valid || d.NumValues < 0 || d.NumValues > maxPageValues {
		return fmt.Errorf("a page of %d values", d.NumValues)
	}
	if p.buf, err = p.unpackTo(p.buf, p.packed, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	raw := p.buf
	p.entries = int(d.NumValues)
	level := func(dst []byte, most int, enc format.Encoding) ([]byte, error) {
		if most == 0 {
			return dst[:0], nil
		}
		if len(raw) < 4 || enc != format.RLE || int64(binary.LittleEndian.Uint32(raw)) > int64(len(raw)-4) {
			return nil, errors.New("levels that are damaged or not in run lengths")
		}
		n := int(binary.LittleEndian.Uint32(raw))
		levels := raw[4 : 4+n]
		raw = raw[4+n:]
		return p.levels(dst, levels, most)
	}
	if p.reps, err = level(p.reps, p.leaf.MaxRepetitionLevel(), d.RepetitionLevelEncoding); err != nil {
		return err
	}
	if p.defs, err = level(p.defs, p.leaf.MaxDefinitionLevel(), d.DefinitionLevelEncoding); err != nil {
		return err
	}
	return p.content(raw, d.Encoding)
}

func (p *pageReader) dataPageV2(h *format.PageHeader) (err error) {
	d := h.DataPageHeaderV2.V
	reps, defs := int64(d.RepetitionLevelsByteLength), int64(d.DefinitionLevelsByteLength)
	if !h.DataPageHeaderV2.Valid || d.NumValues < 0 || d.NumValues > maxPageValues || reps < 0 || defs < 0 ||
		reps+defs > min(int64(len(p.packed)), int64(h.UncompressedPageSize)) {
		return fmt.Errorf("a page of %d values with levels of %d and %d bytes", d.NumValues, reps, defs)
	}
	p.entries = int(d.NumValues)
	if p.reps, err = p.levels(p.reps, p.packed[:reps], p.leaf.MaxRepetitionLevel()); err != nil {
		return err
	}
	if p.defs, err = p.levels(p.defs, p.packed[reps:reps+defs], p.leaf.MaxDefinitionLevel()); err != nil {
		return err
	}
	raw := p.packed[reps+defs:]
	if !d.IsCompressed.Valid || d.IsCompressed.V {
		if p.buf, err = p.unpackTo(p.buf, raw, int(int64(h.UncompressedPageSize)-reps-defs)); err != nil {
			return err
		}
		raw = p.buf
	}
	return p.content(raw, d.Encoding)
}

// levels decodes the levels of all entries. most is the largest possible level; where it is 0 there are no levels.
func (p *pageReader) levels(dst, raw []byte, most int) ([]byte, error) {
	if most == 0 {
		return dst[:0], nil
	}
	return runs(dst, raw, bits.Len(uint(most)), p.entries)
}

// content decodes the values of a page, one for each entry whose definition level is full.
func (p *pageReader) content(raw []byte, enc format.Encoding) (err error) {
	n := p.entries
	if p.mayHold -= int64(n); p.mayHold < 0 {
		return fmt.Errorf("more than %d values for a byte", maxValues)
	}
	if len(p.defs) > 0 {
		n = 0
		full := byte(p.leaf.MaxDefinitionLevel())
		for _, d := range p.defs {
			if d == full {
				n++
			}
		}
	}
	p.indices = nil
	switch {
	case enc == plainDictionary || enc == format.RLEDictionary:
		return p.lookUp(raw, n)
	case p.kind == parquet.Boolean:
		return p.booleans(raw, enc, n)
	case enc == format.DeltaByteArray && (p.kind == parquet.ByteArray || p.kind == parquet.FixedLenByteArray):
		p.values, err = p.deltaBytes(raw, n)
		return err
	}
	p.data, err = p.decode(p.data, raw, enc, n)
	p.values = p.data
	return err
}

// lookUp decodes n indices into the dictionary.
func (p *pageReader) lookUp(raw []byte, n int) (err error) {
	if n > 0 && (len(raw) == 0 || raw[0] > 32) {
		return errors.New("indices of more than 32 bits")
	}
	if p.indices = p.kept[:0]; n > 0 {
		if p.indices, err = runs(p.kept, raw[1:], int(raw[0]), n); err != nil {
			return err
		}
	}
	p.kept = p.indices
	for _, i := range p.indices {
		if uint(i) >= uint(p.dictSize) {
			return fmt.Errorf("index %d into a dictionary of %d", i, p.dictSize)
		}
	}
	p.values = p.dict
	return nil
}

// booleans decodes n booleans to bytes of 0 and 1.
func (p *pageReader) booleans(raw []byte, enc format.Encoding, n int) (err error) {
	switch enc {
	case format.Plain:
		if len(raw) < (n+7)/8 {
			return errShort
		}
		p.bools = resize(p.bools, n)
		for i := range p.bools {
			p.bools[i] = raw[i/8] >> (i % 8) & 1
		}
		return nil
	case format.RLE:
		if n > 0 && len(raw) < 4 {
			return errShort
		}
		p.bools, err = runs(p.bools, raw[min(4, len(raw)):], 1, n)
		return err
	}
	return fmt.Errorf("booleans in the encoding %s", enc)
}

// decode decodes n values that are neither booleans nor indices.
func (p *pageReader) decode(dst encoding.Values, raw []byte, enc format.Encoding, n int) (encoding.Values, error) {
	switch enc {
	case format.Plain, format.ByteStreamSplit:
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		// The first numbers are the values per block, the parts per block, and the values in all.
		var head [3]uint64
		at := raw
		for i := range head {
			v, size := binary.Uvarint(at)
			if size <= 0 {
				return dst, errShort
			}
			head[i], at = v, at[size:]
		}
		if head[0] > 1<<16 || head[1] > head[0] || head[2] != uint64(n) {
			return dst, fmt.Errorf("%d values in blocks of %d, expected %d", head[2], head[0], n)
		}
	default:
		return dst, fmt.Errorf("values in the encoding %s, which is not read", enc)
	}
	t := p.leaf.Type()
	if dst.Size() == 0 {
		dst = t.NewValues(nil, nil)
	}
	dst, err := t.Decode(dst, raw, parquet.LookupEncoding(enc))
	if err == nil && countValues(dst) < n {
		err = fmt.Errorf("%d values, expected %d", countValues(dst), n)
	}
	return dst, err
}

// countValues returns the number of values in v.
func countValues(v encoding.Values) int {
	switch v.Kind() {
	case encoding.Int32:
		return len(v.Int32())
	case encoding.Int64:
		return len(v.Int64())
	case encoding.Float:
		return len(v.Float())
	case encoding.Double:
		return len(v.Double())
	case encoding.ByteArray:
		_, offsets := v.ByteArray()
		return len(offsets) - 1
	case encoding.FixedLenByteArray:
		data, size := v.FixedLenByteArray()
		return len(data) / max(1, size)
	}
	return 0
}
