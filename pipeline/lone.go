package pipeline

import "gonum.org/v1/gonum/mat"

// withoutLone returns phi of the samples, with a constant as last column, computed without the lone columns of their features, in each of
// which only one sample or group differs from the others. Heads are fitted to it, since in a lone column a combination of the sources'
// heads could have any slope too. It returns phi itself where there are no lone columns, and for networks, which have no columns.
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

// hasColumns reports whether features are columns, each of its own kind: those of a table, or features with scales of their own.
func (p *Problem) hasColumns(u units) bool {
	c := p.Set.Columns
	return u.each != nil || c != nil && len(c.Features) == p.Set.Pools[0].Cols
}
