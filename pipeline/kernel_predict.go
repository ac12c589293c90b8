package pipeline

import (
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/pipeline/internal/boost"
)

const (
	// kernelBlock is the number of rows that are predicted by a kernel at a time, and kernelRowsAtOnce that of one goroutine.
	kernelBlock, kernelRowsAtOnce = 2048, 64
)

// predict returns the predictions of n rows as the data have them, by row.
func (k *kernelModel) predict(q backend.Queue, threads, n int, read func(i int, x []float32)) ([]float64, error) {
	c := len(k.bias)
	out := make([]float64, n*c)
	for i := range out {
		out[i] = float64(k.bias[i%c])
	}
	for i := range k.parts {
		if err := k.addPart(q, threads, &k.parts[i], n, read, out); err != nil {
			return nil, err
		}
	}
	if k.classes {
		for row := range slices.Chunk(out, c) {
			boost.OneOfClasses(k.group, row)
		}
	}
	return out, nil
}

// predicts reports whether an output has kernels.
func (k *kernelModel) predicts(output int) bool {
	return slices.ContainsFunc(k.parts, func(p kernelPart) bool { return p.width[output] > 0 })
}

// addPart adds a sum of kernels at n rows to out.
func (k *kernelModel) addPart(q backend.Queue, threads int, part *kernelPart, n int, read func(i int, x []float32), out []float64) error {
	d, c := len(part.centre), len(k.bias)
	at, most := len(part.rows)/d, min(n, kernelBlock)
	tmp := backend.NewScope(q)
	defer tmp.Close()
	zs, xs := backend.Upload(tmp, backend.Float32, part.rows), tmp.Matrix(backend.Float32, most, d)
	products := tmp.Matrix(backend.Float32, most, at)
	if err := tmp.Err(); err != nil {
		return err
	}
	x, host, of := make([]float32, most*d), make([]float32, most*at), squareNorms(part.rows, d)
	for lo := 0; lo < n; lo += most {
		rows := min(most, n-lo)
		xs.Rows, products.Rows = rows, rows
		for i := range rows {
			row := x[i*d:][:d]
			read(lo+i, row)
			for j, v := range part.centre {
				row[j] -= v
				if k.scale != nil {
					row[j] /= k.scale[j]
				}
			}
		}
		norms := squareNorms(x[:rows*d], d)
		if err := backend.Put(q, xs.Buf, 0, x[:rows*d]); err != nil {
			return err
		}
		if err := q.Gemm(false, true, 1, xs, backend.Mat(zs, at, d), 0, products); err != nil {
			return err
		}
		if err := backend.Get(q, host[:rows*at], products.Buf, 0); err != nil {
			return err
		}
		var work errgroup.Group
		work.SetLimit(threads)
		for first := 0; first < rows; first += kernelRowsAtOnce {
			work.Go(func() error {
				values := make([]float64, at)
				for i := first; i < min(rows, first+kernelRowsAtOnce); i++ {
					part.add(host[i*at:][:at], norms[i], of, values, out[(lo+i)*c:][:c])
				}
				return nil
			})
		}
		_ = work.Wait() // no error
	}
	return nil
}

// squareNorms returns |x|^2 of rows of d features.
func squareNorms(rows []float32, d int) (out []float64) {
	for x := range slices.Chunk(rows, d) {
		sum := 0.0
		for _, v := range x {
			sum += float64(v) * float64(v)
		}
		out = append(out, sum)
	}
	return out
}

// add adds the sums of kernels at one row x to the predictions of its outputs, given the products of x and each z, |x|^2 and each |z|^2.
func (k *kernelPart) add(products []float32, norm float64, norms, values, out []float64) {
	last := float32(0)
	for o, width := range k.width {
		if width == 0 {
			continue
		}
		if width != last {
			for j, v := range products {
				values[j] = math.Exp(-math.Max(0, norm+norms[j]-2*float64(v)) / float64(width))
			}
			last = width
		}
		sum := 0.0
		for j, w := range k.weight[o*len(values):][:len(values)] {
			sum += float64(w) * values[j]
		}
		out[o] += sum
	}
}
