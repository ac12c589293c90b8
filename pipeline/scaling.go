package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// The units in which features are measured.
const (
	// ScalingGlobal is one s for all features, the root of their mean variance: for
	// embeddings and pixels, whose features have one unit.
	ScalingGlobal = "global"
	// ScalingFeature is an s for each feature, its standard deviation, and 1 for one
	// that is constant: for tables, whose columns differ in their units.
	ScalingFeature = "feature"
	// ScalingNone is s = 1: features are centred alone.
	ScalingNone = "none"
	// ScalingAuto is ScalingFeature or ScalingGlobal, whichever the data call for.
	ScalingAuto = "auto"
)

// Scalings lists the values that Config.Scaling can have.
func Scalings() []string {
	return []string{ScalingGlobal, ScalingFeature, ScalingNone, ScalingAuto}
}

const (
	// scalingRows is about how many rows of a set decide its scaling; each pool contributes four or more, if it has
	// them.
	scalingRows = 2000
	// maxRangeRatio is the ratio of the root mean square of the ranges to their lower quartile above which features
	// differ in their units.
	maxRangeRatio = 5
)

// scalingFor decides ScalingAuto and says why. It compares the ranges (largest less smallest value) of the features
// that vary. Ranges tell units apart better than standard deviations do: a pixel at the border, a rare word and a rare
// category vary little and have the range of the others. The rows that it reads are at equal distances in each pool,
// and so are the same for all targets, draws and labels.
func (c *Config) scalingFor(set *dataset.Set) (scaling, why string) {
	if c.Representation == ClassConv || slices.ContainsFunc(set.Pools, func(p *dataset.Pool) bool { return p.Height > 0 }) {
		return ScalingGlobal, "rows are images, whose pixels have one unit"
	}
	if c := set.Columns; c != nil && len(c.Spread) > 0 {
		return ScalingGlobal, "features have one unit since they were imported"
	}
	ranges := featureRanges(set)
	if len(ranges) == 0 {
		return ScalingGlobal, "no feature varies"
	}
	square := 0.0
	for _, r := range ranges {
		square += r * r / float64(len(ranges))
	}
	slices.Sort(ranges)
	least, most := ranges[0], ranges[len(ranges)-1]
	if math.Sqrt(square) > maxRangeRatio*ranges[len(ranges)/4] {
		return ScalingFeature, fmt.Sprintf("features differ in their units: their ranges go from %.3g to %.3g", least, most)
	}
	return ScalingGlobal, fmt.Sprintf("features have one unit: their ranges go from %.3g to %.3g", least, most)
}

// featureRanges returns the ranges of the features that vary.
func featureRanges(set *dataset.Set) []float64 {
	var row, low, high []float32
	each := max(4, scalingRows/max(1, len(set.Pools)))
	for _, p := range set.Pools {
		n := min(p.Rows, each)
		row = slices.Grow(row[:0], p.Cols)[:p.Cols]
		for i := range n {
			p.ReadRow(i*p.Rows/n, row)
			if low == nil {
				low, high = slices.Clone(row), slices.Clone(row)
			}
			for j, v := range row {
				low[j], high[j] = min(low[j], v), max(high[j], v)
			}
		}
	}
	var ranges []float64
	for j := range low {
		if r := float64(high[j]) - float64(low[j]); r > 0 {
			ranges = append(ranges, r)
		}
	}
	return ranges
}
