// Package pipeline is active multi-task representation learning (Chen, Du and
// Jamieson, ICML 2022) on whichever backend it is given: it draws samples of
// the sources in epochs, fits a representation shared by all of them, fits the
// target's head, estimates how relevant each source is, and lets that decide
// the next epoch's samples.
//
//	problem.go     a target, its sources, and what the schedule asks
//	propose.go     the first half of a round: what to draw (Alg. 1; Alg. 2, line 4)
//	learn.go       the second half: fit, head, relevance, score from labelled rows
//	solve.go       both halves in turn, with the labels of the data set
//	state.go       what one round hands to the next
//	allocation.go  samples of each source  (Alg. 1 and 2)
//	schedule.go    samples of each round   (Alg. 2, line 4; Theorem 4.1)
//	erm.go         representation, heads   (eq. 1), the linear class
//	conv_fit.go    the same for the convolutional class
//	head.go        the target's head       (eq. 2)
//	relevance.go   nu                      (eq. 3)
//	score.go       error, mean squared error, excess risk of the target
//	stats.go       paired comparison of two methods
//
// It reads and writes no file; package runs does.
package pipeline
