// Package runs reads and writes what lies on disk: the folders of runs and sweeps, each of which can be resumed at any
// instant and ends in the same bytes.
//
//	identity.go    config.json, and whether a folder belongs to the same work
//	difference.go  where two configurations differ
//	result.go      result.json, which summarise.go makes of epochs, with a recommendation (recommend.go), doubts of it (doubt.go), and
//	               the sample that makes most of its error (dominant.go); result_files.go has relevance.csv and rows.csv
//	evaluation.go  evaluation.jsonl, how predictions compare with labels (evaluate.go), and what probabilities are worth
//	               (probabilities.go, area.go)
//	flags.go       flags.json
//	interval.go    the intervals of the scores in result.json
//	model.go       model.safetensors, with its metadata (metadata.go) and the columns of labels that it predicts (columns.go)
//	checkpoint.go  checkpoint/*.safetensors
//	summary.go     summary.json and results.csv of a sweep
//	files.go       the names, size limits and hashes of all these files; timing.jsonl
//	run.go         a run: one target with one seed
//	mend.go        checks the files of a finished run against their hashes, and restores them
//	sweep.go       a sweep: many targets, budgets and seeds, on several devices (share.go)
//	unit.go        one unit of a sweep, computed apart
//	round.go       a round of a study, which package study drives
//	read.go        reads a finished folder for reports, with the coefficients of its model (coefficients.go)
//	relevance.go   the relevance of sources by other settings than those of the run
//	predict.go     predicts labels of rows with the model of a run, read by predictor.go, from their columns
//	               (predict_columns.go), in files or in memory (table_predictor.go); refuses arrays of other images than the
//	               network's (image_size.go), fills missing cells (fill.go), and notes words that the run does not know
//	               (unknown.go), rows far outside the samples (far.go), vectors of another size (scaled.go), rows of other
//	               sources (strangers.go), and rows that are blank or have no id of their own (rows_read.go)
package runs
