package cpu

import (
	"sync"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu/internal/vec"
)

// convPlan is the memory layout of a layer. An image is laid out with a border of zeros on all sides, stride columns
// per row. Then the windows of a whole image are the rows of one matrix: the window of pixel (y, x) is row y stride +
// x, and each of its three image rows is one run of 3 C elements. Two windows per row of pixels are computed and
// ignored. Outputs lie in panels of vec.Panel channels.
type convPlan struct {
	backend.ConvShape
	stride   int // columns of an image with its border
	pixels   int // rows of the window matrix
	in, out  int // numbers of panels of the channels and of the filters
	image    int // elements of a bordered image of Channels, with slack
	bordered int // elements of a bordered image of one panel, with slack
}

func newConvPlan(s backend.ConvShape) convPlan {
	p := convPlan{ConvShape: s, stride: s.Width + 2}
	p.pixels = s.Height*p.stride - 2
	p.in, p.out = ceilDiv(s.Channels, vec.Panel), ceilDiv(s.Filters, vec.Panel)
	// The vector loops read whole blocks of rows, beyond the last row.
	size := (s.Height+3)*p.stride + 2*vec.ConvRowBlock
	p.image, p.bordered = size*s.Channels+2*vec.ConvRowBlock, size*vec.Panel
	return p
}

// convImages is the number of images that one goroutine takes at a time.
const convImages = 4

func (q *queue) Conv(s backend.ConvShape, x, w backend.Matrix, b backend.Vector, y, arg backend.Matrix) error {
	c := q.check("Conv")
	o := c.Conv(s, x, w, b, y, arg)
	if c.Err != nil {
		return c.Err
	}
	p, n := newConvPlan(s), x.Rows
	packed := q.dev.scratch.f32.Get(p.out * (p.Taps() + 1) * vec.Panel)
	defer q.dev.scratch.f32.Put(packed)
	weights, bias := (*packed)[:p.out*p.Taps()*vec.Panel], (*packed)[p.out*p.Taps()*vec.Panel:]
	p.packFilters(weights, f32(o.W))
	copy(bias, f32(o.B).row(0))
	xs, ys := f32(o.X), f32(o.Y)
	q.dev.parallel(ceilDiv(n, convImages), n*p.pixels*p.Taps()*p.Filters/2, func(i int) {
		work := q.dev.scratch.conv.get(p.image + p.bordered)
		defer q.dev.scratch.conv.put(work)
		image, a := work.f32[:p.image], work.f32[p.image:]
		clear(image)
		for lo, hi := span(i, convImages, n); lo < hi; lo++ {
			p.border(image, xs.row(lo))
			for f := range p.out {
				work.product = p.windows(image, p.Channels, weights[f*p.Taps()*vec.Panel:], a)
				vec.Conv(&work.product)
				var index []uint8
				if o.WithArg {
					index = o.Arg.Mem.u8[o.Arg.Off+lo*o.Arg.Stride:][:p.Out()]
				}
				p.pool(f, work, a, bias[f*vec.Panel:], ys.row(lo), index)
			}
		}
	})
	return nil
}

// packFilters copies w to dst in panels of filters, padded with zeros.
func (p *convPlan) packFilters(dst []float32, w dense[float32]) {
	for f := range p.out {
		for t := range p.Taps() {
			row := dst[(f*p.Taps()+t)*vec.Panel:][:vec.Panel]
			clear(row[copy(row, w.row(t)[f*vec.Panel:]):])
		}
	}
}

// border copies an image into the middle of a bordered one.
func (p *convPlan) border(dst, x []float32) {
	run := p.Width * p.Channels
	for i := range p.Height {
		copy(dst[((i+1)*p.stride+1)*p.Channels:], x[i*run:(i+1)*run])
	}
}

// windows describes the product c of all windows of a bordered image with a panel of weights.
func (p *convPlan) windows(image []float32, channels int, weights, c []float32) vec.ConvProduct {
	return vec.ConvProduct{
		M: p.pixels, Segs: 3, N: 3 * channels,
		Row: channels, Group: 3 * channels, Jump: p.stride * channels, Col: 1,
		A: image, B: weights, C: c,
	}
}

// pool writes panel f of y and, unless it is nil, of arg: bias, ReLU and pooling of the convolution's output a.
func (p *convPlan) pool(f int, work *convScratch, a, bias, y []float32, arg []uint8) {
	first, wide := f*vec.Panel, p.Width/2
	row := p.stride * vec.Panel
	whole := first+vec.Panel <= p.Filters
	for i := range p.Height / 2 {
		top, bottom := a[2*i*row:], a[(2*i+1)*row:]
		at := i*wide*p.Filters + first
		if whole && arg != nil {
			vec.Pool(wide, top, bottom, bias, y[at:], p.Filters, arg[at:], p.Filters)
			continue
		}
		for j := range wide {
			vec.Pool(1, top[2*j*vec.Panel:], bottom[2*j*vec.Panel:], bias, work.y[:], vec.Panel, work.arg[:], vec.Panel)
			to := at + j*p.Filters
			keep := min(vec.Panel, p.Filters-first)
			copy(y[to:to+keep], work.y[:])
			if arg != nil {
				copy(arg[to:to+keep], work.arg[:])
			}
		}
	}
}

// convScratch is the memory that one goroutine works in. The arguments of the vector code lie here too, since a call
// through a function value would move them to the heap.
type convScratch struct {
	f32     []float32
	product vec.ConvProduct
	rates   vec.AdamRates
	// y and arg hold the last panel of filters where it is not full.
	y   [vec.Panel]float32
	arg [vec.Panel]uint8
}

type convSlab struct{ pool sync.Pool }

// get returns a scratch whose f32 has n elements of any value.
func (s *convSlab) get(n int) *convScratch {
	w, ok := s.pool.Get().(*convScratch)
	if !ok {
		w = new(convScratch)
	}
	if cap(w.f32) < n {
		w.f32 = make([]float32, n)
	}
	w.f32 = w.f32[:n]
	return w
}

func (s *convSlab) put(w *convScratch) { s.pool.Put(w) }
