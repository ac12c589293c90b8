package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"github.com/x448/float16"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/finite"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// rawNPY returns a file of version 1 with any text as its header.
func rawNPY(text string, data ...byte) []byte {
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(append(b, text...), data...)
}

func elements(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic(err)
	}
	return b
}

func openBytes(content []byte) (*Array, error) {
	return New("file.npy", bytes.NewReader(content), int64(len(content)))
}

// The header must be NumPy's own, to the byte.
func TestHeaderGolden(t *testing.T) {
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{FormatHeader("|u1", 5000, 28, 28, 1), "{'descr': '|u1', 'fortran_order': False, 'shape': (5000, 28, 28, 1), }"},
		{FormatHeader("<i8", 5000), "{'descr': '<i8', 'fortran_order': False, 'shape': (5000,), }"},
	} {
		want := "\x93NUMPY\x01\x00\x76\x00" + c.want + strings.Repeat(" ", 128-10-1-len(c.want)) + "\n"
		if string(c.got) != want {
			t.Errorf("header %q, want %q", c.got, want)
		}
	}
	for n := 1; n < 1e9; n = n*3 + 1 {
		shape := slices.Repeat([]int{n}, 1+n%9)
		h := FormatHeader("<f4", shape...)
		got, err := ReadHeader("x", bytes.NewReader(h))
		if len(h)%64 != 0 || math.Pow(float64(n), float64(len(shape))) < 1e18 && (err != nil || !slices.Equal(got.Shape, shape) ||
			got.Descr != "<f4" || got.Fortran || got.Data != int64(len(h))) {
			t.Errorf("shape %v: %d bytes read as %+v, %v", shape, len(h), got, err)
		}
	}
}

