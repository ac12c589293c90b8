package cpu

import (
	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// maxParts bounds the number of groups of images that have partial sums of the gradient. How images are divided into
// groups depends on their number alone.
const maxParts = 32

func (q *queue) ConvGrad(s backend.ConvShape, x, w, arg, dy, dx, dw backend.Matrix, db backend.Vector) error {
	c := q.check("ConvGrad")
	o := c.ConvGrad(s, x, w, arg, dy, dx, dw, db)
	if c.Err != nil {
		return c.Err
	}
	p, n := newConvPlan(s), x.Rows
	each := max(convImages, ceilDiv(n, maxParts))
	parts := ceilDiv(n, each)
	flipped := p.in * p.out * 9 * vec.Panel * vec.Panel
	part := p.out * (p.Taps() + 1) * vec.Panel
	shared := q.dev.scratch.f32.Get(flipped + parts*part)
	defer q.dev.scratch.f32.Put(shared)
	weights, sums := (*shared)[:flipped], (*shared)[flipped:]
	if o.WithDX {
		p.packFlipped(weights, f32(o.W))
	}
	clear(sums)
	xs, dys := f32(o.X), f32(o.DY)
	q.dev.parallel(parts, n*p.pixels*p.Taps()*p.Filters, func(i int) {
		work := q.dev.scratch.conv.get(p.image + (p.out+1)*p.bordered)
		defer q.dev.scratch.conv.put(work)
		image, da, rest := work.f32[:p.image], work.f32[p.image:][:p.out*p.bordered], work.f32[p.image+p.out*p.bordered:]
		clear(image)
		clear(da)
		sum := sums[i*part:][:part]
		for lo, hi := span(i, each, n); lo < hi; lo++ {
			p.border(image, xs.row(lo))
			index := o.Arg.Mem.u8[o.Arg.Off+lo*o.Arg.Stride:][:p.Out()]
			for f := range p.out {
				panel := da[f*p.bordered:][:p.bordered]
				p.unpool(f, work, dys.row(lo), index, panel, sum[p.out*p.Taps()*vec.Panel:])
				p.weightGradient(work, image, panel, sum[f*p.Taps()*vec.Panel:])
			}
			if o.WithDX {
				p.inputGradient(work, da, weights, rest, f32(o.DX).row(lo))
			}
		}
	})
	p.sum(sums, part, parts, f32(o.DW), f32(o.DB).row(0))
	return nil
}

// packFlipped lays out w for the gradient with respect to the input, which is a convolution of da with the filters
// rotated by 180 degrees: for each panel of channels and panel of filters, the row of offset (ky, kx) and filter f
// holds the weights of offset (2-ky, 2-kx).
func (p *convPlan) packFlipped(dst []float32, w dense[float32]) {
	clear(dst)
	for c := range p.Channels {
		for t := range 9 {
			row := w.row((8-t)*p.Channels + c)
			for f, v := range row {
				panel := c/vec.Panel*p.out + f/vec.Panel
				dst[((panel*9+t)*vec.Panel+f%vec.Panel)*vec.Panel+c%vec.Panel] = v
			}
		}
	}
}

// unpool writes panel f of dy into a bordered image da, each element at the place in its window that arg names, and
// adds it to db. Pixels that belong to no window stay zero.
func (p *convPlan) unpool(f int, work *convScratch, dy []float32, arg []uint8, da, db []float32) {
	first, wide := f*vec.Panel, p.Width/2
	row := p.stride * vec.Panel
	db = db[first:][:vec.Panel]
	whole := first+vec.Panel <= p.Filters
	for i := range p.Height / 2 {
		top := da[(2*i+1)*row+vec.Panel:]
		bottom := top[row:]
		at := i*wide*p.Filters + first
		if whole {
			vec.Unpool(wide, dy[at:], p.Filters, arg[at:], p.Filters, top, bottom, db)
			continue
		}
		for j := range wide {
			from := at + j*p.Filters
			keep := p.Filters - first
			clear(work.y[copy(work.y[:], dy[from:from+keep]):])
			for k := copy(work.arg[:], arg[from:from+keep]); k < vec.Panel; k++ {
				work.arg[k] = backend.NoArg
			}
			vec.Unpool(1, work.y[:], vec.Panel, work.arg[:], vec.Panel, top[2*j*vec.Panel:], bottom[2*j*vec.Panel:], db)
		}
	}
}

// weightGradient adds the gradient with respect to a panel of weights to the Taps rows of sum: the sum over pixels of
// the elements of a pixel's window times its panel of da.
func (p *convPlan) weightGradient(work *convScratch, image, da, sum []float32) {
	g := vec.ConvProduct{
		M: 3 * p.Channels, Segs: 1, N: p.pixels,
		Row: 1, Group: 3, Col: p.Channels,
		B: da[(p.stride+1)*vec.Panel:], Add: true,
	}
	if p.Channels == 1 { // the three rows of a window make one block
		g.M, g.Group, g.A, g.C = 9, p.stride, image, sum
		work.product = g
		vec.Conv(&work.product)
		return
	}
	for ky := range 3 {
		g.A, g.C = image[ky*p.stride*p.Channels:], sum[ky*3*p.Channels*vec.Panel:]
		work.product = g
		vec.Conv(&work.product)
	}
}

// inputGradient writes the gradient with respect to the input, dx, of one image.
func (p *convPlan) inputGradient(work *convScratch, da, weights, out, dx []float32) {
	for c := range p.in {
		for f := range p.out {
			work.product = p.windows(da[f*p.bordered:], vec.Panel, weights[(c*p.out+f)*9*vec.Panel*vec.Panel:], out)
			work.product.Add = f > 0
			vec.Conv(&work.product)
		}
		first := c * vec.Panel
		keep := min(vec.Panel, p.Channels-first)
		for i := range p.Height {
			if p.Channels == vec.Panel {
				run := p.Width * p.Channels
				copy(dx[i*run:(i+1)*run], out[i*p.stride*vec.Panel:])
				continue
			}
			for j := range p.Width {
				copy(dx[(i*p.Width+j)*p.Channels+first:][:keep], out[(i*p.stride+j)*vec.Panel:])
			}
		}
	}
}

// sum adds the parts in order and lays them out as dw and db.
func (p *convPlan) sum(sums []float32, part, parts int, dw dense[float32], db []float32) {
	if parts == 0 {
		for t := range p.Taps() {
			clear(dw.row(t))
		}
		clear(db)
		return
	}
	total := sums[:part]
	for i := 1; i < parts; i++ {
		vec.Axpy(1, sums[i*part:][:part], total)
	}
	for t := range p.Taps() {
		row := dw.row(t)
		for f := range p.out {
			copy(row[f*vec.Panel:], total[(f*p.Taps()+t)*vec.Panel:][:vec.Panel])
		}
	}
	copy(db, total[p.out*p.Taps()*vec.Panel:])
}
