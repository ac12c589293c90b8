package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// maxDotOutputs is the largest number of outputs for which dot products in float64 are faster than a matrix product
// with centred rows.
const maxDotOutputs = 16

// loadLinear combines the linear representation, the head and delta, which may be nil, into one matrix that maps
// features to outputs. The scales of the features are part of it, so that rows need only be centred.
func (p *Predictor) loadLinear(phi, head, delta []float32) {
	var m mat.Dense
	m.Mul(mat.NewDense(p.C, p.K, widened(head)), mat.NewDense(p.K, p.D, widened(phi)))
	direct := make([]float32, p.C*p.D)
	p.offset = slices.Clone(p.bias)
	for c := range p.C {
		row := direct[c*p.D : (c+1)*p.D]
		for j := range row {
			v := m.At(c, j)
			if delta != nil {
				v += float64(delta[c*p.D+j])
			}
			row[j] = float32(v * float64(p.inverse[min(j, len(p.inverse)-1)]))
			if p.centre != nil {
				p.offset[c] -= float64(p.centre[j]) * float64(row[j])
			}
		}
	}
	p.direct = backend.Mat(backend.Upload(p.tmp, backend.Float32, direct), p.C, p.D)
	scaled := slices.Clone(phi)
	for i := range scaled {
		scaled[i] *= p.inverse[min(i%p.D, len(p.inverse)-1)]
	}
	p.phi = backend.Mat(backend.Upload(p.tmp, backend.Float32, scaled), p.K, p.D)
	p.inverse = []float32{1}
}

func widened(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// predictDots is Predict for the linear class. It multiplies the rows as they are stored: the offset includes the part
// of the centre, and in float64 features far from 0 lose no digits to it.
func (p *Predictor) predictDots(rows *dataset.Pool, y []float32) error {
	x, err := p.place(rows)
	if err != nil {
		return err
	}
	defer x.Buf.Free()
	n := rows.Rows
	p.sums = slices.Grow(p.sums[:0], n*p.C)[:n*p.C]
	if err := p.queue.Dots(x, p.direct, p.sums); err != nil {
		return err
	}
	for c := range p.C {
		unit, offset := float64(p.unit[c]), p.offset[c]
		for i, v := range p.sums[c*n : (c+1)*n] {
			y[i*p.C+c] = float32(unit * (float64(rows.Scale)*v + offset))
		}
	}
	return nil
}
