package check

import "github.com/amtrl/amtrl/backend"

// Batch holds the checked operands of [backend.Training].Batch.
type Batch[M comparable] struct{ X, Y, Task Operand[M] }

// Batch checks the arguments of [backend.Training].Batch except order, for n samples of d features and up to outputs
// labels drawn from pools.
func (c *Call[M]) Batch(n, d, outputs int, pools []Operand[M], x, y backend.Matrix, task backend.Vector) (o Batch[M]) {
	o.X, o.Y, o.Task = c.Matrix("x", x, Float32), c.Matrix("y", y, Float32), c.Vector("task", task, Int32)
	c.Shape("x", o.X, n, d)
	c.Shape("y", o.Y, n, outputs)
	c.Length("task", o.Task, n)
	c.Apart("y", o.Y, "x", o.X)
	c.apartFromPools("x", o.X, pools)
	c.apartFromPools("y", o.Y, pools)
	return o
}

// HeadGradient holds the checked operands of [backend.Training].HeadGradient.
type HeadGradient[M comparable] struct {
	Z, Y, Task, W, DZ, DW, Loss Operand[M]
	// WithGradient reports whether dz and dw are wanted.
	WithGradient bool
}

// HeadGradient checks the arguments of [backend.Training].HeadGradient.
func (c *Call[M]) HeadGradient(z, y backend.Matrix, task backend.Vector, w, dz, dw backend.Matrix,
	loss backend.Vector) (o HeadGradient[M]) {
	o.Z, o.Y, o.Task = c.Matrix("z", z, Float32), c.Matrix("y", y, Float32), c.Vector("task", task, Int32)
	o.W, o.Loss = c.Matrix("w", w, Float32), c.Vector("loss", loss, Float64)
	n, k := o.Z.Rows, o.Z.Cols
	c.Shape("y", o.Y, n, max(1, o.Y.Cols))
	c.Length("task", o.Task, n)
	c.Shape("w", o.W, o.W.Rows, k)
	c.Length("loss", o.Loss, 1)
	none := backend.Matrix{}
	if o.WithGradient = dz != none || dw != none; !o.WithGradient {
		return o
	}
	o.DZ, o.DW = c.Matrix("dz", dz, Float32), c.Matrix("dw", dw, Float32)
	c.Shape("dz", o.DZ, n, k)
	c.Shape("dw", o.DW, o.W.Rows, k)
	c.allApart([]named[M]{{"dz", o.DZ}, {"dw", o.DW}}, named[M]{"z", o.Z}, named[M]{"y", o.Y}, named[M]{"w", o.W})
	return o
}

// Adam holds the checked operands of [backend.Training].Adam.
type Adam[M comparable] struct{ G, M, V, Theta Operand[M] }

// Adam checks the arguments of [backend.Training].Adam.
func (c *Call[M]) Adam(rates *backend.AdamRates, g, m, v, theta backend.Vector) (o Adam[M]) {
	if rates == nil {
		c.Failf("rates", "is nil")
	}
	o.G, o.M, o.V, o.Theta = c.Vector("g", g, Float32), c.Vector("m", m, Float32), c.Vector("v", v, Float32), c.Vector("theta", theta, Float32)
	c.Length("m", o.M, o.G.Cols)
	c.Length("v", o.V, o.G.Cols)
	c.Length("theta", o.Theta, o.G.Cols)
	c.allApart([]named[M]{{"m", o.M}, {"v", o.V}, {"theta", o.Theta}}, named[M]{"g", o.G})
	return o
}
