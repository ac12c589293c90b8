package kernels

const (
	// gradParts bounds the number of groups of images that have partial sums of a weight gradient, gradBytes the bytes
	// of all these sums.
	gradParts = 256
	gradBytes = 16 << 20
)

// Image is a layer's shape: Height by Width pixels of Channels inputs and
// Filters outputs.
type Image struct{ Height, Width, Channels, Filters int }

func (m Image) args() []any {
	return []any{int32(m.Height), int32(m.Width), int32(m.Channels), int32(m.Filters)}
}

// Conv computes the fused layer for N images: 3 by 3 convolution, bias, ReLU and 2 by 2 maximum pooling. All operands
// are in device memory. Arg may be the zero Matrix.
type Conv struct {
	Image
	N      int
	X, W   Matrix
	Bias   Ptr
	Y, Arg Matrix
	// TF32 rounds the operands of the products to TF32, for tensor cores. It needs
	// compute capability 8.0.
	TF32 bool
}

// option returns the name of a kernel, or with tf32 the name of its variant that computes in TF32.
func option(name string, tf32 bool) string {
	if tf32 {
		return name + "_tf32"
	}
	return name
}

// tiles returns the size of the grid for n images with the given numbers of output rows, columns and channels.
func tiles(n, rows, cols, channels int, tf32 bool) (x, y int) {
	down := convRows
	if channels <= convNarrow && !tf32 {
		down *= convWide / convNarrow
	}
	return n * ceilDiv(rows, down) * ceilDiv(cols, convCols), ceilDiv(channels, convWide)
}

// Launches returns the one launch.
func (c Conv) Launches() []Launch {
	x, y := tiles(c.N, c.Height/2*2, c.Width/2*2, c.Filters, c.TF32)
	return []Launch{launch(option("conv", c.TF32), x, y, threads(convThreads), 0,
		append(c.args(), c.X, c.W, c.Bias, c.Y, c.Arg)...)}
}

// ConvGrad computes the gradients of the layer over N images, as backend.Convolution defines them. DX may be the zero
// Matrix.
type ConvGrad struct {
	Image
	N                     int
	X, W, Arg, DY, DX, DW Matrix
	DB                    Ptr
	// Part is scratch of PartLen float32.
	Part Ptr
	// TF32 rounds the operands of the gradient with respect to the input to TF32, for tensor cores. It needs compute
	// capability 8.0.
	TF32 bool
}

// parts returns the number of groups of images, the number of images of each group, and the number of classes of
// windows that conv_grad_weight sums apart.
func (g ConvGrad) parts() (parts, each, split int) {
	split = warpsPer / ceilDiv(min(g.Channels, convSlab), 2)
	if g.N == 0 {
		return 0, 1, split
	}
	bytes := 4 * split * (9*g.Channels + 1) * g.Filters
	each = ceilDiv(g.N, min(gradParts, max(1, gradBytes/bytes)))
	return ceilDiv(g.N, each), each, split
}

// PartLen returns the number of float32 of scratch.
func (g ConvGrad) PartLen() int {
	parts, _, split := g.parts()
	return parts * split * (9*g.Channels + 1) * g.Filters
}

// Launches returns the launch of the gradient with respect to the input, where it is wanted, and the two launches of
// the gradient with respect to the weights.
func (g ConvGrad) Launches() []Launch {
	var all []Launch
	if g.DX.At != 0 {
		x, y := tiles(g.N, g.Height, g.Width, g.Channels, g.TF32)
		all = append(all, launch(option("conv_grad_input", g.TF32), x, y, threads(convThreads), 0,
			append(g.args(), g.W, g.Arg, g.DY, g.DX)...))
	}
	parts, each, split := g.parts()
	slabs := ceilDiv(g.Channels, convSlab) * ceilDiv(g.Filters, convWide)
	return append(all,
		launch("conv_grad_weight", parts, slabs, threads(block), 0,
			append(g.args(), int64(g.N), int32(each), g.X, g.Arg, g.DY, g.Part)...),
		launch("conv_grad_reduce", ceilDiv((9*g.Channels+1)*g.Filters, gradColumns), 1, threads(gradColumns*gradTurns), 0,
			int64(9*g.Channels), int32(g.Filters), int32(parts*split), g.Part, g.DW, g.DB))
}
