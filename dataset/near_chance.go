package dataset

import (
	"math"
	"slices"
)

const (
	// nearChance is the largest part of the sets of near copies that may be so by chance.
	nearChance = 1e-3
	// fewestRatios is the least number of ratios that a dimension is estimated from, ratiosPart the least part of them, and dimensionErrors
	// the number of standard errors that it is lessened by.
	fewestRatios, ratiosPart, dimensionErrors = 8, 0.25, 2
)

// unlikely returns those of some isolated sets, sorted by their part, that chance does not explain.
//
// Where the density of rows hardly changes within the distance to the second nearest row, the ratio mu of the distances to the second and
// to the nearest row exceeds x with probability x^-D, whatever the density is, in D dimensions (Facco, d'Errico, Rodriguez and Laio 2017,
// from the law that the number of pairs nearer than r goes as r^D of Grassberger and Procaccia 1983). So of n rows n x^-D have by chance a
// neighbour that is x times nearer than anything else. D is estimated from the rows themselves, where each set is one, since copies would
// decide what their nearest row is ([distances.dimension]). The sets with the x of the k-th largest or more are unlikely where n x^-D is at
// most nearChance k, for the largest such k (Benjamini and Hochberg 1995).
func (d *distances) unlikely(sets []isolated) []isolated {
	one := upTo[int](d.n)
	for _, s := range sets {
		first := slices.Min(s.rows)
		for _, i := range s.rows {
			one[i] = first
		}
	}
	dimension, k := d.dimension(one), 0
	for i, s := range sets {
		if float64(d.n)*math.Pow(s.part(), dimension) <= nearChance*float64(i+1) {
			k = i + 1
		}
	}
	return sets[:k]
}

// dimension returns a cautious estimate of the dimension D of the rows. Rows with the same number in one count as one row, as far from
// another as the nearest of them. The estimate is no more than that of any upper part of the ratios mu that has a quarter of them: where
// the dimension changes from place to place, the largest ratios tell of the lowest.
//
// l = log mu is exponential with rate D (Facco et al. 2017). Only l below log nearTimes count, since others are of isolated rows. In the
// upper part of the k largest, l less the largest of the others is exponential with the same rate (Hill 1975). Each estimate is lessened by
// dimensionErrors of its standard errors, D/sqrt(k). It is 0 where there are too few rows to tell.
func (d *distances) dimension(one []int) float64 {
	var logs []float64
	most, to := math.Log(nearTimes), make([]float64, d.n) // the distances to the rows by their numbers
	rows := make([][]int, d.n)
	for i, first := range one {
		rows[first] = append(rows[first], i)
	}
	for first, of := range rows {
		if len(of) == 0 {
			continue
		}
		for j := range to {
			to[j] = math.Inf(1)
		}
		for _, i := range of {
			for j, other := range one {
				to[other] = min(to[other], d.between(i, j))
			}
		}
		nearest, second := math.Inf(1), math.Inf(1)
		for j, r := range to {
			if j != first {
				nearest, second = min(nearest, r), min(second, max(nearest, r))
			}
		}
		if l := math.Log(second / nearest); l < most {
			logs = append(logs, l)
		}
	}
	slices.Sort(logs)
	slices.Reverse(logs)
	n, sum, least := len(logs), 0., float64(d.columns)
	if n < fewestRatios {
		return 0
	}
	for i, l := range logs {
		k, above := i+1, 0.
		if sum += l; k < max(fewestRatios, int(math.Ceil(ratiosPart*float64(n)))) {
			continue
		}
		if k < n {
			above = logs[k]
		}
		rate := truncatedRate(sum/float64(k)-above, most-above)
		least = min(least, rate*max(0, 1-dimensionErrors/math.Sqrt(float64(k))))
	}
	return least
}

// truncatedRate returns the rate D of an exponential distribution of which only values below most are seen, from their mean:
// mean = 1/D - most/(exp(D most) - 1). It is 0 where the mean is that of values which are spread evenly, or more.
func truncatedRate(mean, most float64) float64 {
	if mean <= 0 {
		return math.Inf(1)
	}
	if 2*mean >= most {
		return 0
	}
	low, high := 0., 1/mean // the mean of all values, seen or not, is 1/D
	for range 60 {
		if rate := (low + high) / 2; 1/rate-most/math.Expm1(rate*most) > mean {
			low = rate
		} else {
			high = rate
		}
	}
	return low
}
