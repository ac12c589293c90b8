package boost

const (
	// LeastRows is the least number of rows of a leaf.
	LeastRows = 20
	// maxLeaves is the largest number of leaves of a tree.
	maxLeaves = (MaxNodes + 1) / 2
	// shrinkage is added to the curvature of a leaf, which draws its value to 0.
	shrinkage = 1
)

// grown is a tree whose splits are by bin. bin holds the bin of each node: rows of at most that bin go to Low.
type grown struct {
	Tree
	bin    []uint8
	gain   []float64 // of each node's split
	leaves []*leaf   // with the rows that the tree was fitted to, until the next is
}

// at returns the value of the leaf that row i of the columns is in.
func (t grown) at(c *Columns, i int) float32 {
	k := 0
	for t.Nodes[k].Low > 0 {
		if n := &t.Nodes[k]; c.bins[n.Column][i] <= t.bin[k] {
			k = n.Low
		} else {
			k = n.High
		}
	}
	return t.Nodes[k].Value
}

// sums are over the rows of a bin or a leaf: of the gradient and the curvature of the loss, and how many rows there are.
type sums struct {
	gradient, curvature float64
	rows                int
}

func (s sums) less(o sums) sums {
	return sums{s.gradient - o.gradient, s.curvature - o.curvature, s.rows - o.rows}
}

// gain is twice the decrease of the second-order loss, with its penalty, by a value of the rows' own.
func (s sums) gain() float64 { return s.gradient * s.gradient / (s.curvature + shrinkage) }

// leaf is a leaf that may be split: its node, its rows, their sums by column that is tried and bin, and the best split, with
// which the loss decreases by half of gain.
type leaf struct {
	node   int
	rows   []int32
	bins   [][maxBins]sums
	all    sums
	gain   float64
	column int
	bin    uint8
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
	root.choose(g.columns, g.tried)
	t := grown{Tree{Nodes: []Node{{}}}, []uint8{0}, []float64{0}, []*leaf{root}}
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
		low, high := g.split(best, len(t.leaves)+1 == maxLeaves)
		low.node, high.node = len(t.Nodes), len(t.Nodes)+1
		t.Nodes[best.node] = Node{Column: best.column, Cut: g.columns.cuts[best.column][best.bin], Low: low.node, High: high.node}
		t.bin[best.node], t.gain[best.node] = best.bin, best.gain/2
		t.Nodes, t.bin, t.gain = append(t.Nodes, Node{}, Node{}), append(t.bin, 0, 0), append(t.gain, 0, 0)
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

// choose finds the best split of a leaf. Of equal splits it takes that of the first column and bin.
func (l *leaf) choose(c *Columns, tried []int) {
	l.gain = 0
	if l.all.rows < 2*LeastRows {
		return
	}
	whole := l.all.gain()
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
			high := l.all.less(low)
			if high.rows < LeastRows {
				break
			}
			parts := low.gain() + high.gain()
			if gain := parts - whole; gain > l.gain+1e-9*parts { // else rounding decides
				l.gain, l.column, l.bin = gain, j, uint8(b)
			}
		}
	}
}

// split divides a leaf. The larger part has what the smaller leaves of the sums, which are added up for a part that may be
// split.
func (g *grower) split(l *leaf, last bool) (low, high *leaf) {
	of, n := g.columns.bins[l.column], 0
	g.spare = g.spare[:0]
	for _, i := range l.rows {
		if of[i] <= l.bin {
			l.rows[n] = i
			n++
		} else {
			g.spare = append(g.spare, i)
		}
	}
	copy(l.rows[n:], g.spare)
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
	large.all, large.bins = l.all.less(small.all), l.bins
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
				large.bins[j][b] = large.bins[j][b].less(small.bins[j][b])
			}
		}
		small.choose(g.columns, g.tried)
	}
	large.choose(g.columns, g.tried)
	return low, high
}
