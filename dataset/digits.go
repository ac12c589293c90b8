package dataset

import (
	"fmt"
	"runtime"

	"github.com/amtrl/amtrl/dataset/corrupt"
)

// MinDigits and MaxDigits bound the number of base images of [Digits]. MinDigits is one image of each digit. MaxDigits limits the memory
// that a mistyped number can ask for: sixteen corruptions of 784 bytes for each image.
const (
	MinDigits = 10
	MaxDigits = 100_000
)

// Digits makes the 160 one-against-rest tasks of MNIST-C without a download. It takes n base images from [RenderDigits], n from MinDigits
// to MaxDigits, under each of the sixteen corruptions, with task names such as "glass_blur_2" and base images held out as by [FromImages].
// It uses up to threads goroutines, or as many as there are processors where threads is not positive; the result does not depend on
// threads.
func Digits(seed uint64, n, threads int) (*Set, error) {
	const name = "embedded digits"
	if n < MinDigits || n > MaxDigits {
		return nil, fmt.Errorf("%s: expected %d to %d base images, found %d", name, MinDigits, MaxDigits, n)
	}
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	base, labels, err := renderDigits(n, seed, threads)
	if err != nil {
		return nil, err
	}
	corruptions := corrupt.Names()
	images := make([][]uint8, len(corruptions))
	for i, c := range corruptions {
		if images[i], err = corrupt.Generate(c, base, seed, threads); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return FromImages(name, corruptions, images, labels)
}

// RenderDigits draws n grey images of 28 by 28 pixels of the digits 0 to 9, white (255) on black, and their labels. Image i is
// images[784i:784(i+1)], row-major. The digits come from the Go fonts with a random face, scale, rotation, shear, bend and stroke weight (2
// to 4 pixels). As in MNIST, they fit a box of about 20 by 20 pixels and are centred by their centre of mass, here to within about a pixel.
// The labels are balanced (each occurs n/10 times, rounded up or down) and in random order. Equal arguments give equal bytes.
func RenderDigits(n int, seed uint64) (images, labels []uint8, err error) {
	return renderDigits(n, seed, 0)
}

// DigitLabels returns the labels of RenderDigits without drawing anything.
func DigitLabels(n int, seed uint64) ([]uint8, error) {
	if n < 1 || n > MaxDigits {
		return nil, fmt.Errorf("embedded digits: expected 1 to %d images, found %d", MaxDigits, n)
	}
	labels := make([]uint8, n)
	for i := range labels {
		labels[i] = uint8(i % 10)
	}
	stream(seed, digitOrder, 0, 0).Shuffle(n, func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	return labels, nil
}

func renderDigits(n int, seed uint64, threads int) (images, labels []uint8, err error) {
	if labels, err = DigitLabels(n, seed); err != nil {
		return nil, nil, err
	}
	glyphs, err := digitGlyphs()
	if err != nil {
		return nil, nil, fmt.Errorf("embedded digits: %w", err)
	}
	images = make([]uint8, n*digitPixels)
	inParallel(n, threads, func(i int) {
		s := newStyle(stream(seed, digitStyle, i, 0), glyphs, int(labels[i]))
		s.paint(images[i*digitPixels : (i+1)*digitPixels])
	})
	return images, labels, nil
}
