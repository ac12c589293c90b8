// Package regress fits regressions to few samples. Penalties are chosen by leave-one-out prediction, which is exact or one step of
// Newton's method away from the fit. The package knows matrices and labels, but no sources, devices or rounds.
//
//	rows.go          the rows of the samples and their kernel; judged.go gives columns less weight whose slopes leave-one-out cannot judge
//	kernel_ridge.go  least squares on two kernels, solved by tridiagonal.go; towards.go draws it towards the sources' mean head, and
//	                 refine.go removes rounding errors
//	restricted.go    the restricted likelihood of a penalty; evidence.go compares units of features by one that needs no penalty
//	nested.go        nested cross-validation: the residuals of samples that are left out of all choices too
//	logistic.go      logistic regression of two classes; discriminant.go turns predictions into log-odds
//	stratified.go    the folds in which samples are left out
//	multinomial.go   logistic regression of several classes, which recalibrates known logits, by multinomial_search.go and minimise.go;
//	                 logits.go has their probabilities
//	level.go         what to add to the heads of classes
//	shift.go         what to add to predictions of numbers
//	class_loss.go    the loss of labels of classes, some of which may be wrong (label_noise.go)
//	groups.go        samples that belong together and what they count for; group_blocks.go leaves them out, group_folds.go deals them, and
//	                 intraclass.go says how much they have in common
//	smoother.go      the fitted heads as a function of the sources' heads and the labels, to resample both
//	lasso.go         least squares with an L1 penalty
package regress
