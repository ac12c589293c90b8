package boost

import (
	"cmp"
	"slices"
)

const (
	// bySource is the column of a node that splits rows by the source that they are from.
	bySource = -1
	// sourceShrinkage is in the gain of a split by source what shrinkage is in that of others: there are as many such splits of
	// a leaf as its sources have subsets.
	sourceShrinkage = 10
)

// SplitBySource lets trees split rows by source too. of holds the source of each row, from 0 to below sources. The rows that
// a forest predicts are of the source own: its trees have the sides of such splits that these are on, and no others.
func (c *Columns) SplitBySource(of []int32, sources, own int) {
	c.source, c.sources, c.own = of, sources, int32(own)
}

// chooseSources replaces the split of a leaf by one by source where that has a larger gain. Sources are in the order of their
// mean step G/H, drawn to that of the leaf as by shrinkage rows more, and a split is between two of them: for squares, no
// other two subsets have a larger gain but for shrinkage (Fisher 1958). Any number of rows makes a side.
func (g *grower) chooseSources(l *leaf) {
	c := g.columns
	if c.sources < 2 || l.all.rows < 2*LeastRows {
		return
	}
	clear(g.ofSource)
	var s sums // of source m, of which a leaf has many rows in turn
	m := c.source[l.rows[0]]
	for _, i := range l.rows {
		if now := c.source[i]; now != m {
			g.ofSource[m] = s
			s, m = g.ofSource[now], now
		}
		s.gradient += g.gradient[i]
		s.curvature += g.curvature[i]
		s.rows++
	}
	g.ofSource[m] = s
	mean := l.all.gradient / l.all.curvature
	g.order = g.order[:0]
	for m, s := range g.ofSource {
		if s.rows > 0 || m == int(c.own) {
			g.step[m] = (s.gradient + shrinkage*mean) / (s.curvature + shrinkage)
			g.order = append(g.order, m)
		}
	}
	slices.SortStableFunc(g.order, func(a, b int) int { return cmp.Compare(g.step[a], g.step[b]) })
	whole, low, best := l.all.gain(shrinkage), sums{}, 0
	for k, m := range g.order {
		low = low.plus(g.ofSource[m])
		high := l.all.minus(low)
		if low.rows == 0 {
			continue
		}
		if high.rows == 0 {
			break
		}
		parts := low.gain(sourceShrinkage) + high.gain(sourceShrinkage)
		if gain := parts - whole; gain > l.gain+1e-9*parts {
			l.split, best = split{column: bySource, gain: gain}, k+1
		}
	}
	if best > 0 {
		l.low = make([]bool, c.sources)
		for _, m := range g.order[:best] {
			l.low[m] = true
		}
	}
}

// of returns the tree of the rows of one source, which has no splits by source, and the gains of its nodes.
func (t grown) of(source int32) (own Tree, gain []float64) {
	own.Output = t.Output
	var add func(k int) int
	add = func(k int) int {
		for t.Nodes[k].Low > 0 && t.Nodes[k].Column == bySource {
			if t.splits[k].low[source] {
				k = t.Nodes[k].Low
			} else {
				k = t.Nodes[k].High
			}
		}
		at := len(own.Nodes)
		own.Nodes, gain = append(own.Nodes, t.Nodes[k]), append(gain, t.splits[k].gain/2)
		if t.Nodes[k].Low > 0 {
			low := add(t.Nodes[k].Low)
			own.Nodes[at].Low, own.Nodes[at].High = low, add(t.Nodes[k].High)
		}
		return at
	}
	add(0)
	return own, gain
}
