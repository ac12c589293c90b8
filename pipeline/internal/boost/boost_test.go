package boost

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// stages is the number of stages of a forest.
const stages = 5

func upTo(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// table returns n rows of d cells with few values each, and labels of some outputs that depend on them.
func table(rng *rand.Rand, n, d, outputs int, kind Kind) (x []float32, y []float64) {
	for range n * d {
		x = append(x, float32(rng.IntN(12))/4)
	}
	for i := range n {
		row := x[i*d:][:d]
		at := 0.0
		for j, v := range row {
			at += float64(v) * float64(j%3-1)
		}
		if row[0] > 1 != (row[d-1] > 1.5) {
			at += 3
		}
		at += rng.NormFloat64()
		class := min(max(int(at), 0), outputs-1)
		for k := range outputs {
			switch {
			case kind == Numbers:
				y = append(y, at*float64(k+1))
			case outputs == 1 && at > 1, outputs > 1 && class == k:
				y = append(y, 1)
			default:
				y = append(y, 0)
			}
		}
	}
	return x, y
}

// slowTree fits a tree to gradients g and curvatures h by trying every value of every column at every leaf, and returns
// the value of each row.
func slowTree(x []float32, d int, g, h []float64) []float64 {
	type part struct {
		rows      []int
		gain      float64
		low, high []int
	}
	of := func(rows []int) (value, gain float64) {
		sumG, sumH := 0.0, float64(shrinkage)
		for _, i := range rows {
			sumG, sumH = sumG+g[i], sumH+h[i]
		}
		return -rate * sumG / sumH, sumG * sumG / sumH
	}
	split := func(rows []int) part {
		p := part{rows: rows}
		_, whole := of(rows)
		for j := range d {
			for _, i := range rows {
				var low, high []int
				for _, k := range rows {
					if x[k*d+j] <= x[i*d+j] {
						low = append(low, k)
					} else {
						high = append(high, k)
					}
				}
				if len(low) < LeastRows || len(high) < LeastRows {
					continue
				}
				_, a := of(low)
				_, b := of(high)
				if gain := a + b - whole; gain > p.gain+1e-9*(a+b) {
					p.gain, p.low, p.high = gain, low, high
				}
			}
		}
		return p
	}
	all := make([]int, len(g))
	for i := range all {
		all[i] = i
	}
	leaves := []part{split(all)}
	for len(leaves) < maxLeaves {
		best := 0
		for k, l := range leaves {
			if l.gain > leaves[best].gain {
				best = k
			}
		}
		if leaves[best].gain <= 0 {
			break
		}
		l := leaves[best]
		leaves[best] = split(l.low)
		leaves = append(leaves, split(l.high))
	}
	predicted := make([]float64, len(g))
	for _, l := range leaves {
		value, _ := of(l.rows)
		for _, i := range l.rows {
			predicted[i] = value
		}
	}
	return predicted
}

// A tree is the one that trying all splits finds.
func TestTreeIsGreedy(t *testing.T) {
	rng := testrand.New(t)
	for range 20 {
		n, d := 60+rng.IntN(300), 1+rng.IntN(5)
		x, y := table(rng, n, d, 1, Numbers)
		c := NewColumns(x, d)
		b := newBooster(c, y, y, 1, Numbers, upTo(n), nil)
		b.tried = b.some[0].next()
		for i := range n {
			b.gradient[i], b.curvature[i] = -y[i], 0.1+rng.Float64()
		}
		tree, want := b.grow(slices.Clone(b.rows), rate), slowTree(x, d, b.gradient, b.curvature)
		for i, v := range want {
			if got := float64(tree.at(c, i)); math.Abs(got-v) > 1e-6*(1+math.Abs(v)) {
				t.Fatalf("%d rows of %d columns: row %d has %g, expected %g", n, d, i, got, v)
			}
		}
	}
}

// A forest predicts a row as a fit that left the row out did, where the other rows are the same. Labels of rows that are
// left out do not count.
func TestForestPredictsAsLeftOut(t *testing.T) {
	rng, ctx := testrand.New(t), context.Background()
	for _, kind := range []Kind{Numbers, Classes} {
		for outputs := 1; outputs < 4; outputs++ {
			n, d, left := 200+rng.IntN(100), 1+rng.IntN(4), 20
			x, y := table(rng, n, d, outputs, kind)
			moreX, moreY := table(rng, left, d, outputs, kind)
			var out []int
			for i := range left {
				out = append(out, n+i)
			}
			for i := range moreX { // values of the other rows, so that bins are the same
				moreX[i] = x[rng.IntN(n)*d+i%d]
			}
			start := slices.Repeat([]float64{0.5}, n*outputs)
			fitted, all := NewColumns(x, d), NewColumns(slices.Concat(x, moreX), d)
			if sources := rng.IntN(5); sources > 0 { // of which own may have no row that is fitted
				var of []int32
				for range n {
					of = append(of, int32(rng.IntN(sources)))
				}
				own := sources - rng.IntN(2)
				fitted.SplitBySource(of, sources+1, own)
				all.SplitBySource(append(of[:n:n], slices.Repeat([]int32{int32(own)}, left)...), sources+1, own)
			}
			f := must.Get(Fit(ctx, fitted, y, start, outputs, kind, upTo(n), stages))(t)
			for k := range f.Start {
				f.Start[k] = 0.5
			}
			predicted := must.Get(LeftOut(ctx, all, slices.Concat(y, moreY), slices.Concat(start, start), outputs, kind, upTo(n), out, stages))(t)
			got := make([]float64, outputs)
			for i := range left {
				f.Predict(moreX[i*d:][:d], got)
				for k, v := range got {
					want := slices.Clone(predicted[stages-1][i*outputs:][:outputs])
					if kind == Classes && outputs > 1 {
						ToLogOdds(want)
					}
					if want := want[k]; math.Abs(v-want) > 1e-9*(1+math.Abs(want)) {
						t.Fatalf("kind %d, %d outputs: row %d has %g, expected %g", kind, outputs, i, v, want)
					}
				}
			}
			if kind == Classes && outputs > 1 {
				sum := 0.0
				for _, v := range got {
					sum += 1 / (1 + math.Exp(-v))
				}
				must.Hold(t, math.Abs(sum-1) < 1e-9, "probabilities of classes that exclude each other sum to %g", sum)
			}
		}
	}
}

// Trees depend on the order of the values of a column alone.
func TestTreesIgnoreUnits(t *testing.T) {
	rng, ctx := testrand.New(t), context.Background()
	const n, d = 300, 3
	x, y := table(rng, n, d, 1, Numbers)
	for i, v := range x { // more values than bins, so far apart that their exponentials differ too
		x[i] = float32(math.Round(0x1p16*float64(v+rng.Float32()/1000)) / 0x1p16)
	}
	other := make([]float32, len(x))
	for i, v := range x {
		other[i] = float32(math.Exp(float64(v)))
	}
	left := []int{3, 5, 200}
	rows := upTo(n)[201:]
	a := must.Get(LeftOut(ctx, NewColumns(x, d), y, make([]float64, n), 1, Numbers, rows, left, stages))(t)
	b := must.Get(LeftOut(ctx, NewColumns(other, d), y, make([]float64, n), 1, Numbers, rows, left, stages))(t)
	for s := range a {
		must.Hold(t, slices.Equal(a[s], b[s]), "with exponentials of the cells: %v, expected %v", b[s], a[s])
	}
}

// What columns do together is found: the sign of a product of three.
func TestTreesFindInteractions(t *testing.T) {
	rng, ctx := testrand.New(t), context.Background()
	const n, d = 2000, 4
	var x []float32
	var y []float64
	for range n {
		product := 1.0
		for range d {
			x = append(x, float32(rng.NormFloat64()))
		}
		for _, v := range x[len(x)-d:][:3] {
			product *= float64(v)
		}
		y = append(y, math.Copysign(1, product))
	}
	left := make([]int, 400)
	for i := range left {
		left[i] = i
	}
	predicted := must.Get(LeftOut(ctx, NewColumns(x, d), y, make([]float64, n), 1, Numbers, upTo(n)[400:], left, stages))(t)
	sum := 0.0
	for i, v := range predicted[stages-1] {
		sum += (v - y[i]) * (v - y[i]) / float64(len(left))
	}
	must.Hold(t, sum < 0.5, "mean squared error %g of labels with variance 1", sum)
}

// Every cell is in the bin that its cuts say, whatever the values.
func TestBins(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		n := 1 + rng.IntN(400)
		x := make([]float32, n)
		for i := range x {
			switch rng.IntN(6) {
			case 0:
				x[i] = float32(rng.IntN(3))
			case 1:
				x[i] = math.Float32frombits(math.Float32bits(1) + uint32(rng.IntN(4))) // neighbours
			case 2:
				x[i] = float32(math.Copysign(math.Exp(80*rng.NormFloat64()), rng.NormFloat64()))
				if math.IsInf(float64(x[i]), 0) {
					x[i] = math.MaxFloat32
				}
			case 3:
				x[i] = float32(math.Copysign(0, -1))
			default:
				x[i] = float32(rng.NormFloat64())
			}
		}
		c := NewColumns(x, 1)
		must.Hold(t, len(c.cuts[0]) < maxBins && slices.IsSorted(c.cuts[0]), "%d cuts", len(c.cuts[0]))
		for i, v := range x {
			b := int(c.bins[0][i])
			must.Hold(t, (b == 0 || v > c.cuts[0][b-1]) && (b == len(c.cuts[0]) || v <= c.cuts[0][b]), "%g in bin %d of %v", v, b, c.cuts[0])
		}
		if distinct := slices.Compact(slices.Sorted(slices.Values(x))); len(distinct) <= maxBins {
			must.Equal(t, len(c.cuts[0]), len(distinct)-1, "cuts of few values")
		}
	}
}

