package boost

const (
	// LeastRows is the least number of rows of a leaf of a split by column.
	LeastRows = 20
	// maxLeaves is the largest number of leaves of a tree, before it is that of one source.
	maxLeaves = (MaxNodes + 1) / 2
	// shrinkage is added to the curvature of a leaf, which draws its value to 0.
	shrinkage = 1
)

// grown is a tree with the split of each node, and its leaves with the rows that it was fitted to, until the next is.
type grown struct {
	Tree
	splits []split
	leaves []*leaf
}

// split divides rows: those of at most a bin of a column are low, or of [bySource] those of some sources. The loss decreases
// by half of gain, which is 0 for none.
type split struct {
	column int
	bin    uint8
	low    []bool // of each source
	gain   float64
}

func (s *split) isLow(c *Columns, row int32) bool {
	if s.column == bySource {
		return s.low[c.source[row]]
	}
	return c.bins[s.column][row] <= s.bin
}

// at returns the value of the leaf that row i of the columns is in.
func (t grown) at(c *Columns, i int) float32 {
	k := 0
	for t.Nodes[k].Low > 0 {
		if t.splits[k].isLow(c, int32(i)) {
			k = t.Nodes[k].Low
		} else {
			k = t.Nodes[k].High
		}
	}
	return t.Nodes[k].Value
}

// sums are over the rows of a bin or a leaf: of the gradient and the curvature of the loss, and how many rows there are.
type sums struct {
	gradient, curvature float64
	rows                int
}

func (s sums) plus(o sums) sums {
	return sums{s.gradient + o.gradient, s.curvature + o.curvature, s.rows + o.rows}
}

func (s sums) minus(o sums) sums {
	return sums{s.gradient - o.gradient, s.curvature - o.curvature, s.rows - o.rows}
}

// gain is twice the decrease of the second-order loss, with its penalty, by a value of the rows' own.
func (s sums) gain(shrinkage float64) float64 {
	return s.gradient * s.gradient / (s.curvature + shrinkage)
}

// leaf is a leaf that may be split: its node, its rows, their sums by column that is tried and bin, and the best split.
type leaf struct {
	node int
	rows []int32
	bins [][maxBins]sums
	all  sums
	split
}

// slope is the first and the second derivative of the loss of a row.
type slope struct{ gradient, curvature float64 }

// grower grows trees on some rows of columns.
type grower struct {
	columns             *Columns
	tried               []int     // the columns that the next tree may split, ascending
	gradient, curvature []float64 // of each row of the columns
	slopes              []slope   // of the rows of a leaf, in their order, which are read for each column
	spare               []int32
	free                [][][maxBins]sums // bins of leaves that no longer need them
	unread              [maxBins]sums
	ofSource            []sums    // of the rows of a leaf, by source
	step                []float64 // of each source of a leaf
	order               []int     // of the sources of a leaf
}

// grow fits a tree to the gradients and curvatures of rows, whose order changes: leaf after leaf it takes the split with
// the largest gain. A leaf's value is the Newton step -G/(H + shrinkage) times rate.
func (g *grower) grow(rows []int32, rate float64) grown {
	root := &leaf{rows: rows, bins: g.newBins()}
	for _, i := range rows {
		root.all.gradient += g.gradient[i]
		root.all.curvature += g.curvature[i]
	}
	root.all.rows = len(rows)
	g.add(root.bins, rows, 1)
	g.choose(root)
	t := grown{Tree{Nodes: []Node{{}}}, []split{{}}, []*leaf{root}}
	for len(t.leaves) < maxLeaves {
		best := t.leaves[0]
		for _, l := range t.leaves {
			if l.gain > best.gain {
				best = l
			}
		}
		if best.gain <= 0 {
			break
		}
		low, high := g.divide(best, len(t.leaves)+1 == maxLeaves)
		low.node, high.node = len(t.Nodes), len(t.Nodes)+1
		n := Node{Column: best.column, Low: low.node, High: high.node}
		if n.Column != bySource {
			n.Cut = g.columns.cuts[n.Column][best.bin]
		}
		t.Nodes[best.node], t.splits[best.node] = n, best.split
		t.Nodes, t.splits = append(t.Nodes, Node{}, Node{}), append(t.splits, split{}, split{})
		*best = *low
		t.leaves = append(t.leaves, high)
	}
	for _, l := range t.leaves {
		t.Nodes[l.node].Value = float32(-rate * l.all.gradient / (l.all.curvature + shrinkage))
		if l.bins != nil {
			g.free = append(g.free, l.bins)
		}
	}
	return t
}

