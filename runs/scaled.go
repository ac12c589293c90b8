package runs

import (
	"math"

	"github.com/amtrl/amtrl/dataset/table"
	"github.com/amtrl/amtrl/pipeline"
)

const (
	// scaledTimes is the factor by which the root mean square of vectors must be above or below that of the vectors
	// that the model was fitted to, for the vectors to be reported.
	scaledTimes = 10
	// scaledLeast is the smallest number of rows that is judged.
	scaledLeast = 10
)

// scaled compares the size of vectors with that of the vectors that a model was fitted to. Of these the model has the
// mean m_j and the standard deviation s_j of each feature, or the root s of the mean of s_j^2, so that the mean of
// their squares is that of m_j^2 + s_j^2.
//
// A row like them is larger than 10 times the root of that with a probability below 1/100, however its features are
// distributed (Markov's inequality). Rows are reported as larger where at least half of those that are not all zeros
// exceed this size, and the root mean square over all rows does too. They are reported as smaller where the root mean
// square over all rows is below 1/10 of the size that was expected.
type scaled struct {
	known  []bool // features whose spread is known; a constant feature has a spread of 1 in the model
	square float64
	scale  float64 // the factor of elements of one byte
	rows   float64
	zeros  float64 // rows of zeros
	larger float64
	sum    float64
}

// newScaled returns nil where the features are not vectors, which are one column or have no names, and where the units
// are not known.
func newScaled(m *storedModel, tensors []pipeline.Tensor) *scaled {
	var centre, spread []float32
	for _, t := range tensors {
		switch t.Name {
		case centreTensor:
			centre = t.Data
		case scaleTensor:
			spread = t.Data
		}
	}
	d := m.predictor.D
	if len(m.features) > 1 || m.derived.Count() > 0 || d < 2 || len(centre) != d || len(spread) != 1 && len(spread) != d {
		return nil
	}
	s, n := &scaled{known: make([]bool, d), scale: float64(m.scale)}, 0.0
	for j, c := range centre {
		v := spread[min(j, len(spread)-1)]
		if v == 1 {
			continue
		}
		s.known[j] = true
		s.square += float64(c)*float64(c) + float64(v)*float64(v)
		n++
	}
	if s.square /= n; !(s.square > 0) {
		return nil
	}
	return s
}

// add counts rows. Missing elements are NaN.
func (s *scaled) add(v *table.Vectors) {
	if s == nil {
		return
	}
	times := 1.0
	if v.U8 != nil {
		times = s.scale
	}
	for i := 0; i < v.Len(); i += v.Width {
		sum, n := 0.0, 0.0
		for j, known := range s.known {
			if x := times * v.Element(i+j); known && x == x {
				sum += x * x
				n++
			}
		}
		if n == 0 {
			continue
		}
		of := sum / n / s.square
		s.rows, s.sum = s.rows+1, s.sum+of
		switch {
		case of == 0:
			s.zeros++
		case of > scaledTimes*scaledTimes:
			s.larger++
		}
	}
}

// tell calls say with how many times as large the rows are, if they are of another size.
func (s *scaled) tell(say func(times float64)) {
	if s == nil || say == nil || s.rows < scaledLeast {
		return
	}
	if times := math.Sqrt(s.sum / s.rows); times > scaledTimes && s.larger >= (s.rows-s.zeros)/2 || times < 1./scaledTimes {
		say(times)
	}
}
