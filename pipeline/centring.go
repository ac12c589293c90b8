package pipeline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/dataset"
)

// What is subtracted from the features of a row where there are intercepts.
const (
	// CentringGlobal is one mu for all rows, the mean of the samples of a method's first round.
	CentringGlobal = "global"
	// CentringSource is a mu for each pool, the mean of its rows, labelled or not, except those of the target that are held out, so
	// that no result depends on where the rows of a source lie: what is shared between sources is how labels change with
	// features within them.
	CentringSource = "source"
	// CentringAuto is, for sources that are pools of a user's own rows, CentringSource where these lie apart and the
	// labels of the first round do not change with features between sources as they do within sources. Else it is
	// CentringGlobal.
	CentringAuto = "auto"
)

// Centrings lists the values that Config.Centring can have.
func Centrings() []string { return []string{CentringGlobal, CentringSource, CentringAuto} }

// namesOutputs reports whether a set says of which columns its labels are, as a user's own data do.
func namesOutputs(set *dataset.Set) bool {
	return slices.ContainsFunc(set.Tasks, func(t dataset.Task) bool { return t.Output.Name != "" })
}

// canCentre reports whether the settings, which must be complete but for Centring, and the data leave CentringAuto open.
func (c *Config) canCentre(set *dataset.Set) bool {
	return namesOutputs(set) && c.Sources == SourcesPools && c.Representation == ClassLinear && c.Intercept && set.Model == nil
}

// centreRows is the largest number of rows of a pool that its centre is computed from.
const centreRows = 4096

// shifted reads the rows of a set less the centre of their pool. No centres stand for 0.
type shifted struct {
	set     *dataset.Set
	centres [][]float32
}

// readRow writes the features of a row of a pool to dst.
func (s shifted) readRow(pool, i int, dst []float32) {
	s.set.Pools[pool].ReadRow(i, dst)
	if s.centres != nil {
		for j, c := range s.centres[pool] {
			dst[j] -= c
		}
	}
}

// rows returns rows of a pool, n by d.
func (s shifted) rows(pool int, rows []int32) *mat.Dense {
	d := s.set.Pools[0].Cols
	x, row := mat.NewDense(len(rows), d, nil), make([]float32, d)
	for i, r := range rows {
		s.readRow(pool, int(r), row)
		to := x.RawRowView(i)
		for j, v := range row {
			to[j] = float64(v)
		}
	}
	return x
}

// readRow is that of [shifted], with the centres of the problem.
func (p *Problem) readRow(pool, i int, dst []float32) {
	if p.phi != nil {
		p.phi.read(poolRow{pool, i}, dst)
		return
	}
	p.shifted().readRow(pool, i, dst)
}

func (p *Problem) shifted() shifted { return shifted{p.Set, p.centres} }

// leastApart is the least ratio r of the variances of features between and within pools at which pools lie apart. Less changes next to
// nothing.
const leastApart = 0.02

// poolCentres returns the centre of each pool, d numbers, and whether the pools lie apart. The centre of a pool of n rows with mean x is
// its best linear prediction from x, if the true means of the pools vary around one mean mu:
//
//	mu + n r/(1 + n r) (x - mu),
//
// where r is the ratio of the variances between and within pools, both summed over features, each in units of its spread where scaling is
// ScalingFeature. So the mean of a few rows does not count for more than it tells. The target's rows that its tasks hold out do not count.
// momentsOf returns the moments of a pool without some of its rows.
func poolCentres(set *dataset.Set, target Source, scaling string, momentsOf func(pool int, without []int32) poolMoments) (
	centres [][]float32, apart bool) {
	d, pools := set.Pools[0].Cols, len(set.Pools)
	means, counts, within := make([][]float64, pools), make([]float64, pools), make([]float64, d)
	mu, free, some, inverse := make([]float64, d), 0.0, 0.0, 0.0
	for m := range set.Pools {
		var test []int32
		if m == target.Pool {
			test = target.testRows(set)
		}
		of := momentsOf(m, test)
		if means[m], counts[m] = of.mean, float64(of.rows); of.rows == 0 {
			continue
		}
		for j, v := range of.mean {
			mu[j] += v
			within[j] += of.within[j]
		}
		free, some, inverse = free+counts[m]-1, some+1, inverse+1/counts[m]
	}
	between, rest := 0.0, 0.0
	for j := range mu {
		mu[j] /= math.Max(1, some)
		w, b := within[j]/math.Max(1, free), 0.0
		for _, mean := range means {
			if mean != nil {
				b += (mean[j] - mu[j]) * (mean[j] - mu[j]) / math.Max(1, some-1)
			}
		}
		b -= w * inverse / math.Max(1, some)
		unit := 1.0
		if scaling == ScalingFeature {
			unit = math.Max(b, 0) + w
		}
		if unit > 0 {
			between, rest = between+b/unit, rest+w/unit
		}
	}
	r := 0.0
	if between > 0 && rest > 0 {
		r = between / rest
	}
	centres = make([][]float32, pools)
	for m, n := range counts {
		centres[m] = make([]float32, d)
		for j := range centres[m] {
			v := mu[j]
			if n > 0 {
				v += n * r / (1 + n*r) * (means[m][j] - mu[j])
			}
			centres[m][j] = float32(v)
		}
	}
	return centres, r >= leastApart
}

// centreRowsOf returns the rows of a pool that its centre is computed from, without those in test: all, or one at a random place in each of
// centreRows parts of them.
func centreRowsOf(pool *dataset.Pool, test []int32) []int32 {
	n, row := pool.Rows, func(i int) int32 { return int32(i) }
	if len(test) > 0 {
		var rows []int32
		is := listed(n, test)
		for i := range n {
			if !is[i] {
				rows = append(rows, int32(i))
			}
		}
		n, row = len(rows), func(i int) int32 { return rows[i] }
	}
	parts := min(n, centreRows)
	some, rng := make([]int32, parts), stream(0, "centre", pool.Name)
	for k := range some {
		lo, hi := k*n/parts, (k+1)*n/parts
		some[k] = row(lo + rng.IntN(hi-lo))
	}
	return some
}

// poolMoments holds the mean of a number of rows of a pool, and the sum of their squared distances from it, by feature.
type poolMoments struct {
	rows         int
	mean, within []float64
}

// momentsOf computes the moments of the rows of centreRowsOf.
func momentsOf(pool *dataset.Pool, without []int32) poolMoments {
	rows, d := centreRowsOf(pool, without), pool.Cols
	if len(rows) == 0 {
		return poolMoments{}
	}
	first, row, sum, square := make([]float32, d), make([]float32, d), make([]float64, d), make([]float64, d)
	pool.ReadRow(int(rows[0]), first)
	for _, i := range rows {
		pool.ReadRow(int(i), row)
		for j, v := range row {
			e := float64(v) - float64(first[j]) // so that squares lose no digits far from 0
			sum[j] += e
			square[j] += e * e
		}
	}
	of := poolMoments{len(rows), make([]float64, d), make([]float64, d)}
	for j := range d {
		of.mean[j] = float64(first[j]) + sum[j]/float64(len(rows))
		of.within[j] = math.Max(0, square[j]-sum[j]*sum[j]/float64(len(rows)))
	}
	return of
}

// addCentre sets representation.centre to the centre of the target's pool where the last round had it, so that the
// model is for rows as they are stored.
func (p *Problem) addCentre(model []Tensor, rounds []Epoch) {
	at := slices.IndexFunc(model, func(t Tensor) bool { return t.Name == "representation.centre" })
	if at >= 0 && len(rounds) > 0 && rounds[len(rounds)-1].Centring == CentringSource {
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
