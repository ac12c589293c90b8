package pipeline

import "gonum.org/v1/gonum/mat"

// withoutLone is phi of the samples, with a constant behind it, as it would be without the lone columns, which heads are fitted to: what
// the sources' heads combine to could have any slope there too. It is phi itself where there are none, and of networks, which have no
// columns.
func (l *Learner) withoutLone(rows *targetRows, phi *mat.Dense, u units) (*mat.Dense, error) {
	linear, is := l.model.(*linearClass)
	if rows.Lone == nil || !is {
		return phi, nil
	}
	b, err := download64(l.queue, linear.representation(linear.theta))
	if err != nil {
		return nil, err
	}
	var part mat.Dense
	part.Mul(rows.Lone, b.T())
	part.Scale(1/u.scale, &part)
	n, k := part.Dims()
	out := mat.DenseCopyOf(phi)
	features := out.Slice(0, n, 0, k).(*mat.Dense)
	features.Sub(features, &part)
	return out, nil
}

// hasColumns says whether features are columns, each of its own kind: those of a table, or such as have scales of their own.
func (p *Problem) hasColumns(u units) bool {
	c := p.Set.Columns
	return u.each != nil || c != nil && len(c.Features) == p.Set.Pools[0].Cols
}
