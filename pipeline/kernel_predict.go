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
	out := make([]float64, 0, n*c)
	for lo := 0; lo < n; lo += kernelBlock {
		hi := min(lo+kernelBlock, n)
		some, err := k.predictSome(q, threads, hi-lo, func(i int, x []float32) { read(lo+i, x) })
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func (k *kernelModel) predictSome(q backend.Queue, threads, n int, read func(i int, x []float32)) ([]float64, error) {
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
		for i := 0; i < len(out); i += c {
			k.toLogOdds(out[i:][:c])
		}
	}
	return out, nil
}

// toLogOdds replaces the multinomial logits of columns with several classes.
func (k *kernelModel) toLogOdds(of []float64) {
	for c, column := range k.group {
		if slices.Index(k.group, column) != c {
			continue
		}
		var own []int
		for other, v := range k.group {
			if v == column {
				own = append(own, other)
			}
		}
		if len(own) < 2 {
			continue
		}
		odds := elementsAt(of, own)
		boost.ToLogOdds(odds)
		for i, at := range own {
			of[at] = odds[i]
		}
	}
}

// tells reports whether an output has kernels.
func (k *kernelModel) tells(output int) bool {
	return slices.ContainsFunc(k.parts, func(p kernelPart) bool { return p.width[output] > 0 })
}

// addPart adds a sum of kernels at n rows to out.
func (k *kernelModel) addPart(q backend.Queue, threads int, part *kernelPart, n int, read func(i int, x []float32), out []float64) error {
	d, c := len(part.centre), len(k.bias)
	at := len(part.rows) / d
	x, norms := make([]float32, n*d), make([]float64, n)
	for i := range n {
		row := x[i*d:][:d]
		read(i, row)
		for j, v := range part.centre {
			row[j] -= v
			if k.scale != nil {
				row[j] /= k.scale[j]
			}
			norms[i] += float64(row[j]) * float64(row[j])
		}
	}
	tmp := backend.NewScope(q)
	defer tmp.Close()
	xs, zs := backend.Upload(tmp, backend.Float32, x), backend.Upload(tmp, backend.Float32, part.rows)
	products := tmp.Matrix(backend.Float32, n, at)
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := q.Gemm(false, true, 1, backend.Mat(xs, n, d), backend.Mat(zs, at, d), 0, products); err != nil {
		return err
	}
	host := make([]float32, n*at)
	if err := backend.Get(q, host, products.Buf, 0); err != nil {
		return err
	}
	of := make([]float64, at)
	for j := range of {
		for _, v := range part.rows[j*d:][:d] {
			of[j] += float64(v) * float64(v)
		}
	}
	var work errgroup.Group
	work.SetLimit(threads)
	for lo := 0; lo < n; lo += kernelRowsAtOnce {
		work.Go(func() error {
			values := make([]float64, at)
			for i := lo; i < min(n, lo+kernelRowsAtOnce); i++ {
				part.add(host[i*at:][:at], norms[i], of, values, out[i*c:][:c])
			}
			return nil
		})
	}
	return work.Wait()
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
