package vec

import "unsafe"

// Outputs holds the operands of a pass over samples of several outputs, which reads Offset and P and adds to Q, Loss
// and Total. C is the number of outputs.
type Outputs struct {
	C int
	// Offset has C elements, or none where all offsets are zero.
	Offset []float32
	// P and Q are C rows of d elements.
	P, Q             []float32
	PStride, QStride int
	// Loss and Total have C elements.
	Loss, Total []float64
}

// gather copies the rows of x that rows[:n] name to dst, as float32. The rest of rows are indices of rows that will be
// asked for next.
type gather[E Element] = func(x []E, stride, d int, rows []int32, n int, dst []float32, dstStride int)

// outputLoop is a loop over n rows x_i of x, of d elements each, and over outputs o, each with row o of m, of d
// elements, and row o of r, of n elements. products computes r_oi = x_i'm_o; updates computes m_o += sum_i r_oi x_i in
// the order of the rows. n is a multiple of outputTile.
type outputLoop = func(x []float32, xStride, n int, m []float32, mStride, outputs, d int, r []float32, rStride int)

// outputTile is the number of rows that products and updates work on at a time.
const outputTile = 4

// outputRows returns the number of rows of d elements that are widened together: as many as leave most of the
// first-level cache to p and q.
func outputRows(d int) int {
	const elements, most = 1 << 12, 64
	return outputTile * max(1, min(most, elements/max(1, d))/outputTile)
}

// OutputGrads is [TaskGrad] for samples that have labels of several outputs:
// y has C labels for each of rows, and a NaN is a missing label, which adds to no
// sum. With x_i the d elements of x from rows[i]*stride on, for each output c
//
//	r_ic = scale x_i'p_c - (y_ic - offset_c),  q_c += sum_i scale r_ic x_i
//
// and loss_c += sum_i r_ic^2, total_c += sum_i r_ic, in float64. Each row is read
// and widened once. An element that is not finite may spoil the sums of all
// outputs.
func OutputGrads[E Element](x []E, stride, d int, rows []int32, y []float32, scale float32, o Outputs) {
	const line = 16 // elements
	block, rowStride := outputRows(d), (d+line-1)/line*line
	buf := getScratch(block*(rowStride+o.C) + line)
	defer putScratch(buf)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(*buf)))/4) % line
	wide, residual := (*buf)[skip:][:block*rowStride], (*buf)[skip+block*rowStride:][:block*o.C]
	for len(rows) > 0 {
		n := min(block, len(rows))
		whole := (n + outputTile - 1) / outputTile * outputTile
		of[E]().gather(x, stride, d, rows, n, wide, rowStride)
		clear(wide[n*rowStride : whole*rowStride])
		active.products(wide, rowStride, whole, o.P, o.PStride, o.C, d, residual, block)
		for c := range o.C {
			o.residuals(c, y, scale, residual[c*block:][:n])
			clear(residual[c*block+n : c*block+whole])
		}
		active.updates(wide, rowStride, whole, o.Q, o.QStride, o.C, d, residual, block)
		rows, y = rows[n:], y[n*o.C:]
	}
}

// residuals overwrites r, the products of rows with p_c, with scale times the residuals r_c of output c, and adds r_c
// and its squares to the sums.
func (o *Outputs) residuals(c int, y []float32, scale float32, r []float32) {
	var offset float32
	if len(o.Offset) > 0 {
		offset = o.Offset[c]
	}
	loss, total := o.Loss[c], o.Total[c]
	for i, product := range r {
		label := y[i*o.C+c]
		if label != label { // NaN
			r[i] = 0
			continue
		}
		v := scale*product - (label - offset)
		wide := float64(v)
		loss, total = loss+wide*wide, total+wide
		r[i] = scale * v
	}
	o.Loss[c], o.Total[c] = loss, total
}
