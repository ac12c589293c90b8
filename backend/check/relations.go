package check

// Shape checks that o is rows by cols.
func (c *Call[M]) Shape(arg string, o Operand[M], rows, cols int) {
	if c.Err == nil && (o.Rows != rows || o.Cols != cols) {
		c.Failf(arg, "is %d by %d, expected %d by %d", o.Rows, o.Cols, rows, cols)
	}
}

// Length checks that the vector v has n elements.
func (c *Call[M]) Length(arg string, v Operand[M], n int) {
	if c.Err == nil && v.Cols != n {
		c.Failf(arg, "has length %d, expected %d", v.Cols, n)
	}
}

// Slice checks that a host slice of length got has want elements.
func (c *Call[M]) Slice(arg string, got, want int) {
	if got != want {
		c.Failf(arg, "has length %d, expected %d", got, want)
	}
}

// SameType checks that o and as have the same dtype.
func (c *Call[M]) SameType(arg string, o, as Operand[M]) {
	if c.Err == nil && o.Buf.DType() != as.Buf.DType() {
		c.Failf(arg, "holds %s, not %s as the others", o.Buf.DType(), as.Buf.DType())
	}
}

// Apart checks that o shares no element with other.
func (c *Call[M]) Apart(arg string, o Operand[M], otherArg string, other Operand[M]) {
	if c.Err == nil && overlap(o, other) {
		c.Failf(arg, "overlaps %s", otherArg)
	}
}

// named is an operand with its argument's name.
type named[M comparable] struct {
	arg string
	o   Operand[M]
}

// allApart checks that each output shares no element with an input or with the outputs before it.
func (c *Call[M]) allApart(outs []named[M], ins ...named[M]) {
	for i, out := range outs {
		for _, in := range ins {
			c.Apart(out.arg, out.o, in.arg, in.o)
		}
		for _, before := range outs[:i] {
			c.Apart(out.arg, out.o, before.arg, before.o)
		}
	}
}

// SamePlace checks that o is the same view as other or shares no element with it.
func (c *Call[M]) SamePlace(arg string, o Operand[M], otherArg string, other Operand[M]) {
	if c.Err == nil && o.Matrix != other.Matrix {
		c.Apart(arg, o, otherArg, other)
	}
}

// overlap reports whether two views share an element. It is exact, so that two
// column blocks of one matrix are apart.
func overlap[M comparable](a, b Operand[M]) bool {
	if a.Mem != b.Mem || a.Rows == 0 || a.Cols == 0 || b.Rows == 0 || b.Cols == 0 {
		return false
	}
	if a.Rows > b.Rows {
		a, b = b, a
	}
	end := func(o Operand[M]) int { return o.Off + (o.Rows-1)*o.Stride + o.Cols }
	if end(a) <= b.Off || end(b) <= a.Off {
		return false
	}
	for i := range a.Rows {
		lo := a.Off + i*a.Stride
		hi := lo + a.Cols
		if b.Rows == 1 {
			if lo < b.Off+b.Cols && b.Off < hi {
				return true
			}
			continue
		}
		if hi <= b.Off {
			continue
		}
		// The last row of b that begins before hi reaches furthest.
		j := min((hi-1-b.Off)/b.Stride, b.Rows-1)
		if b.Off+j*b.Stride+b.Cols > lo {
			return true
		}
	}
	return false
}
