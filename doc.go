// Package amtrl is the root of a module about active multi-task representation
// learning: it learns which data sources are worth sampling. The command is in
// cmd/amtrl. A Go program imports what the command is made of, and gets the same
// results: to the byte if it begins with blas64.Use(cpu.BLAS{}), as the command does,
// and else up to rounding, in more time.
//
//	dataset    pools of rows, labels and splits: made in memory, or read from files
//	           (dataset/manifest and dataset/columnar for tables of somebody's own)
//	cpu, cuda  devices; backend.Select takes CUDA where it works, else the CPU
//	pipeline   the algorithm: settings, problems, rounds, relevance, predictors
//	runs       the folders of runs and sweeps, written, resumed and read, and models
//	           for new rows; runs/study is a labelling campaign on disk
//	report     tables and pages of what runs left
//
// The examples of dataset.Set, runs.Run, runs.Sweep, runs/study, pipeline.Problem.Propose
// (labels from elsewhere between two rounds), pipeline.Learner.Learn (an allocation or
// a relevance of one's own), runs.WriteModel (a model of one's own rounds) and pipeline.State
// (rows that come later) are whole programs.
//
// A set is validated first (dataset.Set.Validate). Then it, problems, devices, predictors
// and studies that have their data can be used by any number of goroutines; learners by
// one at a time. Predictors, and studies that write, make callers wait for each other.
// Bad data are errors, which name what was expected and what was found.
package amtrl
