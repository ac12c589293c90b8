package pipeline

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// phiRows holds phi of rows, in the place of their features.
type phiRows struct {
	phi *mat.Dense // n by K
	at  map[poolRow]int
}

func (r *phiRows) read(row poolRow, dst []float32) {
	for j, v := range r.phi.RawRowView(r.at[row])[:len(dst)] {
		dst[j] = float32(v)
	}
}

// width returns the number of features of a row.
func (p *Problem) width() int {
	if p.phi != nil {
		_, k := p.phi.phi.Dims()
		return k
	}
	return p.Set.Pools[0].Cols
}

// pooledOnPhi is [Learner.pooledClasses] on phi of the rows in the place of their features: its heads have a w and no delta. A network
// tells classes apart that no plane in the features does, and what it knows of a class that the target has next to no samples of is in the
// rows of the sources.
func (l *Learner) pooledOnPhi(ctx context.Context, in Round, group []int) (*pooledFound, error) {
	p := *l.problem
	rows, _ := p.pooledRows(in.Sources, group, mostPooled(len(group)))
	rows = append(rows, p.targetPoolRows(in.Target.Rows)...)
	var err error
	if p.phi, err = l.phiOf(rows); err != nil {
		return nil, err
	}
	on := &Learner{problem: &p, queue: l.queue}
	found, err := on.regressPooled(ctx, in, group, units{scale: 1}, pooledSearch{most: pooledStarts, weights: addedWeights})
	if err != nil || found == nil {
		return nil, err
	}
	k, length := p.Config.K, l.headOf(0).Len
	for _, model := range append(found.with[:len(found.with):len(found.with)], found.sources) {
		for j, of := range model {
			head := make([]float32, length)
			copy(head, of.head[k+1:])
			head[k] = of.head[k]
			model[j].head = head
		}
	}
	return found, nil
}

// phiOf computes phi of rows.
func (l *Learner) phiOf(rows []poolRow) (*phiRows, error) {
	out := &phiRows{at: make(map[poolRow]int, len(rows))}
	for i, r := range rows {
		out.at[r] = i
	}
	phi, err := l.phi(new(hostCopy), byPool(rows)...)
	if err != nil {
		return nil, err
	}
	out.phi = phi.Slice(0, len(rows), 0, l.problem.Config.K).(*mat.Dense)
	return out, nil
}
