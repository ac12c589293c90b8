package npy

import (
	"bytes"
	"testing"

	"github.com/amtrl/amtrl/internal/finite"
	"github.com/amtrl/amtrl/internal/must"
)

// slack covers what reading any file takes: buffers, an error.
const slack = 4 << 20

// file is the content of an NPY file; v is a slice of fixed-size values.
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
