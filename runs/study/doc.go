// Package study keeps a labelling campaign on disk: it asks for labels of rows, takes the answers whenever they come, and learns from them
// in rounds. A study takes the steps of a run (propose, label, learn) with time between them.
//
//	study.go        the folder of a study and its settings, study.json
//	journal.go      journal.jsonl: what happened, one event per line
//	lost.go         a journal that lost asks or rounds, and what killed processes leave
//	state.go        the state that follows from the journal and the data
//	problem.go      the problem of a round and its labelled samples
//	ask.go          which rows to ask for next, as request.go specifies; ask_target.go: those of the target
//	due.go          whether an ask learns first
//	tell.go         taking answers; changes.go: what they change
//	slips.go        labels that are probably wrong; outside.go: those that came together
//	classes.go      classes that are added late
//	answers.go      reading files of answers; labelstudio.go: those of Label Studio
//	fit.go          learning a round, rounds/0001
//	curve.go        what another round is expected to bring
//	status.go       where a study stands, and what an ask would draw
//	export.go       what to take along to another study
//	verify.go       replaying the journal
package study