func (g *grower) newBins() [][maxBins]sums {
	if n := len(g.free); n > 0 {
		bins := g.free[n-1]
		g.free = g.free[:n-1]
		clear(bins)
		return bins
	}
	return make([][maxBins]sums, len(g.tried))
}

// add adds rows to sums by column and bin, or where sign is -1 takes them away.
func (g *grower) add(bins [][maxBins]sums, rows []int32, sign int) {
	g.slopes = g.slopes[:0]
	for _, i := range rows {
		g.slopes = append(g.slopes, slope{float64(sign) * g.gradient[i], float64(sign) * g.curvature[i]})
	}
	for j := 0; j < len(bins); j += 2 { // two columns at a time, whose sums do not wait for each other
		other := min(j+1, len(bins)-1)
		of, and := g.columns.bins[g.tried[j]], g.columns.bins[g.tried[other]]
		bins, more, slopes := &bins[j], &bins[other], g.slopes[:len(rows)]
		if other == j { // the last of an odd number
			more = &g.unread
		}
		for k, i := range rows {
			at := &slopes[k]
			s, t := &bins[of[i]%maxBins], &more[and[i]%maxBins]
			s.gradient += at.gradient
			s.curvature += at.curvature
			s.rows += sign
			t.gradient += at.gradient
			t.curvature += at.curvature
			t.rows += sign
		}
	}
}

// choose finds the best split of a leaf.
func (g *grower) choose(l *leaf) {
	l.choose(g.columns, g.tried)
	g.chooseSources(l)
}

// choose finds the best split of a leaf by a column. Of equal splits it takes that of the first column and bin.
func (l *leaf) choose(c *Columns, tried []int) {
	l.split = split{}
	if l.all.rows < 2*LeastRows {
		return
	}
	whole := l.all.gain(shrinkage)
	for k, j := range tried {
		low := sums{}
		for b := range c.cuts[j] {
			s := &l.bins[k][b]
			low.gradient += s.gradient
			low.curvature += s.curvature
			low.rows += s.rows
			if low.rows < LeastRows {
				continue
			}
			high := l.all.minus(low)
			if high.rows < LeastRows {
				break
			}
			if of, and := low.curvature+shrinkage, high.curvature+shrinkage; low.gradient*low.gradient*and+high.gradient*high.gradient*of <=
				(whole+l.gain)*of*and {
				continue // parts is at most whole + l.gain but for rounding: most splits, without a division
			}
			parts := low.gain(shrinkage) + high.gain(shrinkage)
			if gain := parts - whole; gain > l.gain+1e-9*parts { // else rounding decides
				l.split = split{column: j, bin: uint8(b), gain: gain}
			}
		}
	}
}

// partition moves the low rows of a leaf before the others, both in their order, and returns how many they are. It has no branch for each
// row, which a processor could seldom foresee.
func (g *grower) partition(l *leaf) (n int) {
	rows := l.rows
	if len(g.spare) < len(rows) {
		g.spare = make([]int32, len(rows))
	}
	others := 0
	put := func(i int32, high int) {
		rows[n], g.spare[others] = i, i
		n += 1 - high
		others += high
	}
	if l.column == bySource {
		for _, i := range rows {
			high := 1
			if l.low[g.columns.source[i]] {
				high = 0
			}
			put(i, high)
		}
	} else {
		column, bin := g.columns.bins[l.column], l.bin
		for _, i := range rows {
			high := 0
			if column[i] > bin {
				high = 1
			}
			put(i, high)
		}
	}
	copy(rows[n:], g.spare[:others])
	return n
}

// divide splits a leaf. The larger part has what the smaller leaves of the sums, which are added up for a part that may be
// split.
func (g *grower) divide(l *leaf, last bool) (low, high *leaf) {
	n := g.partition(l)
	low, high = &leaf{rows: l.rows[:n]}, &leaf{rows: l.rows[n:]}
	small, large := low, high
	if len(high.rows) < n {
		small, large = high, low
	}
	for _, i := range small.rows {
		small.all.gradient += g.gradient[i]
		small.all.curvature += g.curvature[i]
	}
	small.all.rows = len(small.rows)
	large.all, large.bins = l.all.minus(small.all), l.bins
	if last || len(large.rows) < 2*LeastRows {
		return low, high
	}
	if len(small.rows) < 2*LeastRows {
		g.add(large.bins, small.rows, -1)
	} else {
		small.bins = g.newBins()
		g.add(small.bins, small.rows, 1)
		for j := range large.bins {
			for b := range large.bins[j] {
				large.bins[j][b] = large.bins[j][b].minus(small.bins[j][b])
			}
		}
		g.choose(small)
	}
	g.choose(large)
	return low, high
}
