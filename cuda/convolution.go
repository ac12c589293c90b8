//go:build linux && cgo && (amd64 || arm64)

package cuda

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/kernels"
)

func image(s backend.ConvShape) kernels.Image {
	return kernels.Image{Height: s.Height, Width: s.Width, Channels: s.Channels, Filters: s.Filters}
}

// tensorCores reports whether convolutions round their operands to TF32: the option is set and the
// device has the instruction.
func (q *queue) tensorCores() bool { return q.dev.tf32 && q.dev.about.major >= 8 }

func (q *queue) Conv(s backend.ConvShape, x, w backend.Matrix, b backend.Vector, y, arg backend.Matrix) error {
	c := q.check("Conv")
	o := c.Conv(s, x, w, b, y, arg)
	if c.Err != nil {
		return c.Err
	}
	k := kernels.Conv{
		Image: image(s), N: o.X.Rows,
		X: place(o.X), W: place(o.W), Bias: ptr(o.B), Y: place(o.Y), TF32: q.tensorCores(),
	}
	if o.WithArg {
		k.Arg = place(o.Arg)
	}
	return q.issue(c, o.X.Rows, func(e *emitter) { e.launch(k.Launches()...) })
}

func (q *queue) ConvGrad(s backend.ConvShape, x, w, arg, dy, dx, dw backend.Matrix, db backend.Vector) error {
	c := q.check("ConvGrad")
	o := c.ConvGrad(s, x, w, arg, dy, dx, dw, db)
	if c.Err != nil {
		return c.Err
	}
	k := kernels.ConvGrad{
		Image: image(s), N: o.X.Rows,
		X: place(o.X), W: place(o.W), Arg: place(o.Arg), DY: place(o.DY), DW: place(o.DW), DB: ptr(o.DB), TF32: q.tensorCores(),
	}
	if o.WithDX {
		k.DX = place(o.DX)
	}
	return q.submit(c, &command{
		temp: []int{4 * k.PartLen()},
		emit: func(e *emitter) {
			k := k
			k.Part = kernels.Ptr(e.temp[0])
			e.launch(k.Launches()...)
		},
	})
}
