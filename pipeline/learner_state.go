package pipeline

import (
	"cmp"
	"fmt"

	"github.com/amtrl/amtrl/backend"
)

// Check returns an error for a state that this problem cannot have left.
func (l *Learner) Check(st State) error {
	if len(st.Epochs) == 0 {
		return nil
	}
	if n := l.model.parameters().Len; len(st.Theta) != n || len(st.Head) != l.head.Len {
		return fmt.Errorf("expected %d parameters and a head of %d, found %d and %d", n, l.head.Len, len(st.Theta), len(st.Head))
	}
	return cmp.Or(l.checkBeside(st), l.checkStart(st))
}

// checkStart checks what a round continues from, which is all of a state but the head of the round before.
func (l *Learner) checkStart(st State) error {
	if len(st.Epochs) == 0 {
		return nil
	}
	if n := l.model.parameters().Len; len(st.Theta) != n {
		return fmt.Errorf("expected %d parameters, found %d", n, len(st.Theta))
	}
	return l.problem.Check(st.Epochs)
}

// restore uploads the parameters that a state holds.
func (l *Learner) restore(st State) error {
	if len(st.Theta) == 0 {
		return nil
	}
	to := l.model.parameters()
	return backend.Put(l.queue, to.Buf, to.Off, st.Theta)
}

// capture downloads the parameters into a state with the given records.
func (l *Learner) capture(epochs []Epoch) (State, error) {
	st := State{Epochs: epochs}
	st.Beside = l.beside.tensors()
	for _, v := range []struct {
		from backend.Vector
		to   *[]float32
	}{{l.model.parameters(), &st.Theta}, {l.head, &st.Head}} {
		*v.to = make([]float32, v.from.Len)
		if v.from.Len == 0 {
			continue
		}
		if err := backend.Get(l.queue, *v.to, v.from.Buf, v.from.Off); err != nil {
			return State{}, err
		}
	}
	return st, nil
}
