package check

import "github.com/amtrl/amtrl/backend"

// Conv holds the checked operands of a convolution or of its gradient.
type Conv[M comparable] struct {
	X, W, B, Y, Arg, DY, DX, DW, DB Operand[M]
	// WithArg reports whether Conv has an arg to write, WithDX whether ConvGrad has a dx to write.
	WithArg, WithDX bool
}

// convInput checks the shape and the operands x and w, which a convolution and its gradient have in common.
func (c *Call[M]) convInput(s backend.ConvShape, x, w backend.Matrix) (o Conv[M]) {
	if err := s.Validate(); err != nil {
		c.Failf("s", "is invalid: %v", err)
	}
	o.X, o.W = c.Matrix("x", x, Float32), c.Matrix("w", w, Float32)
	c.Shape("x", o.X, o.X.Rows, s.In())
	c.Shape("w", o.W, s.Taps(), s.Filters)
	return o
}

// Conv checks the arguments of [backend.Convolution].Conv.
func (c *Call[M]) Conv(s backend.ConvShape, x, w backend.Matrix, b backend.Vector, y, arg backend.Matrix) Conv[M] {
	o := c.convInput(s, x, w)
	o.B, o.Y = c.Vector("b", b, Float32), c.Matrix("y", y, Float32)
	c.Length("b", o.B, s.Filters)
	c.Shape("y", o.Y, o.X.Rows, s.Out())
	c.allApart([]named[M]{{"y", o.Y}}, named[M]{"x", o.X}, named[M]{"w", o.W}, named[M]{"b", o.B})
	if o.WithArg = arg != (backend.Matrix{}); o.WithArg {
		o.Arg = c.Matrix("arg", arg, Uint8)
		c.Shape("arg", o.Arg, o.X.Rows, s.Out())
	}
	return o
}

// ConvGrad checks the arguments of [backend.Convolution].ConvGrad.
func (c *Call[M]) ConvGrad(s backend.ConvShape, x, w, arg, dy, dx, dw backend.Matrix, db backend.Vector) Conv[M] {
	o := c.convInput(s, x, w)
	o.Arg, o.DY = c.Matrix("arg", arg, Uint8), c.Matrix("dy", dy, Float32)
	c.Shape("arg", o.Arg, o.X.Rows, s.Out())
	c.Shape("dy", o.DY, o.X.Rows, s.Out())
	o.DW, o.DB = c.Matrix("dw", dw, Float32), c.Vector("db", db, Float32)
	c.Shape("dw", o.DW, s.Taps(), s.Filters)
	c.Length("db", o.DB, s.Filters)
	outs := []named[M]{{"dw", o.DW}, {"db", o.DB}}
	if o.WithDX = dx != (backend.Matrix{}); o.WithDX {
		o.DX = c.Matrix("dx", dx, Float32)
		c.Shape("dx", o.DX, o.X.Rows, s.In())
		outs = append(outs, named[M]{"dx", o.DX})
	}
	c.allApart(outs, named[M]{"x", o.X}, named[M]{"w", o.W}, named[M]{"dy", o.DY})
	return o
}
