// Package safetensors reads and writes the safetensors format with float32 tensors: the header's length as 8
// little-endian bytes, a JSON header, the raw data.
package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// Tensor is a named array of float32, row-major.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// headerLimit bounds the header of a safetensors file, as the format's own reference reader does.
const headerLimit = 100 << 20

const maxDims = 8

// Encode returns a safetensors file of the tensors, in the order given, and of metadata.
func Encode(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	header := map[string]any{}
	if len(metadata) > 0 {
		header["__metadata__"] = metadata
	}
	size := 0
	for _, t := range tensors {
		header[t.Name] = Entry{DType: "F32", Shape: t.Shape, Offsets: [2]int{size, size + 4*len(t.Data)}}
		size += 4 * len(t.Data)
	}
	js, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	for len(js)%8 != 0 {
		js = append(js, ' ')
	}
	out := make([]byte, 0, 8+len(js)+size)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(js)))
	out = append(out, js...)
	for _, t := range tensors {
		for _, v := range t.Data {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		}
	}
	return out, nil
}

// Entry is the description of a tensor in the header of a file. It has not been checked against the file.
type Entry struct {
	Name  string `json:"-"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	// Offsets are the offsets of the first byte and of the byte after the last, from the start of the data.
	Offsets [2]int `json:"data_offsets"`
}

// tableHeader bounds the header of a user's data file, in which a tensor is a column.
const tableHeader = 4 << 20

// ReadHeader returns the entries of a file, of any types, in the order of their offsets, and the offset in the file at
// which the data begin.
func ReadHeader(r io.ReaderAt, size int64) (entries []Entry, data int64, err error) {
	var head [8]byte
	if size < 8 {
		return nil, 0, fmt.Errorf("expected a safetensors header of 8 bytes, found a file of %d", size)
	}
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return nil, 0, err
	}
	n := binary.LittleEndian.Uint64(head[:])
	if n > tableHeader || n > uint64(size-8) {
		return nil, 0, fmt.Errorf("expected a safetensors header of at most %d bytes within the file, found a length of %d in %d bytes",
			tableHeader, n, size)
	}
	raw := make([]byte, n)
	if _, err := r.ReadAt(raw, 8); err != nil {
		return nil, 0, err
	}
	entries, _, err = decodeHeader(raw)
	return entries, 8 + int64(n), err
}

// Decode reads the format that Encode writes: float32 tensors that cover the data exactly, in the order of their offsets.
func Decode(raw []byte) ([]Tensor, map[string]string, error) {
	if len(raw) < 8 {
		return nil, nil, fmt.Errorf("expected a safetensors header of 8 bytes, found a file of %d", len(raw))
	}
	n := binary.LittleEndian.Uint64(raw)
	if n > headerLimit || n > uint64(len(raw)-8) {
		return nil, nil, fmt.Errorf("expected a safetensors header within the file, found a length of %d in %d bytes", n, len(raw))
	}
	data := raw[8+n:]
	entries, metadata, err := decodeHeader(raw[8 : 8+n])
	if err != nil {
		return nil, nil, err
	}
	at := 0
	tensors := make([]Tensor, 0, len(entries))
	for _, e := range entries {
		count, err := shapeSize(e.Shape, len(data)/4)
		if err != nil {
			return nil, nil, fmt.Errorf("safetensors entry %q: %w", e.Name, err)
		}
		if e.DType != "F32" || e.Offsets != [2]int{at, at + 4*count} || at+4*count > len(data) {
			return nil, nil, fmt.Errorf("safetensors entry %q: expected F32 at bytes %d to %d of %d, found %s at %d to %d", e.Name, at, at+4*count,
				len(data), e.DType, e.Offsets[0], e.Offsets[1])
		}
		t := Tensor{Name: e.Name, Shape: e.Shape, Data: make([]float32, count)}
		for i := range t.Data {
			t.Data[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[at+4*i:]))
		}
		tensors = append(tensors, t)
		at += 4 * count
	}
	if at != len(data) {
		return nil, nil, fmt.Errorf("safetensors: expected %d bytes of data, found %d", at, len(data))
	}
	return tensors, metadata, nil
}

// decodeHeader returns the entries in the order of their offsets, and the metadata. It reads one field after the other,
// so that a header of many invalid fields ends early.
func decodeHeader(raw []byte) (entries []Entry, metadata map[string]string, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, fmt.Errorf("safetensors header: expected a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("safetensors header: %w", err)
		}
		name := t.(string)
		if seen[name] {
			return nil, nil, fmt.Errorf("safetensors entry %q: it is there twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := dec.Decode(&metadata); err != nil {
				return nil, nil, fmt.Errorf("safetensors metadata: %w", err)
			}
			continue
		}
		e := Entry{Name: name}
		if err := dec.Decode(&e); err != nil {
			return nil, nil, fmt.Errorf("safetensors entry %q: %w", name, err)
		}
		if len(e.Shape) > maxDims {
			return nil, nil, fmt.Errorf("safetensors entry %q: expected at most %d dimensions, found %d", name, maxDims, len(e.Shape))
		}
		entries = append(entries, e)
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, fmt.Errorf("safetensors header: %w", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, nil, fmt.Errorf("safetensors header: expected spaces behind the JSON object")
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(slices.Compare(a.Offsets[:], b.Offsets[:]), cmp.Compare(a.Name, b.Name))
	})
	return entries, metadata, nil
}

func shapeSize(shape []int, limit int) (int, error) {
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > limit/d {
			return 0, fmt.Errorf("shape %v: expected at most %d elements", shape, limit)
		}
		n *= d
	}
	return n, nil
}
