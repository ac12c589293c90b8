package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/amtrl/amtrl/dataset"
)

// What is subtracted from the features of a row where there are intercepts.
const (
	// CentringGlobal is one mu for all rows, the mean of the samples of a method's first round.
	CentringGlobal = "global"
	// CentringSource is a mu for each pool, the mean of its rows, labelled or not, so that no result depends on where
	// the rows of a source lie: what is shared between sources is how labels change with features within them.
	CentringSource = "source"
	// CentringAuto is, for sources that are pools of a user's own rows, CentringGlobal where the labels of a method's
	// first round change with features between sources as they do within sources, else CentringSource. For other data
	// it is CentringGlobal.
	CentringAuto = "auto"
)

// Centrings lists the values that Config.Centring can have.
func Centrings() []string { return []string{CentringGlobal, CentringSource, CentringAuto} }

// canCentre reports whether the settings, which must be complete but for Centring, and the data leave CentringAuto open.
func (c *Config) canCentre(set *dataset.Set) bool {
	named := slices.ContainsFunc(set.Tasks, func(t dataset.Task) bool { return t.Output.Name != "" })
	return named && c.Sources == SourcesPools && c.Representation == ClassLinear && c.Intercept && set.Model == nil
}

// centreRows is the largest number of rows of a pool that its centre is computed from, at equal distances.
const centreRows = 4096

// shifted reads the rows of a set less the centre of their pool. No centres stand for 0.
type shifted struct {
	set     *dataset.Set
	centres [][]float32
}

// readRow writes the features of a row of a pool to dst.
func (s shifted) readRow(pool, i int, dst []float32) {
	readRow(s.set.Pools[pool], i, dst)
	if s.centres != nil {
		for j, c := range s.centres[pool] {
			dst[j] -= c
		}
	}
}

// readRow is that of [shifted], with the centres of the problem.
func (p *Problem) readRow(pool, i int, dst []float32) { p.shifted().readRow(pool, i, dst) }

func (p *Problem) shifted() shifted { return shifted{p.Set, p.centres} }

// poolCentres returns the centre of each pool, d numbers, for CentringSource. The centre of a pool of n rows with mean
// x is its best linear prediction from x, if the true means of the pools vary around one mean mu:
//
//	mu + n r/(1 + n r) (x - mu),
//
// where r is the ratio of the variances between and within pools, both summed over features, each in units of its
// spread where scaling is ScalingFeature. So the mean of a few rows does not count for more than it tells. Rows of the
// pool target that are listed in test do not count. It returns nil where r is 0 or unknown.
func poolCentres(set *dataset.Set, target int, test []int32, scaling string) [][]float32 {
	d, pools := set.Pools[0].Cols, len(set.Pools)
	means, counts, within := make([][]float64, pools), make([]float64, pools), make([]float64, d)
	row, sum, square, free, some, inverse := make([]float32, d), make([]float64, d), make([]float64, d), 0.0, 0.0, 0.0
	mu := make([]float64, d)
	for m, pool := range set.Pools {
		rows := pool.Rows
		var left []int32
		if m == target && len(test) > 0 {
			is := listed(rows, test)
			for i := range rows {
				if !is[i] {
					left = append(left, int32(i))
				}
			}
			rows = len(left)
		}
		clear(sum)
		clear(square)
		first, n := make([]float32, d), min(rows, centreRows)
		for k := range n {
			i := k * rows / n
			if left != nil {
				i = int(left[i])
			}
			if readRow(pool, i, row); k == 0 {
				copy(first, row)
			}
			for j, v := range row {
				e := float64(v) - float64(first[j]) // so that squares lose no digits far from 0
				sum[j] += e
				square[j] += e * e
			}
		}
		if counts[m] = float64(n); n == 0 {
			continue
		}
		means[m] = make([]float64, d)
		for j := range means[m] {
			means[m][j] = float64(first[j]) + sum[j]/counts[m]
			within[j] += math.Max(0, square[j]-sum[j]*sum[j]/counts[m])
			mu[j] += means[m][j]
		}
		free, some, inverse = free+counts[m]-1, some+1, inverse+1/counts[m]
	}
	if some < 2 || free < 1 {
		return nil
	}
	between, rest := 0.0, 0.0
	for j := range mu {
		mu[j] /= some
		w, b := within[j]/free, 0.0
		for _, mean := range means {
			if mean != nil {
				b += (mean[j] - mu[j]) * (mean[j] - mu[j]) / (some - 1)
			}
		}
		b -= w * inverse / some
		unit := 1.0
		if scaling == ScalingFeature {
			unit = math.Max(b, 0) + w
		}
		if unit > 0 {
			between, rest = between+b/unit, rest+w/unit
		}
	}
	r := between / rest
	if !(r > 0) || math.IsInf(r, 1) {
		return nil
	}
	out := make([][]float32, pools)
	for m, n := range counts {
		out[m] = make([]float32, d)
		for j := range out[m] {
			v := mu[j]
			if n > 0 {
				v += n * r / (1 + n*r) * (means[m][j] - mu[j])
			}
			out[m][j] = float32(v)
		}
	}
	return out
}

// addCentre sets representation.centre to the centre of the target's pool where the last round had it, so that the
// model is for rows as they are stored.
func (p *Problem) addCentre(model []Tensor, rounds []Epoch) {
	at := slices.IndexFunc(model, func(t Tensor) bool { return t.Name == "representation.centre" })
	if at >= 0 && rounds[len(rounds)-1].Centring == CentringSource {
		model[at].Data = slices.Clone(p.means[p.Target.Pool])
	}
}

func (c *Config) validateCentring() error {
	switch {
	case c.Centring != "" && !slices.Contains(Centrings(), c.Centring):
		return fmt.Errorf("centring: unknown %q: expected %s, %s or %s", c.Centring, CentringGlobal, CentringSource, CentringAuto)
	case c.Centring == CentringSource && c.Representation == ClassConv:
		return fmt.Errorf("centring %s is of representation %s", CentringSource, ClassLinear)
	}
	return nil
}
