package pipeline

import (
	"cmp"
	"context"
)

// Step tells a listener how far a problem is.
type Step struct {
	Method string
	// Epoch of Epochs of the method; Done of Total rounds over all methods.
	Epoch, Epochs, Done, Total int
	// Record is the finished epoch, nil while it runs. It is the state's: what a listener changes there, later rounds see.
	Record *Epoch
}

// Solve carries the problem from st to its end with the labels of the data set: propose, look up, learn. It calls
// progress at the beginning and at the end of each round, and saved with the state that the round left; an error of
// saved ends it. Both may be nil. Once ctx is done the error is that of ctx, and Solve can go on from the last saved
// state in the same way. Only saved sees the models of all methods but the last: [Learner.Tensors] of the state after
// the last round of each. A set without labels is an error, as in [Problem.CheckLabels].
func (l *Learner) Solve(ctx context.Context, st State, progress func(Step), saved func(State) error) (State, error) {
	p := l.problem
	if progress == nil {
		progress = func(Step) {}
	}
	if err := cmp.Or(l.Check(st), p.CheckLabels()); err != nil {
		return State{}, err
	}
	for total := p.Rounds(); len(st.Epochs) < total; {
		method, e := p.round(len(st.Epochs))
		step := Step{Method: method, Epoch: e, Epochs: p.RoundsOf(method), Done: len(st.Epochs), Total: total}
		progress(step)
		prop, err := p.Propose(st)
		if err != nil {
			return State{}, err
		}
		if st, err = l.Learn(ctx, st, p.LookUp(prop)); err == nil && saved != nil {
			err = saved(st)
		}
		if err != nil {
			return State{}, err
		}
		step.Done, step.Record = len(st.Epochs), &st.Epochs[len(st.Epochs)-1]
		progress(step)
	}
	return st, nil
}
