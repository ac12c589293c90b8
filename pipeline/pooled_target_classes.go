package pipeline

import (
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
//	min over v, b, eta >= 1:  sum_i -log p(y_i | m + eta (z_i - m) + v_c'x_i + b_c)
//	                          + (sum_c (v_c'H v_c / weight + b_c^2 / variance_c) + (eta - 1)^2 / slopeVariance)/2
//
// where z, n by C, are the logits of the samples by the regression, and m is their mean. (The variances of the intercepts and of the slope
// do not come from rows, so weight does not divide them.)
type addedClasses struct {
	*addedSamples
	*regress.Multinomial
}

// classes returns the regression that adds the samples with their classes to logits z. Its Root is empty where X H^-1 X' is not finite.
func (t *addedSamples) classes(of regress.Logits, z *mat.Dense, class []int, groups regress.Groups, by regress.Recalibration) addedClasses {
	return addedClasses{t, regress.NewMultinomial(of, z, class, groups, regress.NewThinRoot(t.x), by)}
}

// weights returns the weights of the features that a point adds.
func (a addedClasses) weights(at regress.MultinomialPoint) (w [][]float64) {
	linalg.EachRow(at.U, func(u []float64) { w = append(w, a.addedSamples.across(a.Multinomial.Root.Across(u))) })
	return w
}
