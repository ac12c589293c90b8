package pipeline

import (
	"fmt"
	"math"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/dataset"
)

// Conv holds the settings of the convolutional representation: for each of Channels a 3 by 3 convolution with bias,
// ReLU and 2 by 2 maximum pooling, then a fully connected layer with bias to the K features. It is trained by minibatch
// Adam on the squared loss of the sources.
type Conv struct {
	// Channels lists the output channels of the layers, of which there are 1 to 4.
	Channels []int `json:"channels"`
	// Passes is the number of passes over the training samples in an epoch, PassesAuto for 8, or for the fewest that see
	// samples leastSeen times, at most 80, where these are more. Batch is the number of samples in a step.
	// Samples left over at the end of a pass wait for the next pass, which shuffles anew.
	Passes int `json:"passes"`
	Batch  int `json:"batch"`
	// Rate is the largest learning rate of the one-cycle schedule, Decay the decoupled weight decay.
	Rate  float64 `json:"rate"`
	Decay float64 `json:"decay"`
	// Validation is the fraction of each source's samples that the fit sets aside, 0 for none. The parameters with the
	// smallest loss on them are kept, and Patience passes without a smaller one end the fit. While the rate is high, a
	// warm start is worse than it began, which must not end the fit.
	Validation float64 `json:"validation"`
	Patience   int     `json:"patience"`
	// WarmStart starts an epoch from the mean of the parameters at the end of the epoch before and of random ones (shrink
	// and perturb: Ash and Adams 2020). The former alone, fitted to few samples, lead to a network that errs more.
	WarmStart bool `json:"warm_start"`
}

// DefaultConv returns the settings of a preset for the convolutional
// representation. As for the linear class, "paper" starts every epoch afresh.
func DefaultConv(preset string) *Conv {
	return &Conv{
		Channels: []int{16, 32}, Passes: PassesAuto, Batch: 256, Rate: 5e-3, Decay: 1e-2,
		Validation: 0.05, Patience: 8, WarmStart: preset != PresetPaper,
	}
}

// PassesAuto lets the number of passes of a [Conv] follow the number of samples.
const PassesAuto = -1

const (
	leastSeen       = 40_000
	maxConvLayers   = 4
	maxConvChannels = 1024
	maxConvBatch    = 1 << 16
)

func (c *Conv) validate() error {
	if n := len(c.Channels); n < 1 || n > maxConvLayers {
		return fmt.Errorf("conv: %d layers, expected 1 to %d", n, maxConvLayers)
	}
	for _, n := range c.Channels {
		if n < 1 || n > maxConvChannels {
			return fmt.Errorf("conv: %d channels, expected 1 to %d", n, maxConvChannels)
		}
	}
	switch {
	case c.Passes < 1 && c.Passes != PassesAuto:
		return fmt.Errorf("conv: %d passes, expected at least 1", c.Passes)
	case c.Batch < 1 || c.Batch > maxConvBatch:
		return fmt.Errorf("conv: a batch of %d, expected 1 to %d", c.Batch, maxConvBatch)
	case !(c.Rate > 0) || math.IsInf(c.Rate, 1):
		return fmt.Errorf("conv: rate is %g, expected a positive number", c.Rate)
	case !(c.Decay >= 0) || math.IsInf(c.Decay, 1):
		return fmt.Errorf("conv: decay is %g, expected a number from 0 on", c.Decay)
	case !(c.Validation >= 0 && c.Validation <= 0.5):
		return fmt.Errorf("conv: validation is %g, expected 0 to 0.5", c.Validation)
	case c.Patience < 1:
		return fmt.Errorf("conv: patience is %d, expected at least 1", c.Patience)
	}
	return nil
}

