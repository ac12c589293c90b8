// Package regress is regressions of few samples: penalties are chosen by leaving samples out, and what a fit says of each sample without
// it is exact or one step of Newton's method away. It knows matrices and labels, no source, device or round.
//
//	rows.go          the rows of the samples, and which columns these can have slopes for (judged.go)
//	kernel_ridge.go  of numbers, on tridiagonal.go; towards.go draws it towards a mean, refine.go takes what rounding left
//	restricted.go    is the likelihood of a penalty
//	nested.go        leaves samples out of all that was chosen
//	logistic.go      of two classes; discriminant.go has their log-odds by a number
//	stratified.go    which samples are left out together
//	multinomial.go   of several, by multinomial_search.go and minimise.go; logits.go, to which level.go and shift.go say what to add
//	class_loss.go    how unlikely labels are, wrong at times (label_noise.go)
//	groups.go        samples that belong together: what they count for; group_blocks.go leaves them out, group_folds.go deals them
//	smoother.go      the fitted heads as a function of the sources' heads and the labels, to resample both
//	lasso.go         least squares with an absolute penalty
package regress
