package gaussian

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// chooseRows is the number of rows by which settings are chosen: they are those of a process, whatever the number of rows.
const chooseRows = 400

// widths are the widths that are tried, in median squared distances; noises and levels what is tried for Noise and Level.
var (
	widths = []float64{0.25, 0.5, 1, 2}
	noises = []float64{0.003, 0.01, 0.03, 0.1, 0.3, 1, 3}
	levels = []float64{0.1, 1, 10}
)

// chooseShared is what is shared while the other settings are chosen.
const chooseShared = 0.8

// Choose returns the settings but Shared that make the labels of some of the rows the likeliest (the evidence; Rasmussen and Williams
// 2006, section 5.4), and the median squared distance of these rows.
func (r *Rows) Choose() (best Settings, err error) {
	some := r.some(chooseRows)
	median := some.median()
	least := math.Inf(1)
	try := func(s Settings) error {
		f, err := some.Fit(s)
		if err == nil && f.Unlikely < least {
			best, least = s, f.Unlikely
		}
		return err
	}
	best = Settings{Width: median, Shared: chooseShared, Level: levels[0], Noise: 1}
	for _, w := range widths {
		for _, noise := range noises {
			if err := try(Settings{w * median, chooseShared, levels[0], noise}); err != nil {
				return best, err
			}
		}
	}
	for _, level := range levels[1:] {
		s := best
		s.Level = level
		if err := try(s); err != nil {
			return best, err
		}
	}
	return best, nil
}

// some returns about that many of the rows, at even distances.
func (r *Rows) some(most int) *Rows {
	n, c := r.Y.Dims()
	if n <= most {
		return r
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
