package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// chooseRows is the number of rows by which settings are chosen, and againRows that by which the width and the noise are chosen again: the
// more rows there are, the finer is what they tell of the labels between them, and the narrower the kernel that makes these likely.
const chooseRows, againRows = 250, 700

// widths are the widths that are tried, in median squared distances; noises and levels what is tried for Noise and Level.
var (
	widths = []float64{0.5, 0.25, 1, 2}
	noises = []float64{0.003, 0.01, 0.03, 0.1, 0.3, 1, 3}
	levels = []float64{0.1, 1, 10}
)

// chooseShared is what is shared while the other settings are chosen.
const chooseShared = 0.8

// Choose returns the settings but Shared that make the labels of some of the rows the likeliest (the evidence; Rasmussen and Williams
// 2006, section 5.4), of those that are tried for one after the other: the noise, the width, the noise again where that changed, the spread
// of levels and, by more rows, the width and the noise.
func (r *Rows) Choose() (best Settings, err error) {
	some, least := r.some(chooseRows), math.Inf(1)
	median := some.median()
	best = Settings{Width: widths[0] * median, Shared: chooseShared, Level: levels[0], Noise: noises[len(noises)-1]}
	try := func(of []float64, set func(s *Settings, to float64)) {
		at := best
		for _, v := range of {
			s := at
			if set(&s, v); err != nil || s == best && !math.IsInf(least, 1) {
				continue
			}
			var f *Fit
			if f, err = some.Fit(s); err == nil && f.NegLogLik < least {
				best, least = s, f.NegLogLik
			}
		}
	}
	noise := func(s *Settings, to float64) { s.Noise = to }
	width := func(s *Settings, to float64) { s.Width = to * median }
	try(noises, noise)
	if try(widths, width); best.Width != widths[0]*median {
		try(noises, noise)
	}
	try(levels, func(s *Settings, to float64) { s.Level = to })
	if len(r.Source) > chooseRows {
		some, least = r.some(againRows), math.Inf(1)
		found, at := best.Width/median, slices.Index(noises, best.Noise)
		try([]float64{found, found / 2, 2 * found}, width)
		try(noises[max(0, at-1):min(len(noises), at+2)], noise)
	}
	return best, err
}

// some returns about that many of the rows, at even distances.
func (r *Rows) some(most int) *Rows {
	n, c := r.Y.Dims()
	if n <= most { // as here, none is left out
		return &Rows{Squares: r.Squares, Source: r.Source, Target: n, Y: r.Y}
	}
	out := &Rows{Squares: mat.NewSymDense(most, nil), Y: mat.NewDense(most, c, nil), Target: most}
	at := func(i int) int { return i * n / most }
	for i := range most {
		out.Source = append(out.Source, r.Source[at(i)])
		out.Y.SetRow(i, r.Y.RawRowView(at(i)))
		for j := i; j < most; j++ {
			out.Squares.SetSym(i, j, r.Squares.At(at(i), at(j)))
		}
	}
	return out
}

// median returns the median squared distance of two rows, 1 where that is 0.
func (r *Rows) median() float64 {
	n := len(r.Source)
	var all []float64
	for i := range n {
		for j := i + 1; j < n; j++ {
			all = append(all, r.Squares.At(i, j))
		}
	}
	slices.Sort(all)
	if len(all) == 0 || all[len(all)/2] <= 0 {
		return 1
	}
	return all[len(all)/2]
}
