package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
)

// hostCopy copies matrices from a device to the host, in float64, into memory that it keeps: each overwrites the one before.
type hostCopy struct {
	narrow []float32
	wide   []float64
}

// get copies m. The result has a number of columns beside those of m, which may hold anything.
func (d *hostCopy) get(b backend.Queue, m backend.Matrix, more int) (*mat.Dense, error) {
	n, cols := (m.Rows-1)*m.Stride+m.Cols, m.Cols+more
	d.narrow = slices.Grow(d.narrow[:0], n)[:n]
	if err := backend.Get(b, d.narrow, m.Buf, m.Off); err != nil {
		return nil, err
	}
	d.wide = slices.Grow(d.wide[:0], m.Rows*cols)[:m.Rows*cols]
	out := mat.NewDense(m.Rows, cols, d.wide)
	for i := range m.Rows {
		row := out.RawRowView(i)[:m.Cols]
		for j, v := range d.narrow[i*m.Stride:][:len(row)] {
			row[j] = float64(v)
		}
	}
	return out, nil
}

// download64 copies a matrix to memory of its own.
func download64(b backend.Queue, m backend.Matrix) (*mat.Dense, error) {
	return new(hostCopy).get(b, m, 0)
}
