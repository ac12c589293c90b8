package pipeline

import (
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// addedWeights holds the sample weights that are compared, upwards as long as they make the left-out samples more likely.
var addedWeights = []float64{1, 3, 10, 30, 100, 300, 1000}

// slopeVariance is the prior variance of eta, the slope by which the logits of a regression on the rows of all sources are recalibrated to
// the target. It is at least 1: where sources differ, their rows together make the regression say less than is so for the target.
var slopeVariance = 0.1

// addedClasses adds samples of classes to a multinomial logistic regression, each as weight rows, and recalibrates its logits:
//
//	min over v, b, eta >= 1:  sum_i -log p(y_i | m + eta (z_i - m) + v_c'(x_i - x) + b_c)
//	                          + (sum_c (v_c'H v_c / weight + b_c^2 / s_c^2) + (eta - 1)^2 / slopeVariance)/2
//	s_c^2 = variance_c + weight x'H^-1 x
//
// where z, n by C, are the logits of the samples by the regression, m is their mean, and x that of the samples. (The variances of the
// intercepts and of the slope do not come from rows, so weight does not divide them.) Beside its own, b_c has the variance that v_c'x would
// have, but does not depend on v_c: where classes are more frequent in the target than in the sources, the samples would else tilt v
// towards x, and predictions far from the samples would be extreme.
type addedClasses struct {
	*addedSamples
	*regress.Multinomial
	mean []float64 // x, as rows of Z
}

// classes returns the regression that adds the samples with their classes to logits z. Its Root is empty where X H^-1 X' is not finite.
func (t *addedSamples) classes(of regress.Logits, z *mat.Dense, class []int, groups regress.Groups, by regress.Recalibration) addedClasses {
	x := mat.DenseCopyOf(t.x)
	mean := linalg.Centre(x)
	by.Lever = linalg.Dot(mean, mean)
	return addedClasses{t, regress.NewMultinomial(of, z, class, groups, regress.NewThinRoot(x), by), mean}
}

// predictor returns the weights of the features and the intercept of class c at a point, for w and b of the regression without the samples.
func (a addedClasses) predictor(at regress.MultinomialPoint, c int, w []float64, b float64) ([]float64, float64) {
	v := a.Multinomial.Root.Across(slices.Clone(at.U.RawRowView(c)))
	w, b = a.Recalibrated(at, c, w, b)
	b -= linalg.Dot(v, a.mean)
	floats.Add(w, a.addedSamples.across(v))
	return w, b
}