// Headers that mean the same to Python as NumPy's are accepted.
func TestHeaderVariants(t *testing.T) {
	want := Header{Descr: "<f4", Shape: []int{3, 2}}
	for _, text := range []string{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2)}",
		`{"shape":(3,2),"fortran_order":False,"descr":"<f4"}`,
		"  { 'shape' : ( 3 , 2 , ) ,\n'fortran_order' : False,\t'descr' : '<f4' , }   \n",
	} {
		for major, lengthBytes := range map[byte]int{1: 2, 2: 4, 3: 4} {
			b := append([]byte(magic), major, 0)
			b = append(b, binary.LittleEndian.AppendUint32(nil, uint32(len(text)))[:lengthBytes]...)
			b = append(b, text...)
			want.Data = int64(len(b))
			got, err := ReadHeader("x", bytes.NewReader(b))
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("version %d of %q: %+v, %v", major, text, got, err)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	dict := func(descr, order, shape string) string {
		return fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n", descr, order, shape)
	}
	good := dict("'<f4'", "False", "(1, 2)")
	long := good + strings.Repeat(" ", maxHeader)
	six := make([]byte, 6)
	for _, c := range []struct {
		content []byte
		want    string
	}{
		{nil, "byte 0: expected an NPY header, found the end of the file"},
		{[]byte(magic), "byte 6: expected an NPY header, found the end of the file"},
		{[]byte("PK\x03\x04 a zip file"), `byte 0: expected the NPY magic "\x93NUMPY", found "PK\x03\x04 a"`},
		{append([]byte(magic), 4, 0, 0, 0), "byte 6: expected NPY version 1.0, 2.0 or 3.0, found 4.0"},
		{append([]byte(magic), 2, 0, 9, 0), "byte 10: expected the length of the header, found the end of the file"},
		{append([]byte(magic), 2, 0, 0, 0, 0, 0xff), "byte 8: expected a header of at most 10000 bytes, found 4278190080"},
		{rawNPY(long), "byte 8: expected a header of at most 10000 bytes"},
		{rawNPY(good)[:40], "byte 40: expected a header of 60 bytes, found the end of the file"},
		{rawNPY(""), `byte 10: expected "{", found the end of the header`},
		{rawNPY("\x00\x00\n"), `byte 10: expected "{", found "\x00\x00\n"`},
		{rawNPY("{}"), "byte 12: expected the key 'descr' before the end of the dict, found the end of the header"},
		{rawNPY("{'descr': '|u1', 'shape': (1, 2)}"), "expected the key 'fortran_order'"},
		{rawNPY("{'descr': '|u1', 'descr': '|u1'}"), "byte 27: expected each key once, found \"'descr': '|u1'}\""},
		{rawNPY("{'type': '|u1'}"), "byte 11: expected 'descr', 'fortran_order' or 'shape', found \"'type': '|u1'}\""},
		{rawNPY("{descr: '|u1'}"), `byte 11: expected a key in quotes, found "descr: '|u1'}"`},
		{rawNPY("{'descr"), "byte 12: expected a key that ends with ', found \"descr\""},
		{rawNPY(`{'descr': '<f\'4', }`), "byte 21: expected a plain element type that ends with ', found \"<f"},
		{rawNPY("{'descr' '|u1'}"), `byte 19: expected ":", found`},
		{rawNPY("{'descr': '|u1' 'shape': (1,)}"), `byte 26: expected "}", found`},
		{rawNPY("{'descr': '|u1',"), "byte 26: expected a key in quotes, found the end of the header"},
		{rawNPY(good + "x"), `expected blanks after the dict, found "x"`},
		{rawNPY(dict("[('a', '<f4')]", "False", "(1,)")), "byte 20: expected a plain element type in quotes, found \"[('a', '<f4')]"},
		{rawNPY(dict("'<f4'", "0", "(1,)")), `expected True or False, found "0, 'shape': (1,), }\n"`},
		{rawNPY(dict("'<f4'", "False", "1")), `expected "(", found "1, }\n"`},
		{rawNPY(dict("'<f4'", "False", "(1")), `expected a dimension of an array that fits in memory, found "}\n"`},
		{rawNPY(dict("'<f4'", "False", "(2)")), `expected "," after a single dimension, found ")`},
		{rawNPY(dict("'<f4'", "False", "(-2, 3)")), `expected a dimension of an array that fits in memory, found "-2, 3), }\n"`},
		{rawNPY(dict("'<f4'", "False", "(1.5, 3)")), `expected "," after a single dimension, found ".5, 3), }\n"`},
		{rawNPY(dict("'<f4'", "False", "(99999999999999999999, 3)")), "expected a dimension of an array that fits in memory, found"},
		{rawNPY(dict("'<f4'", "False", "(4294967296, 4294967296)")),
			"expected a dimension of an array that fits in memory, found \"4294967296), }"},
		{rawNPY(dict("'<f4'", "False", "("+strings.Repeat("1, ", 33)+")")), "expected at most 32 dimensions, found"},
		{rawNPY(dict("'<f4'", "False", "(0, 2)")), "expected dimensions of 1 to 2147483647, found shape [0 2]"},
		{rawNPY(dict("'<f4'", "False", "(1, 2147483648)")), "expected dimensions of 1 to 2147483647, found shape [1 2147483648]"},
		{rawNPY(dict("'<f4'", "False", "()")), "expected an array of rows, found a scalar"},
		{rawNPY(dict("'<f4'", "True", "(1, 2)")), "expected C order, found Fortran order"},
		{rawNPY(dict("'>f4'", "False", "(1, 2)")), `(little-endian), found ">f4"`},
		{rawNPY(dict("'|O'", "False", "(1, 2)")), `expected element type |u1, <i4, <i8, <f2, <f4 or <f8 (little-endian), found "|O"`},
		{rawNPY(dict("''", "False", "(1, 2)")), `found ""`},
		{rawNPY(good, six...), "byte 70: expected 2 elements of 4 bytes for shape [1 2], found 6 bytes"},
		{rawNPY(good, make([]byte, 10)...), "byte 78: expected the end of the file after shape [1 2], found 2 more bytes"},
		{rawNPY(dict("'<f8'", "False", "(2147483647, 2147483647)")), "expected 4611686014132420609 elements of 8 bytes"},
	} {
		_, err := openBytes(c.content)
		must.Fail(t, fmt.Sprintf("%.60q", c.content), err, "file.npy", c.want)
	}
}

// The ids of a large import are one array of bytes, which may have more than 2^31 elements.
func TestManyElements(t *testing.T) {
	const n = 5 << 30
	header := FormatHeader("|u1", n)
	if a, err := New("file.npy", bytes.NewReader(header), int64(len(header))+n); err != nil || a.Rows() != n || a.Cols != 1 {
		t.Errorf("%+v, %v", a, err)
	}
	_, err := New("file.npy", bytes.NewReader(header), int64(len(header))+n-1)
	must.Fail(t, "a byte less", err, "file.npy", "expected 5368709120 elements of 1 bytes")
}

func TestNotFinite(t *testing.T) {
	n := 70000 // several pieces
	for descr, make := range map[string]func(v float64) []byte{
		"<f2": func(v float64) []byte {
			b := slices.Repeat([]uint16{0x3c00}, n)
			b[n-1] = uint16(float16.Fromfloat32(float32(v)))
			return elements(b)
		},
		"<f4": func(v float64) []byte {
			b := slices.Repeat([]float32{1}, n)
			b[n-1] = float32(v)
			return elements(b)
		},
		"<f8": func(v float64) []byte {
			b := slices.Repeat([]float64{1}, n)
			b[n-1] = v
			return elements(b)
		},
	} {
		for found, v := range map[string]float64{"NaN": math.NaN(), "+Inf": math.Inf(1), "-Inf": math.Inf(-1), "1e+300": 1e300} {
			if v == 1e300 && descr != "<f8" {
				continue
			}
			content := append(FormatHeader(descr, n/7, 7), make(v)...)
			want := "row 9999, column 6: expected a value that is finite in float32, found " + found
			a := must.Get(openBytes(content))(t)
			dst := []float32(nil)
			dst = slices.Grow(dst, n)[:n]
			must.Fail(t, descr, a.Float32s(dst), "file.npy", want)
			if descr == "<f2" {
				a, _ := openBytes(content)
				must.Fail(t, descr, a.Float16s(slices.Repeat([]uint16{0}, n)), "file.npy", want)
			}
		}
	}
}

// Values of every element type are read exactly, whether or not they fill the pieces in which they are read.
func TestValues(t *testing.T) {
	rng := testrand.New(t)
	for _, n := range []int{1, 2, 8191, 8192, 8193, 1 + rng.IntN(40000)} {
		u1, i4, i8 := make([]uint8, n), make([]int32, n), make([]int64, n)
		f2, f4, f8 := make([]uint16, n), make([]float32, n), make([]float64, n)
		for i := range n {
			u1[i], i4[i], i8[i] = uint8(rng.Uint32()), int32(rng.Uint32()), int64(rng.Uint64())
			f2[i] = uint16(rng.IntN(0x7c00)) | uint16(rng.IntN(2))<<15
			f4[i], f8[i] = float32(rng.NormFloat64()), rng.NormFloat64()*math.Pow(10, float64(rng.IntN(60)-30))
		}
		open := func(descr string, v any) *Array {
			return must.Get(openBytes(append(FormatHeader(descr, n), elements(v)...)))(t)
		}
		gotInts, gotFloats := make([]int64, n), make([]float32, n)
		for descr, v := range map[string]any{"|u1": u1, "<i4": i4, "<i8": i8} {
			must.Do(t, open(descr, v).Int64s(gotInts))
			for i, got := range gotInts {
				if want := map[string]int64{"|u1": int64(u1[i]), "<i4": int64(i4[i]), "<i8": i8[i]}[descr]; got != want {
					t.Fatalf("%s element %d of %d: %d, want %d", descr, i, n, got, want)
				}
			}
		}
		for descr, v := range map[string]any{"<f2": f2, "<f4": f4, "<f8": f8} {
			must.Do(t, open(descr, v).Float32s(gotFloats))
			for i, got := range gotFloats {
				half := math.Ldexp(float64(f2[i]&0x3ff), -24) // subnormal
				if e := f2[i] >> 10 & 31; e > 0 {
					half = math.Ldexp(float64(f2[i]&0x3ff|0x400), int(e)-25)
				}
				if f2[i]>>15 == 1 {
					half = -half
				}
				if want := map[string]float32{"<f2": float32(half), "<f4": f4[i], "<f8": float32(f8[i])}[descr]; got != want {
					t.Fatalf("%s element %d of %d: %v, want %v", descr, i, n, got, want)
				}
			}
		}
		halves, bytes := make([]uint16, n), make([]uint8, n)
		if err := open("<f2", f2).Float16s(halves); err != nil || !slices.Equal(halves, f2) {
			t.Fatalf("float16 bits differ, %v", err)
		}
		if err := open("|u1", u1).Uint8s(bytes); err != nil || !slices.Equal(bytes, u1) {
			t.Fatalf("bytes differ, %v", err)
		}
	}
}

// npyio is an independent implementation of the format.
func TestAgreesWithNpyio(t *testing.T) {
	var file bytes.Buffer
	m := mat.NewDense(3, 2, []float64{1, -2, 3, 4.5, 5, 6})
	must.Do(t, npyio.Write(&file, m))
	a := must.Get(openBytes(file.Bytes()))(t)
	got := make([]float32, 6)
	if err := a.Float32s(got); err != nil || !slices.Equal(a.Shape, []int{3, 2}) || !slices.Equal(got, []float32{1, -2, 3, 4.5, 5, 6}) {
		t.Errorf("read %v of shape %v, %v", got, a.Shape, err)
	}
	for _, v := range []any{[]uint8{1, 255}, []int32{-1, 7}, []int64{math.MinInt64, 9}} {
		file.Reset()
		must.Do(t, npyio.Write(&file, v))
		a := must.Get(openBytes(file.Bytes()))(t)
		got := make([]int64, 2)
		if err := a.Int64s(got); err != nil || strings.Trim(fmt.Sprint(got), "[]") != strings.Trim(fmt.Sprint(v), "[]") {
			t.Errorf("read %v of %v, %v", got, v, err)
		}
	}
}

// slack covers what reading any file takes: buffers, an error.
const slack = 4 << 20

// file returns the content of an NPY file; v is a slice of fixed-size values.
func file(descr string, v any, shape ...int) []byte {
	return append(FormatHeader(descr, shape...), elements(v)...)
}

func FuzzNPY(f *testing.F) {
	text := "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n"
	for _, seed := range [][]byte{
		nil, rawNPY(text, 1, 2, 3, 4, 5, 6), rawNPY(text, 1), rawNPY(text[:20]), rawNPY("{"),
		file("<f4", []float32{1, 2}, 2, 1), file("<f8", []float64{1e300}, 1, 1), file("<f2", []uint16{0x7c00}, 1, 1),
		file("<i8", []int64{-1, 1}, 2), file("<i4", []int32{-1, 1}, 2),
		rawNPY("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 4), }"),
		rawNPY("{'descr': '<f4', 'fortran_order': True, 'shape': (99999999999999999999,), }"),
		append([]byte(magic), 2, 0, 0xff, 0xff, 0xff, 0xff), append([]byte(magic), 3, 0, 2, 0, 0, 0, '{', '}'),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		n := must.Allocated(func() {
			a, err := New("fuzz", bytes.NewReader(content), int64(len(content)))
			if err != nil {
				return
			}
			count := a.Rows() * a.Cols
			if a.Data+int64(count*a.Size) != int64(len(content)) {
				t.Fatalf("%d elements of %s from byte %d of %d", count, a.Descr, a.Data, len(content))
			}
			if !a.IsInteger() {
				floats := make([]float32, count)
				if err := a.Float32s(floats); err == nil && finite.First32(floats) >= 0 {
					t.Error("a value that is not finite was accepted")
				}
			} else if err := a.Int64s(make([]int64, count)); err != nil {
				t.Error(err)
			}
		})
		if most := uint64(slack + 16*len(content)); n > most {
			t.Errorf("%d bytes allocated for a file of %d", n, len(content))
		}
	})
}