// Where values are whole numbers, none is a cut.
func TestCutsOfWholeNumbers(t *testing.T) {
	rng := testrand.New(t)
	for range 100 {
		x, unit := make([]float32, 1+rng.IntN(300)), float32(int(1)<<rng.IntN(10))
		for i := range x {
			x[i] = unit * float32(rng.IntN(100)-50)
		}
		for _, cut := range NewColumns(x, 1).cuts[0] {
			must.Hold(t, float64(cut/unit) != math.Round(float64(cut/unit)), "cut %g of whole numbers times %g", cut, unit)
		}
	}
}

// With too few rows for a split, or none at all, all rows have one prediction, and a cancelled context ends a fit.
func TestFewRows(t *testing.T) {
	ctx := context.Background()
	for _, n := range []int{0, 1, 2*LeastRows - 1} {
		x, y := make([]float32, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float32(i), float64(i)
		}
		f := must.Get(Fit(ctx, NewColumns(x, 1), y, make([]float64, n), 1, Numbers, upTo(n), stages))(t)
		predicted, mean := []float64{0}, float64(max(n-1, 0))/2
		f.Predict([]float32{1}, predicted)
		must.Hold(t, predicted[0] >= 0.99*mean*float64(n)/float64(n+1) && predicted[0] <= mean, "%d rows of mean %g: %g", n, mean, predicted[0])
		odds := must.Get(Fit(ctx, NewColumns(x, 1), make([]float64, 2*n), make([]float64, 2*n), 2, Classes, upTo(n), 1))(t)
		predicted = []float64{0, 0}
		odds.Predict([]float32{1}, predicted)
		must.Hold(t, math.Abs(predicted[0]) < 1e-6 && math.Abs(predicted[1]) < 1e-6, "%d rows of no class: %v", n, predicted)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	_, err := Fit(ctx, NewColumns([]float32{1}, 1), []float64{1}, []float64{0}, 1, Numbers, upTo(1), 1)
	must.Hold(t, err == context.Canceled, "a cancelled fit: %v", err)
}

// A tree of one leaf adds the Newton step of its rows: -0.1 sum G / (sum H + 1) for the slope G = p - y and the curvature
// H = p (1 - p) of the loss of a class, whatever is predicted so far.
func TestClassesTakeNewtonSteps(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		for _, outputs := range []int{1, 3} {
			n := 1 + rng.IntN(2*LeastRows-1)
			x, y := table(rng, n, 2, outputs, Classes)
			start := make([]float64, n*outputs)
			for i := range start {
				start[i] = 2 * rng.NormFloat64()
			}
			b := newBooster(NewColumns(x, 2), y, start, outputs, Classes, upTo(n), nil)
			for k, tree := range b.step() {
				g, h := 0.0, 1.0
				for i := range n {
					of, sum := start[i*outputs:][:outputs], 0.0
					for _, v := range of {
						sum += math.Exp(v)
					}
					if outputs == 1 {
						sum++ // of the rest, whose logit is 0
					}
					p := math.Exp(of[k]) / sum
					g, h = g+p-y[i*outputs+k], h+p*(1-p)
				}
				got, want := float64(tree.Nodes[0].Value), -0.1*g/h
				must.Hold(t, math.Abs(got-want) < 1e-6*(1+math.Abs(want)), "class %d of %d, %d rows: a step of %g, expected %g", k, outputs, n,
					got, want)
			}
		}
	}
}

// A column and its negative have the same splits, whose sums are taken in opposite orders: rounding does not choose between
// them, and trees split on the first alone, until nothing but rounding is left.
func TestFirstOfEqualColumns(t *testing.T) {
	rng := testrand.New(t)
	for range 5 {
		const n = 500
		x, y := table(rng, n, 1, 1, Numbers)
		both := make([]float32, 0, 2*n)
		for _, v := range x {
			both = append(both, v, -v)
		}
		f := must.Get(Fit(context.Background(), NewColumns(both, 2), y, make([]float64, n), 1, Numbers, upTo(n), stages))(t)
		must.Hold(t, f.Gain[0] > 0 && f.Gain[1] < 1e-12*f.Gain[0],
			"of equal columns, the first has the gain %g and the second %g", f.Gain[0], f.Gain[1])
	}
}
