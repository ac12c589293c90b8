// Package pipeline is active multi-task representation learning (Chen, Du and
// Jamieson, ICML 2022) on whichever backend it is given: it draws samples of
// the sources in epochs, fits a representation shared by all of them, fits the
// target's head, estimates how relevant each source is, and lets that decide
// the next epoch's samples.
//
//	allocation.go  samples a source        (Alg. 1 and 2)
//	schedule.go    samples an epoch        (Alg. 2, line 4; Theorem 4.1)
//	erm.go         representation, heads   (eq. 1), the linear class
//	conv_fit.go    the same for the convolutional class
//	head.go        the target's head       (eq. 2)
//	relevance.go   nu                      (eq. 3)
//	unit.go        the epochs of a target; unit_plan.go, unit_score.go
//	run.go         one target in a folder, resumable
//	sweep.go       many targets in a folder, resumable
package pipeline
