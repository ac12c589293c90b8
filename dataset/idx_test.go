package dataset

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// makeIDX returns an IDX array of unsigned bytes.
func makeIDX(data []uint8, dims ...uint32) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, d)
	}
	return append(b, data...)
}

func zip(t testing.TB, data []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write(data))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

func TestReadIDX(t *testing.T) {
	checkNoLeak(t)
	rng := testrand.New(t)
	path := filepath.Join(t.TempDir(), "idx")
	// The first array is larger than the first allocation, so that memory must grow. The others are small.
	for _, dims := range [][3]uint32{{1500, 28, 29}, {1, 1, 1}, {1 + rng.Uint32N(9), 1 + rng.Uint32N(9), 1 + rng.Uint32N(9)}} {
		want := make([]uint8, dims[0]*dims[1]*dims[2])
		for i := range want {
			want[i] = uint8(rng.Uint32())
		}
		images := makeIDX(want, dims[:]...)
		labels := makeIDX(want[:dims[0]], dims[0])
		for name, pack := range map[string]func([]byte) []byte{
			"plain": func(b []byte) []byte { return b },
			"gzip":  func(b []byte) []byte { return zip(t, b) },
			"gzip in two members": func(b []byte) []byte {
				return append(zip(t, b[:7]), zip(t, b[7:])...)
			},
		} {
			got, rows, height, width, err := ReadIDXImages(writeFile(t, path, pack(images)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if [3]uint32{uint32(rows), uint32(height), uint32(width)} != dims || !bytes.Equal(got, want) {
				t.Errorf("%s: images of %d by %d by %d differ from %v", name, rows, height, width, dims)
			}
			must.EqualSlices(t, must.Get(ReadIDXLabels(writeFile(t, path, pack(labels))))(t), want[:dims[0]], "%s: labels", name)
		}
	}
}

// Blank images compress as much as anything can, but are no compression bomb: they are read.
func TestReadIDXBlankImages(t *testing.T) {
	blank := make([]uint8, 1<<22)
	path := writeFile(t, filepath.Join(t.TempDir(), "blank"), zip(t, makeIDX(blank, 4, 1<<10, 1<<10)))
	if got, _, _, _, err := ReadIDXImages(path); err != nil || !bytes.Equal(got, blank) {
		t.Errorf("%d pixels, %v", len(got), err)
	}
}

func TestReadIDXRefuses(t *testing.T) {
	checkNoLeak(t)
	good := makeIDX(make([]uint8, 12), 3, 2, 2)
	packed := zip(t, good)
	badSum := bytes.Clone(packed)
	badSum[len(badSum)-8] ^= 1
	alter := func(at int, b byte) []byte {
		c := bytes.Clone(good)
		c[at] = b
		return c
	}
	huge := makeIDX(make([]byte, 1000), math.MaxInt32, 1<<9, 1)
	path := filepath.Join(t.TempDir(), "file.idx")
	for _, c := range []struct {
		name    string
		content []byte
		parts   []string
	}{
		{"empty", nil, []string{"byte 0: expected an IDX header of 16 bytes, found the end of the data"}},
		{"short header", good[:9], []string{"byte 9: expected an IDX header of 16 bytes, found the end of the data"}},
		{"not IDX", []byte("\x93NUMPY and so on"), []string{"byte 0: expected the IDX magic 00 00 or a gzip stream, found 93 4e"}},
		{"float", alter(2, 13), []string{"byte 2: expected IDX element type 08 (unsigned byte), found 0d"}},
		{"one dimension", makeIDX(make([]byte, 9), 9), []string{"byte 3: expected 3 IDX dimensions, found 1"}},
		{"zero dimension", makeIDX(nil, 3, 0, 2), []string{"byte 8: expected a dimension of 1 to 2147483647", "found 0"}},
		{"absurd dimension", makeIDX(nil, 1<<31, 2, 2), []string{"byte 4: expected a dimension", "found 2147483648"}},
		{"overflow", makeIDX(nil, 1<<30, 1<<30, 1<<30), []string{"byte 12: expected a dimension", "found 1073741824"}},
		{"truncated", good[:27], []string{"byte 27: expected 12 bytes for the dimensions [3 2 2], found the end of the data after 11"}},
		{"promises more than the file", huge, []string{"byte 16: expected 1099511627264 bytes",
			"found a file of 1016 bytes, which cannot hold them"}},
		{"trailing", append(bytes.Clone(good), 0), []string{"byte 28: expected the end of the data, found more bytes"}},
		{"gzip: truncated", packed[:len(packed)-9], []string{"expected", "found"}},
		{"gzip: no trailer", packed[:len(packed)-8], []string{"byte 28: expected a complete gzip stream, found a truncated one"}},
		{"gzip: short header", packed[:5], []string{"byte 0: expected a complete gzip stream"}},
		{"gzip: wrong sum", badSum, []string{"byte 28: gzip: invalid checksum"}},
		{"gzip: garbage after", append(bytes.Clone(packed), "garbage"...), []string{"byte 28: "}},
		{"gzip: trailing", zip(t, append(bytes.Clone(good), 0)), []string{"byte 28: expected the end of the data, found more bytes"}},
		{"gzip: missing", zip(t, good[:20]), []string{"byte 20: expected 12 bytes", "found the end of the data after 4"}},
		{"gzip: promises more than deflate can", zip(t, huge), []string{"which cannot hold them"}},
		{"gzip in gzip", zip(t, packed), []string{"byte 0: expected the IDX magic"}},
	} {
		_, _, _, _, err := ReadIDXImages(writeFile(t, path, c.content))
		wantFault(t, c.name, err, path, c.parts...)
	}
	_, err := ReadIDXLabels(writeFile(t, path, good))
	wantFault(t, "images for labels", err, path, "byte 3: expected 1 IDX dimensions, found 3")
	_, err = ReadIDXLabels(filepath.Dir(path))
	wantFault(t, "folder", err, filepath.Dir(path), "expected a regular file, found a folder")
	_, err = ReadIDXLabels(path + "x")
	wantFault(t, "missing", err, path+"x", "no such file")
}

// Memory that a header promises must not be allocated before its bytes arrive.
func TestReadIDXMemoryIsBounded(t *testing.T) {
	dir := t.TempDir()
	zeros, noise := make([]byte, 64<<20), make([]byte, 17<<10)
	rng := rand.New(rand.NewPCG(8, 8))
	for i := range noise {
		noise[i] = uint8(rng.Uint32())
	}
	for name, content := range map[string][]byte{
		"plain":             makeIDX(make([]byte, 1000), 1<<10, 1<<15, 1<<15),
		"gzip":              zip(t, makeIDX(make([]byte, 1000), 1<<10, 1<<15, 1<<15)),
		"gzip, possible":    zip(t, makeIDX(noise, 1<<4, 1<<10, 1<<10)),
		"gzip bomb":         zip(t, makeIDX(zeros, 2, 2, 2)),
		"gzip bomb, header": zip(t, zeros),
	} {
		path := writeFile(t, filepath.Join(dir, name), content)
		if n := must.Allocated(func() {
			if _, _, _, _, err := ReadIDXImages(path); err == nil {
				t.Errorf("%s: no error", name)
			}
		}); n > 3<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", name, n, len(content))
		}
	}
}

func TestReadIDXRealData(t *testing.T) {
	dir := filepath.Join(realData(t), "mnist_idx")
	pixels, rows, height, width, err := ReadIDXImages(filepath.Join(dir, "t10k-images-idx3-ubyte.gz"))
	must.Do(t, err)
	if rows != 5000 || height != 28 || width != 28 || len(pixels) != 5000*784 {
		t.Errorf("%d images of %d by %d, %d pixels", rows, height, width, len(pixels))
	}
	labels := must.Get(ReadIDXLabels(filepath.Join(dir, "t10k-labels-idx1-ubyte.gz")))(t)
	if len(labels) != 5000 || !bytes.Equal(labels[:10], []byte{7, 2, 1, 0, 4, 1, 4, 9, 5, 9}) {
		t.Errorf("%d labels, first %v", len(labels), labels[:10])
	}
}
