// Package runs is what lies on disk: the folder of a run and of a sweep, each
// resumable at any instant to the same bytes.
//
//	identity.go    config.json, and whether a folder is of the same work
//	difference.go  where two configurations differ
//	result.go      result.json, epochs.jsonl, relevance.csv, rows.csv; which method it recommends (recommend.go) and why not (doubt.go)
//	evaluation.go  evaluation.jsonl, how predictions compare with labels (evaluate.go)
//	flags.go       flags.json
//	interval.go    the intervals of scores in result.json
//	model.go       model.safetensors, with its metadata (metadata.go) and the columns of labels that it predicts (columns.go)
//	checkpoint.go  checkpoint/*.safetensors
//	summary.go     summary.json and results.csv of a sweep
//	files.go       the names, limits and hashes of all of these; timing.jsonl
//	run.go         one target with one seed in a folder
//	mend.go        a finished folder, compared with its hashes
//	sweep.go       many targets, budgets and seeds in a folder, on several devices (share.go)
//	unit.go        one of them, carried out apart
//	round.go       a round of a study, which package study drives
//	read.go        a finished folder, for reports, with the coefficients of its model (coefficients.go)
//	predict.go     labels of rows by the model of a run, which predictor.go reads; missing cells are filled (fill.go), and
//	               words that the run does not know counted (unknown.go), rows far outside of the samples (far.go), vectors
//	               of another size (scaled.go), and rows of other sources (strangers.go)
package runs
