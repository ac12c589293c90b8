package backend

import "fmt"

// ConvShape is the shape of one convolutional layer: a 3 by 3 convolution of
// stride 1 with one row and column of zeros around the image, so that its
// output is as high and wide as its input, then bias, ReLU, and maximum pooling
// over windows of 2 by 2. An odd last row or column of the convolution belongs
// to no window and is dropped.
type ConvShape struct {
	// Height, Width and Channels are the size of an input image.
	Height, Width, Channels int
	// Filters is the number of output channels.
	Filters int
}

// maxConv bounds each size, so that no product of them overflows an int32
// index into one image's taps or outputs.
const maxConv = 1 << 10

// Validate returns an error for a size that no operation accepts: Height or Width below 2, Channels or Filters below 1,
// any above 1024.
func (s ConvShape) Validate() error {
	for _, v := range []struct {
		name        string
		size, least int
	}{{"height", s.Height, 2}, {"width", s.Width, 2}, {"channels", s.Channels, 1}, {"filters", s.Filters, 1}} {
		if v.size < v.least || v.size > maxConv {
			return fmt.Errorf("%s is %d, expected %d to %d", v.name, v.size, v.least, maxConv)
		}
	}
	return nil
}

// In returns the number of elements of an input image.
func (s ConvShape) In() int { return s.Height * s.Width * s.Channels }

// Taps returns the number of inputs that one output of the convolution sums over.
func (s ConvShape) Taps() int { return 9 * s.Channels }

// Out returns the number of elements of an output image.
func (s ConvShape) Out() int { return s.Height / 2 * (s.Width / 2) * s.Filters }

// NoArg marks an output whose gradient is zero, see [Convolution].
const NoArg = 4

// Convolution holds a convolutional layer and its gradient. All operands are
// Float32 except arg, which is Uint8.
//
// The rows of x and dx are n images of s.In() elements with the channels
// innermost: element (y, x, c) is at (y Width + x) Channels + c. w has s.Taps()
// rows and s.Filters columns: the weight of filter f for offset (ky, kx), each
// 0 to 2, and channel c is in row (3 ky + kx) Channels + c, column f. The rows
// of y, dy and arg are the n pooled images of s.Out() elements, again with the
// filters innermost.
type Convolution interface {
	// Conv computes one layer for each image,
	//
	//	a(i, j, f) = b_f + sum_ky,kx,c x(i+ky-1, j+kx-1, c) w(ky, kx, c, f)
	//	y(i, j, f) = max(0, a(2i, 2j, f), a(2i, 2j+1, f), a(2i+1, 2j, f), a(2i+1, 2j+1, f))
	//
	// with x zero outside the image, and writes to arg which of the four is the
	// largest: 0 to 3 in the order above, the first of equal ones, or [NoArg] where
	// none is above 0. arg may be the zero Matrix when no gradient is wanted. b has
	// s.Filters elements. The result for a window with a NaN is unspecified. y and
	// arg are overwritten; n may be 0.
	Conv(s ConvShape, x, w Matrix, b Vector, y, arg Matrix) error
	// ConvGrad computes the gradients of a function of y whose gradient is dy.
	// With da zero except for da(position that arg(i, j, f) names) = dy(i, j, f):
	//
	//	dw(ky, kx, c, f) = sum over images and i, j of x(i+ky-1, j+kx-1, c) da(i, j, f)
	//	db_f             = sum over images and i, j of da(i, j, f)
	//	dx(i, j, c)      = sum_ky,kx,f da(i-ky+1, j-kx+1, f) w(ky, kx, c, f)
	//
	// ReLU has gradient 0 at 0. dw, db and dx are overwritten, dw and db with
	// zeros when n is 0; dx may be the zero Matrix when it is not wanted, as for
	// the first layer. An element of arg above 4 counts as [NoArg].
	ConvGrad(s ConvShape, x, w, arg, dy, dx, dw Matrix, db Vector) error
}
