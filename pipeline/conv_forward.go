package pipeline

import "github.com/amtrl/amtrl/backend"

// activations holds the intermediate results of up to rows samples, and their labels y.
type activations struct {
	net  *convNet
	rows int
	x, y backend.Matrix
	task backend.Vector
	out  []backend.Matrix // outputs of the layers; behind the last is a column of ones
	arg  []backend.Matrix // which input of each pooling window was the largest; zero without gradients
	z    backend.Matrix   // features; behind them, with intercepts, is a column of ones
	// centre holds mu once for each row, and inverse is 1/s; centre is empty without units.
	centre  backend.Vector
	inverse float64
}

// rowAlign is the number of elements that strides are a multiple of, for the sake of wide loads.
const rowAlign = 16

func (n *convNet) newActivations(tmp *backend.Scope, rows, outputs int, gradients bool) (*activations, error) {
	a := &activations{
		net: n, rows: rows,
		x:    tmp.Matrix(backend.Float32, rows, n.shapes[0].In()),
		y:    tmp.Matrix(backend.Float32, rows, outputs),
		task: tmp.Vector(backend.Int32, rows),
		z:    tmp.Matrix(backend.Float32, rows, n.width),
	}
	a.z.Cols = n.k
	for _, s := range n.shapes {
		cols := s.Out()
		stride := (cols + rowAlign) / rowAlign * rowAlign // at least one more, for the ones
		m := tmp.Matrix(backend.Float32, rows, stride)
		m.Cols = cols
		a.out = append(a.out, m)
		var arg backend.Matrix
		if gradients {
			arg = tmp.Matrix(backend.Uint8, rows, cols)
		}
		a.arg = append(a.arg, arg)
	}
	if err := tmp.Err(); err != nil {
		return nil, err
	}
	// Nothing writes the padding again, so that it keeps its ones.
	if err := n.b.Fill(backend.Vec(a.out[len(a.out)-1].Buf), 1); err != nil || !n.intercept() {
		return a, err
	}
	if err := n.b.Fill(backend.Vec(a.z.Buf), 1); err != nil {
		return nil, err
	}
	return a, a.setUnits(tmp)
}

// setUnits writes mu to centre once for each row.
func (a *activations) setUnits(tmp *backend.Scope) error {
	n, d := a.net, a.net.inputs()
	u, err := n.units()
	if err != nil {
		return err
	}
	a.centre, a.inverse = tmp.Vector(backend.Float32, a.rows*d), 1/u.scale
	if err := tmp.Err(); err != nil {
		return err
	}
	if err := n.b.Copy(section(a.centre, 0, d), section(n.all, n.theta.Len+n.t, d)); err != nil {
		return err
	}
	for done := 1; done < a.rows; done *= 2 {
		more := min(done, a.rows-done) * d
		if err := n.b.Copy(section(a.centre, done*d, more), section(a.centre, 0, more)); err != nil {
			return err
		}
	}
	return nil
}

// toUnits overwrites the rows x of the data with (x - mu) / s.
func (a *activations) toUnits(x backend.Matrix) error {
	if a.centre.Len == 0 {
		return nil
	}
	flat := section(backend.Vec(x.Buf), x.Off, x.Rows*x.Cols)
	if err := a.net.b.Axpy(-1, section(a.centre, 0, flat.Len), flat); err != nil {
		return err
	}
	return a.net.b.Scale(a.inverse, flat)
}

// first views the first rows of m.
func first(m backend.Matrix, rows int) backend.Matrix {
	if m.Buf != nil {
		m.Rows = rows
	}
	return m
}

// forward lays out the samples that order names, at most a.rows of them, and computes their features z = A (h, 1),
// where h are the outputs of the last convolution. It returns z with the labels y and the tasks of the samples.
func (a *activations) forward(theta backend.Vector, s backend.Samples, order []int32) (z, y backend.Matrix,
	task backend.Vector, err error) {
	n, r := a.net, len(order)
	y, task, z = first(a.y, r), a.task, first(a.z, r)
	task.Len = r
	in := first(a.x, r)
	if err = n.b.Batch(s, order, in, y, task); err != nil {
		return
	}
	if err = a.toUnits(in); err != nil {
		return
	}
	for l, shape := range n.shapes {
		w, b := n.layerOf(theta, l)
		out := first(a.out[l], r)
		if err = n.b.Conv(shape, in, w, b, out, first(a.arg[l], r)); err != nil {
			return
		}
		in = out
	}
	in.Cols++ // the ones
	err = n.b.Gemm(false, true, 1, in, n.fullOf(theta), 0, z)
	return
}

// evalRows is the number of samples whose features are computed at a time.
const evalRows = 256

// features writes the features of all samples to z, in order.
func (n *convNet) features(s backend.Samples, z backend.Matrix) error {
	tmp := backend.NewScope(n.b)
	defer tmp.Close()
	a, err := n.newActivations(tmp, min(evalRows, s.Len()), s.Outputs(), false)
	if err != nil {
		return err
	}
	order := make([]int32, a.rows)
	for lo := 0; lo < s.Len(); lo += a.rows {
		part := order[:min(a.rows, s.Len()-lo)]
		for i := range part {
			part[i] = int32(lo + i)
		}
		to := z
		to.Off, to.Rows = z.Off+lo*z.Stride, len(part)
		a.z = to
		if _, _, _, err := a.forward(n.theta, s, part); err != nil {
			return err
		}
	}
	return nil
}
