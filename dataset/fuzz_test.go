package dataset

import (
	"bytes"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
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
			n := must.Allocated(func() {
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
