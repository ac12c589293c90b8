package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
)

// spread gathers the mean and the standard deviation of each feature over all rows that have it. It sums differences from the first value,
// to keep their digits.
type spread struct {
	rows             float64
	first, sum, squa []float64
	missing          []int64
}

// spreads gathers the spread of the features both rounded to float32 and unrounded, and the largest rounding error of each.
type spreads struct {
	rounded, unrounded spread
	lost               []float64
	row                [2][]float64
}

// add takes row i into account and returns its features before rounding, until the next call.
func (s *spreads) add(v *table.Vectors, i int) []float64 {
	if s.lost == nil {
		s.lost, s.row = make([]float64, v.Width), [2][]float64{make([]float64, v.Width), make([]float64, v.Width)}
	}
	rounded, unrounded := s.row[0], s.row[1]
	for j := range unrounded {
		rounded[j], unrounded[j] = float64(v.F32[i*v.Width+j]), v.Wide(i*v.Width+j)
		if lost := math.Abs(unrounded[j] - rounded[j]); lost > s.lost[j] {
			s.lost[j] = lost
		}
	}
	s.rounded.add(rounded)
	s.unrounded.add(unrounded)
	return unrounded
}

// units returns the centre and the scale of each feature as float32 holds it. Features whose rounding loses digits of their differences
// beyond those that float32 itself loses, such as seconds since 1970, are measured before rounding, and fine is true for them.
func (s *spreads) units() (centre, scale []float64, fine []bool) {
	const most = 1e-6
	centre, scale = s.rounded.units()
	centres, scales := s.unrounded.units()
	for j, lost := range s.lost {
		fine = append(fine, lost > most*scales[j])
		if fine[j] {
			centre[j], scale[j] = centres[j], scales[j]
		}
	}
	return centre, scale, fine
}

// scales reports whether each of width features is brought to mean 0 and standard deviation 1: where the manifest says so, and where it
// says nothing and features are a column each, kept as float32.
func (s *survey) scales(width int) (bool, error) {
	switch is := s.manifest.Scale; {
	case is == manifest.ScaleFeature && s.element != table.Float32:
		return false, fmt.Errorf("%s: columns: scale: expected features that are kept as float32, found %s", s.manifest.Path, s.element)
	case is != "":
		return is == manifest.ScaleFeature, nil
	}
	lists := len(s.features) == 1 && width > 1 && len(s.categories) == 0 && !s.manifest.Derives()
	return !lists && s.element == table.Float32, nil
}

// add takes a row into account, in which NaN is a missing feature.
func (s *spread) add(row []float64) {
	if s.first == nil {
		s.first = slices.Clone(row)
		s.sum, s.squa, s.missing = make([]float64, len(row)), make([]float64, len(row)), make([]int64, len(row))
	}
	s.rows++
	for j, x := range row {
		d := x - s.first[j]
		switch {
		case x != x:
			s.missing[j]++
			continue
		case d != d:
			s.first[j], d = x, 0
		}
		s.sum[j] += d
		s.squa[j] += d * d
	}
}

// units returns the means and the standard deviations, which are 0 and 1 for a product of columns that no row has both
// of, and 1 for a feature that is the same in all rows.
func (s *spread) units() (centre, scale []float64) {
	for j, first := range s.first {
		rows := s.rows - float64(s.missing[j])
		if rows == 0 {
			centre, scale = append(centre, 0), append(scale, 1)
			continue
		}
		mean := s.sum[j] / rows
		deviation := math.Sqrt(max(0, s.squa[j]/rows-mean*mean))
		if !(deviation > 1e-12*math.Abs(first+mean)) || deviation < 1e-30 {
			deviation = 1
		}
		centre, scale = append(centre, first+mean), append(scale, deviation)
	}
	return centre, scale
}

// rescale replaces the float64 features of a file by float32 features, in place. It fills missing features with their means and, where
// centre is not empty, scales each to (x - centre) / scale. Features that are not fine are rounded to float32 first, and
// cells are cut to the limits of their features. data is the byte of the file at which the features begin.
func rescale(dir string, data int64, means, centre, scale []float64, fine []bool, cuts []dataset.Cut) error {
	f, err := os.OpenFile(filepath.Join(dir, featuresFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	cut := make([]*dataset.Cut, len(means))
	for i := range cuts {
		cut[cuts[i].Feature] = &cuts[i]
	}
	row := 8 * len(means)
	raw := make([]byte, max(1, (1<<20)/row)*row)
	for from, to := data, data; ; {
		n, err := f.ReadAt(raw, from)
		if err != nil && err != io.EOF {
			return err
		}
		for i := 0; i+8 <= n; i += 8 {
			j := i / 8 % len(means)
			x := math.Float64frombits(binary.LittleEndian.Uint64(raw[i:]))
			if !fine[j] {
				x = float64(float32(x))
			}
			if x != x {
				x = means[j]
			} else if cut[j] != nil {
				x = cut[j].Of(x)
			}
			if len(centre) > 0 {
				x = (x - centre[j]) / scale[j]
			}
			binary.LittleEndian.PutUint32(raw[i/2:], math.Float32bits(float32(x)))
		}
		if _, err := f.WriteAt(raw[:n/2], to); err != nil {
			return err
		}
		from, to = from+int64(n), to+int64(n/2)
		if n < len(raw) {
			return errors.Join(f.Truncate(to), f.Sync())
		}
	}
}
