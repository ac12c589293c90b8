// Package pipeline is active multi-task representation learning (Chen, Du and
// Jamieson, ICML 2022) on whichever backend it is given: it draws samples of
// the sources in epochs, fits a representation shared by all of them, fits the
// target's head, estimates how relevant each source is, and lets that decide
// the next epoch's samples. It reads and writes no file; package runs does.
//
// Problem and settings:
//
//	config.go      the settings; complete.go and fit.go choose those that are left open
//	problem.go     a target, its sources (sources.go), and what the schedule asks
//	resident.go    a data set on a device
//	labels.go      labelled rows, by column and output
//	units.go       what features and labels are measured in (scaling.go)
//
// A round:
//
//	propose.go     the first half: what to draw (Alg. 1; Alg. 2, line 4)
//	allocation.go  samples of each source  (Alg. 1 and 2)
//	schedule.go    samples of each round   (Alg. 2, line 4; Theorem 4.1)
//	draw.go        which rows, by seed and name; draw_groups.go keeps those together that belong together
//	learn.go       the second half: fit, head, relevance, score from labelled rows (check_round.go)
//	solve.go       both halves in turn, with the labels of the data set
//	state.go       what one round hands to the next
//	score.go       error, mean squared error, excess risk of the target (losses.go, over_outputs.go)
//	stats.go       paired comparison of two methods
//	baseline.go    the rounds of the baselines target and constant; that of pooled is pooled.go
//
// Representation:
//
//	representation.go  what the classes of representations have in common
//	linear.go          phi(x) = B'x; erm.go fits it with the sources' heads (eq. 1), by lbfgs.go, from moments.go or a path
//	conv.go            the settings of networks; conv_net.go, conv_forward.go and conv_fit.go compute and fit them (conv_units.go)
//	model.go           the tensors of a fitted model; predict.go, predict_linear.go, predictor.go and conv_network.go predict with it
//
// The target's head, by the regressions of [regress]:
//
//	head.go            its settings, and the least-squares head (eq. 2); target_head.go fits one for each output
//	residual.go        the head with a part of its own, drawn towards same_outputs.go; lone.go has the columns that it is without
//	classifier.go      its log-odds of classes
//	nested_classes.go  what is stated of classes without test rows, by sample_folds.go and tried_weights.go
//	unseen.go          classes that hardly any sample is of
//	unseen_level.go    how often classes that no sample is of may be predicted
//
// One regression on the rows of all sources, for the baseline and as a help in the last round:
//
//	pooled_rows.go      its rows, and pooled_gram.go their products
//	pooled_ridge.go     of numbers; pooled_classes.go of classes, by pooled_logistic.go; unlikely.go chooses the penalty
//	pooled_target.go    with the target's samples among its rows, pooled_target_classes.go of classes
//	pooled_relevant.go  on the rows of the most relevant sources alone
//	pooled_join.go      how much of these each prediction has, by pooled_weights.go, and of what the samples say alone (own_classes.go,
//	                    own_numbers.go; own_spread.go by how rows of the sources' classes spread)
//
// Relevance:
//
//	relevance.go    nu (eq. 3), by minimum norm, ridge or lasso
//	transfer.go     how well each source's heads predict the target's labels
//	match.go        how well the target's predictor does the sources'; match_chance.go what it has by chance.go, by relabel.go
//	source_parts.go what is computed for the rows of many sources at a time
//	allocation_parts.go  what a share is due to
//	uncertainty.go  intervals over other samples, by transfer_again.go and explore_again.go
//
// Words of the code for what the literature calls otherwise:
//
//	help, join           a candidate predictor, and the mean of candidates by stacking with pseudo-BMA+ weights
//	left                 predictions of samples by leave-one-out, or with the rest of their group left out
//	says, said           what a predictor predicts of a row: the log-odds or logits of a class, or a number
//	unlikely, less       a negative log-likelihood, and the nats that a candidate is penalised by for its freedom
//	own, alone           of the target's samples without the sources: the part of a head, or a whole predictor
//	together             samples that are not independent: a group, or cluster
//	judged, lone, scarce columns whose slopes the samples identify, with one sample that differs, and classes with few samples
package pipeline
