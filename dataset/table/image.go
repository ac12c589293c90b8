package table

import (
	"fmt"
	"slices"
	"strings"
)

// mostChannels is the number of channels that the images of cameras have, with transparency. Arrays of more are taken for
// vectors, such as the features that a network computes for parts of an image.
const mostChannels = 4

// ImageOf returns the height and the width of the images where rows of this shape are images of one channel, or of up to
// four that come last, else 0. A side of 1 is no image: some programs keep such a dimension in vectors.
func ImageOf(shape []int) (height, width int) {
	if len(shape) == 3 && shape[0] == 1 {
		shape = shape[1:]
	}
	if (len(shape) == 2 || len(shape) == 3 && shape[2] <= mostChannels) && min(shape[0], shape[1]) > 1 {
		return shape[0], shape[1]
	}
	return 0, 0
}

// IsImage reports whether rows of cols elements can be images of height by width, each pixel of as many channels.
func IsImage(cols, height, width int) bool {
	return height > 0 && width > 0 && cols%height == 0 && cols/height%width == 0
}

// Squeeze returns a shape without the sides of 1, which do not change what the elements of a row are.
func Squeeze(shape []int) []int {
	return slices.DeleteFunc(slices.Clone(shape), func(side int) bool { return side == 1 })
}

// Sides writes a shape as text, such as "28 by 28 by 3".
func Sides(shape []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", " by "), "[]")
}