// shapes returns the shapes of the layers for the images of a set, or an error where these are not of one size.
func (c *Conv) shapes(set *dataset.Set) ([]backend.ConvShape, error) {
	h, w := set.Pools[0].Height, set.Pools[0].Width
	for _, p := range set.Pools {
		if p.Height == 0 {
			return nil, fmt.Errorf("representation %s needs images: the rows of pool %s are %d numbers, expected an array of images by height "+
				"by width, or by height by width by 1 to 4 channels (numpy's transpose(0, 2, 3, 1) puts channels last)", ClassConv, p.Name, p.Cols)
		}
		if p.Height != h || p.Width != w {
			return nil, fmt.Errorf("representation %s needs images of one size: pool %s has %d by %d, pool %s %d by %d", ClassConv,
				set.Pools[0].Name, h, w, p.Name, p.Height, p.Width)
		}
	}
	return c.layers(h, w, set.Pools[0].Channels())
}

// layers returns the shapes of the layers for images of height by width by channels.
func (c *Conv) layers(height, width, channels int) ([]backend.ConvShape, error) {
	h, w := height, width
	var shapes []backend.ConvShape
	for i, filters := range c.Channels {
		s := backend.ConvShape{Height: h, Width: w, Channels: channels, Filters: filters}
		if err := s.Validate(); err != nil {
			return nil, fmt.Errorf("representation %s: layer %d of images of %d by %d: %w", ClassConv, i+1, height, width, err)
		}
		shapes = append(shapes, s)
		h, w, channels = h/2, w/2, filters
	}
	return shapes, nil
}

// fewestForConv is the number of source samples from which a network was seen to err less than the linear class, half of
// it where sources are pools, each of whose samples has labels of several outputs: docs/convolution.md.
const fewestForConv = 5000

// AdvisesConv reports whether a network probably errs less here than the linear class: whether the linear class is in
// use, with intercepts, enough samples of the sources were drawn, and the data are images with classes that a network
// supports.
func (p *Problem) AdvisesConv(samples int) bool {
	c := &p.Config
	if c.Sources == SourcesPools {
		samples *= 2
	}
	return samples >= fewestForConv && c.Representation == ClassLinear && c.Intercept && p.Set.Binary &&
		DefaultConv(c.Preset).check(p.Set, c.K) == nil
}

// check returns an error for data that are not images of one size or come from a linear model, and for k above the
// number of outputs of the last convolution.
func (c *Conv) check(set *dataset.Set, k int) error {
	if set.Model != nil {
		return fmt.Errorf("representation %s needs images: %s comes from a linear model", ClassConv, set.Title())
	}
	shapes, err := c.shapes(set)
	if err != nil {
		return err
	}
	if flat := shapes[len(shapes)-1].Out(); k > flat {
		return fmt.Errorf("k is %d, expected at most the %d outputs of the last convolution", k, flat)
	}
	return nil
}

// split divides samples, counts[m] of source m after those of the sources before, into training and validation samples.
// The part of a sample depends only on its source and its place in the source's order of draws, so that it stays the
// same from epoch to epoch.
func (c *Conv) split(counts []int) (train, validation []int32) {
	every := 0
	if c.Validation > 0 {
		every = max(2, int(math.Round(1/c.Validation)))
	}
	at := int32(0)
	for m, n := range counts {
		for i := range n {
			if every > 0 && (i+m)%every == every-1 {
				validation = append(validation, at)
			} else {
				train = append(train, at)
			}
			at++
		}
	}
	return train, validation
}

// passes returns the number of passes over n training samples.
func (c *Conv) passes(n int) int {
	if c.Passes != PassesAuto {
		return c.Passes
	}
	return min(max(8, (leastSeen+n-1)/n), 80)
}

// oneCycle returns the learning rate of step s of n, counted from 0: from 1/25 of the largest up along half a cosine
// wave for the first 30 % of the steps, then down to 1/250,000 of it (Smith and Topin 2019; as in PyTorch's
// OneCycleLR).
func oneCycle(largest float64, s, n int) float64 {
	const rise, first, last = 0.3, 1. / 25, 1. / 250_000
	top := rise*float64(n) - 1
	wave := func(from, to, part float64) float64 { return to + (from-to)/2*(1+math.Cos(math.Pi*part)) }
	if t := float64(s); t <= top {
		return largest * wave(first, 1, t/top)
	} else if end := float64(n - 1); end > top {
		return largest * wave(1, last, (t-top)/(end-top))
	}
	return largest
}
