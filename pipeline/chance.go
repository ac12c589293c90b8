package pipeline

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// chance is the distribution of the squared correlation r^2 of n unrelated pairs. Given its mean q it is taken to be
// Beta(1/2, (1/q - 1)/2), the distribution for a vector and a random direction in 1/q dimensions. For n unrelated pairs
// q is 1/(n - 1), since centring removes the direction of the constant.
type chance struct {
	mean, n float64
}

// beyond returns the mean of (m - least)+ for the match m = ((r^2 - 1/n)+)^2 of n unrelated pairs. With
// a = 1/n + least^1/2 and the moments of the Beta distribution, E r^2 = q and E r^4 = 3 q^2 / (1 + 2 q), it is
//
//	E r^4 P_2(a) - 2 q P_1(a) / n + (1/n^2 - least) P_0(a),
//
// where P_k(a) is the probability that Beta(1/2 + k, (1/q - 1)/2) exceeds a.
func (c chance) beyond(least float64) float64 {
	from := 1/c.n + math.Sqrt(least)
	if !(c.mean > 0) || from >= 1 {
		return 0
	}
	if c.mean >= 1 {
		return math.Pow(1-1/c.n, 2) - least
	}
	over := func(k float64) float64 { return 1 - mathext.RegIncBeta(0.5+k, (1/c.mean-1)/2, from) }
	return math.Max(0, 3*c.mean*c.mean/(1+2*c.mean)*over(2)-2*c.mean/c.n*over(1)+(1/c.n/c.n-least)*over(0))
}
