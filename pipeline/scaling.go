package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// What features are measured in.
const (
	// ScalingGlobal is one s for all features, the root of their mean variance: for
	// embeddings and pixels, whose features have one unit.
	ScalingGlobal = "global"
	// ScalingFeature is an s for each feature, its standard deviation, and 1 for one
	// that is constant: for tables, whose columns differ in their units.
	ScalingFeature = "feature"
	// ScalingNone is s = 1: features are centred alone.
	ScalingNone = "none"
	// ScalingAuto is ScalingFeature or ScalingGlobal, as the data call for.
	ScalingAuto = "auto"
)

// Scalings lists what Config.Scaling can be.
func Scalings() []string {
	return []string{ScalingGlobal, ScalingFeature, ScalingNone, ScalingAuto}
}

const (
	// scalingRows is about how many rows of a set decide; each pool has four at least.
	scalingRows = 2000
	// unlikeRanges is how many times the range of a quarter of the features their root
	// mean square is from where on they differ in their units.
	unlikeRanges = 5
)

// scalingFor decides ScalingAuto and says why, by the range (the largest less the
// smallest number) of each feature, constant ones left out. Ranges tell units apart
// better than standard deviations do: a pixel at the border, a rare word and a rare
// category vary little and have the range of the others. The rows are the same for all
// targets, draws and labels: those at equal distances in each pool.
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
	if math.Sqrt(square) > unlikeRanges*ranges[len(ranges)/4] {
		return ScalingFeature, fmt.Sprintf("features differ in their units: their ranges go from %.3g to %.3g", least, most)
	}
	return ScalingGlobal, fmt.Sprintf("features have one unit: their ranges go from %.3g to %.3g", least, most)
}

// featureRanges are the ranges of the features that vary.
func featureRanges(set *dataset.Set) []float64 {
	var row, low, high []float32
	each := max(4, scalingRows/max(1, len(set.Pools)))
	for _, p := range set.Pools {
		n := min(p.Rows, each)
		row = slices.Grow(row[:0], p.Cols)[:p.Cols]
		for i := range n {
			readRow(p, i*p.Rows/n, row)
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
