// Package study is a labelling campaign on disk: it asks for labels of rows, takes the answers whenever they come, and
// learns from them in rounds. It is the road of a run, propose, labels, learn, with time between.
//
//	study.go    the folder and its settings, study.json
//	journal.go  journal.jsonl: what happened, line by line
//	state.go    what follows from the journal and the data
//	problem.go  the problem that the next round has
//	ask.go      which rows to ask for next, by request.go
//	tell.go     answers, what they change in changes.go; slips.go names those that are probably slips
//	classes.go  classes that come late
//	answers.go  the files that they come in, those of Label Studio in labelstudio.go
//	fit.go      learning from them, rounds/0001
//	curve.go    what another round is expected to bring
//	status.go   where a study stands
//	verify.go   the journal replayed
package study
