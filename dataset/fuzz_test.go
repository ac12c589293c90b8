package dataset

import (
	"bytes"
	"testing"
)

// slack covers what reading any file takes: buffers, a gzip window, an error.
const slack = 4 << 20

func FuzzIDX(f *testing.F) {
	good := makeIDX([]byte{1, 2, 3, 4, 5, 6}, 3, 2, 1)
	labels := makeIDX([]byte{7, 8}, 2)
	packed := zip(f, good)
	for _, seed := range [][]byte{
		nil, good, labels, packed, zip(f, labels), zip(f, packed),
		good[:10], packed[:20], append(bytes.Clone(packed), packed...),
		makeIDX(nil, 1<<31, 1<<31, 1<<31), makeIDX(nil, 1<<30, 1<<30, 1<<30), makeIDX(nil, 0, 0, 0),
		zip(f, makeIDX(nil, 1<<10, 1<<10, 1<<10)), {0, 0, 0x0d, 3}, {0x1f, 0x8b},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, rank := range []int{1, 3} {
			n := allocated(func() {
				data, dims, err := readIDX("fuzz", bytes.NewReader(content), int64(len(content)), rank)
				if err != nil {
					return
				}
				want := 1
				for _, d := range dims {
					want *= d
				}
				if len(dims) != rank || len(data) != want || want < 1 {
					t.Errorf("%d bytes for dimensions %v", len(data), dims)
				}
			})
			if most := uint64(slack + 4*maxDeflateRatio*len(content)); n > most {
				t.Errorf("%d bytes allocated for a file of %d", n, len(content))
			}
		}
	})
}

func FuzzNPY(f *testing.F) {
	text := "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n"
	for _, seed := range [][]byte{
		nil, rawNPY(text, 1, 2, 3, 4, 5, 6), rawNPY(text, 1), rawNPY(text[:20]), rawNPY("{"),
		npy("<f4", []float32{1, 2}, 2, 1), npy("<f8", []float64{1e300}, 1, 1), npy("<f2", []uint16{0x7c00}, 1, 1),
		npy("<i8", []int64{-1, 1}, 2), npy("<i4", []int32{-1, 1}, 2),
		rawNPY("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 4), }"),
		rawNPY("{'descr': '<f4', 'fortran_order': True, 'shape': (99999999999999999999,), }"),
		append([]byte(npyMagic), 2, 0, 0xff, 0xff, 0xff, 0xff), append([]byte(npyMagic), 3, 0, 2, 0, 0, 0, '{', '}'),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		n := allocated(func() {
			a, err := newNPYArray("fuzz", bytes.NewReader(content), int64(len(content)))
			if err != nil {
				return
			}
			count := a.rows() * a.cols
			if a.data+int64(count*a.size) != int64(len(content)) {
				t.Fatalf("%d elements of %s from byte %d of %d", count, a.descr, a.data, len(content))
			}
			if !a.isInteger() {
				floats := make([]float32, count)
				if err := a.float32s(floats); err == nil && nonFinite32(floats) >= 0 {
					t.Error("a value that is not finite was accepted")
				}
			} else if err := a.int64s(make([]int64, count)); err != nil {
				t.Error(err)
			}
		})
		if most := uint64(slack + 16*len(content)); n > most {
			t.Errorf("%d bytes allocated for a file of %d", n, len(content))
		}
	})
}
