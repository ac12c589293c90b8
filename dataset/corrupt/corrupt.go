// Package corrupt makes the sixteen corruptions of MNIST-C from 28 by 28 grey
// images: N. Mu and J. Gilmer, "MNIST-C: A Robustness Benchmark for Computer
// Vision", 2019 (arXiv:1906.02337).
//
// An image is 784 bytes, row-major, 0 black and 255 white. Every result is
// clipped to [0, 255] and truncated, as in the published data. Five corruptions
// are functions of the image alone; the others draw from the stream they are
// given, and agree with the published generator in distribution.
package corrupt

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

const (
	side   = 28
	pixels = side * side
)

// image is one 28 by 28 image, field the same grid in floating point.
type (
	image [pixels]uint8
	field [pixels]float64
)

// corruption is a named corruption. apply writes every pixel of dst, which is distinct from src; it reads rng only where random is set.
type corruption struct {
	name   string
	random bool
	apply  func(dst, src *image, rng *rand.Rand)
}

// corruptions are in the published order.
var corruptions = [...]corruption{
	{"identity", false, identity},
	{"shot_noise", true, shotNoise},
	{"impulse_noise", true, impulseNoise},
	{"glass_blur", true, glassBlur},
	{"motion_blur", true, motionBlur},
	{"shear", true, shear},
	{"scale", false, scale},
	{"rotate", true, rotate},
	{"brightness", false, brightness},
	{"translate", true, translate},
	{"stripe", false, stripe},
	{"fog", true, fog},
	{"spatter", true, spatter},
	{"dotted_line", true, dottedLine},
	{"zigzag", true, zigzag},
	{"canny_edges", false, cannyEdges},
}

// Names returns the names of the sixteen corruptions in the published order.
func Names() []string {
	names := make([]string, len(corruptions))
	for i, c := range corruptions {
		names[i] = c.name
	}
	return names
}

// Apply writes the named corruption of the image src to dst, both 784 bytes;
// they may overlap. rng may be nil for the corruptions without randomness:
// identity, scale, brightness, stripe and canny_edges. On an error dst is
// untouched.
func Apply(dst, src []uint8, name string, rng *rand.Rand) error {
	c, err := lookup(name)
	if err != nil {
		return err
	}
	if len(src) != pixels {
		return fmt.Errorf("corrupt: src has %d bytes: expected %d, one %d by %d image", len(src), pixels, side, side)
	}
	if len(dst) != pixels {
		return fmt.Errorf("corrupt: dst has %d bytes: expected %d, one %d by %d image", len(dst), pixels, side, side)
	}
	if c.random && rng == nil {
		return fmt.Errorf("corrupt: %s draws at random: expected a random stream, found nil", name)
	}
	in := image(src)
	c.apply((*image)(dst), &in, rng)
	return nil
}

func lookup(name string) (corruption, error) {
	for _, c := range corruptions {
		if c.name == name {
			return c, nil
		}
	}
	return corruption{}, fmt.Errorf("corrupt: no corruption %q: expected one of %s", name, strings.Join(Names(), ", "))
}

// grey clips v to [0, 255] and truncates it.
func grey(v float64) uint8 {
	return uint8(min(max(v, 0), 255))
}
