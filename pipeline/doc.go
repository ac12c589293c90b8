// Package pipeline implements active multi-task representation learning (Chen, Du and
// Jamieson, ICML 2022) on any backend: it draws samples of the sources in epochs,
// fits a representation shared by all of them, fits the target's head, estimates
// how relevant each source is, and lets that decide the next epoch's samples. It
// reads and writes no file; package runs does.
//
// Problem and settings:
//
//	config.go      the settings; complete.go and fit.go choose those that are left open
//	problem.go     a target, its sources (sources.go), and what the schedule asks of each round
//	resident.go    a data set on a device
//	labels.go      labelled rows, by column and output
//	units.go       the units of features and labels; scaling.go chooses those of features,
//	               derived.go those of features computed from others
//	unlike_labels.go brings numbers of sources in another unit to that of most
//	centring.go    what is subtracted from the rows of each source; centring_levels.go decides whether anything is
//
// A round:
//
//	propose.go     the first half: the rows to draw (Alg. 1; Alg. 2, line 4)
//	allocation.go  the number of samples of each source (Alg. 1 and 2)
//	schedule.go    the budget of each round (Alg. 2, line 4; Theorem 4.1)
//	draw.go        the order in which rows are drawn, by seed and name; draw_groups.go keeps the rows of a group together
//	learn.go       the second half: fit, head, relevance and score, from labelled rows, which check_round.go checks; learner_state.go
//	               moves parameters between the device and a state
//	solve.go       both halves in turn, with the labels of the data set
//	state.go       what one round hands to the next, which check_epochs.go checks
//	score.go       error, squared error or excess risk of the target; losses.go by groups of rows, over_outputs.go over outputs
//	stats.go       paired comparison of two methods
//	baseline.go    the rounds of the baselines target and constant; that of pooled is in pooled.go
//
// Representation:
//
//	representation.go  the interface of the classes of representations
//	linear.go          phi(x) = B'x; erm.go fits it with the sources' heads (eq. 2), by package lbfgs, from moments.go or along a path
//	conv.go            the settings of networks; conv_net.go and conv_forward.go compute them, conv_fit.go trains them, conv_units.go
//	                   stores their units
//	model.go           the tensors of a fitted model; predict.go, predict_linear.go, predictor.go and conv_network.go predict with it
//
// The target's head, by the regressions of [regress]:
//
//	head.go            its settings, and the least-squares head (eq. 3); target_head.go fits a head for each output
//	residual.go        the head with an own part, drawn towards the mean head of same_outputs.go; lone.go leaves out columns in which
//	                   only one sample differs
//	classifier.go      the log-odds of classes; wrong_labels.go has the log-loss by which methods are compared
//	nested_classes.go  nested cross-validation of classes without test rows, with sample_folds.go and tried_weights.go
//	unseen.go          classes with next to no samples
//	unseen_level.go    a bound on how often classes without samples are predicted
//	overlooked.go      classes with next to no samples that are hardly ever predicted
//
// One regression on the rows of all sources, for the baseline and to help the head in the last round:
//
//	pooled_rows.go      its rows, and pooled_gram.go their Gram matrix
//	pooled_ridge.go     for numbers; pooled_classes.go for classes, by pooled_logistic.go; intercepts.go says how far sources are apart,
//	                    neg_log_lik.go has the loss that chooses the penalty, pooled_penalty.go what does so where the samples cannot
//	pooled_units.go     the units of features for classes
//	pooled_target.go    with the target's samples among its rows; pooled_target_classes.go for classes
//	pooled_relevant.go  on the rows of the most relevant sources, and of single ones
//	pooled_phi.go       on phi of the rows, for classes by a network
//	stack.go            the mean of the head's predictions and these, weighted by stack_weights.go (stack_effective.go says as how many
//	                    samples those in groups count), and those of the samples alone
//	                    (own_classes.go, own_numbers.go; own_spread.go with a prior from the scatter within the sources' classes)
//
// What is not linear in the features:
//
//	beside.go        the mean of the predictions of the other methods and those of trees or of a kernel
//	beside_learn.go  the round of the baselines trees and kernel
//	trees.go         trees, by package boost, on the rows of a table; trees_levels.go has what they begin with, trees_choice.go chooses
//	                 their sources and number, and trees_tensors.go has the form that they are stored in
//	kernel.go        a regression with a Gaussian kernel, by package gaussian, on rows of other features; kernel_choice.go chooses its
//	                 settings, kernel_predict.go predicts, and kernel_tensors.go has the form that it is stored in
//
// Relevance:
//
//	relevance.go    nu (eq. 6), by minimum norm, ridge or lasso
//	transfer.go     how well each source's heads predict the target's labels, less what noise adds: transfer_nu.go, head_error.go,
//	                transfer_chance.go
//	match.go        how well the target's predictor predicts each source's labels; match_chance.go estimates how well it does by chance,
//	                with the distribution of chance.go and the refits of relabel.go
//	source_parts.go batches of rows of many sources, for what is computed for each of them; host_copy.go copies it to the host
//	allocation_parts.go  what a share is due to
//	uncertainty.go  intervals over other samples, with heads that differ by uncertainty_noise.go;
//	                explore_again.go repeats the match for them
//
// Terms of the code and what they are in the literature:
//
//	base model, stack    a predictor g of the last round, and the mean of f and these by stacking with pseudo-BMA+ weights
//	left                 leave-one-out predictions, where a sample's whole group is left out with it
//	handicap             the nats by which a candidate of a stack is penalised for its freedom
//	own, alone           of the target's samples without the sources: the part of a head, or a whole predictor
//	together             samples that are not independent: a group, or cluster
//	judged, lone, scarce columns whose slopes the samples identify, columns in which one sample differs, and classes with few samples
package pipeline
