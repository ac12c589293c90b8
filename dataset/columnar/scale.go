package columnar

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/amtrl/amtrl/dataset/manifest"
	"github.com/amtrl/amtrl/dataset/table"
)

// spread gathers the mean and the standard deviation of each feature over all rows that
// have it. Sums are of differences from the first one, which keeps their digits.
type spread struct {
	rows             float64
	first, sum, squa []float64
	missing          []int64
}

// scales tells whether each feature is brought to mean 0 and standard deviation 1:
// where the manifest says so, and where it says nothing and each is a column.
func (s *survey) scales() (bool, error) {
	switch is := s.manifest.Scale; {
	case is == manifest.ScaleFeature && s.element != table.Float32:
		return false, fmt.Errorf("%s: columns: scale: expected features that are kept as float32, found %s", s.manifest.Path, s.element)
	case is != "":
		return is == manifest.ScaleFeature, nil
	}
	return len(s.features) > 1 && s.element == table.Float32, nil
}

// add counts a row.
func (s *spread) add(row []float32) {
	if s.first == nil {
		for _, x := range row {
			s.first = append(s.first, float64(x))
		}
		s.sum, s.squa, s.missing = make([]float64, len(row)), make([]float64, len(row)), make([]int64, len(row))
	}
	s.rows++
	for j, x := range row {
		d := float64(x) - s.first[j]
		switch {
		case x != x:
			s.missing[j]++
			continue
		case d != d:
			s.first[j], d = float64(x), 0
		}
		s.sum[j] += d
		s.squa[j] += d * d
	}
}

// units are the means and the standard deviations, 1 for a feature that is the same in
// all rows.
func (s *spread) units() (centre, scale []float64) {
	for j, first := range s.first {
		rows := s.rows - float64(s.missing[j])
		mean := s.sum[j] / rows
		deviation := math.Sqrt(max(0, s.squa[j]/rows-mean*mean))
		if !(deviation > 1e-12*math.Abs(first+mean)) || deviation < 1e-30 {
			deviation = 1
		}
		centre, scale = append(centre, first+mean), append(scale, deviation)
	}
	return centre, scale
}

// rescale fills missing features of a file with their means, and brings all to their units where there are such.
func rescale(dir string, data int64, means, centre, scale []float64) error {
	f, err := os.OpenFile(filepath.Join(dir, featuresFile), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	row := 4 * len(means)
	raw := make([]byte, max(1, (1<<20)/row)*row)
	for at := data; ; {
		n, err := f.ReadAt(raw, at)
		if err != nil && err != io.EOF {
			return err
		}
		for i := 0; i+4 <= n; i += 4 {
			j := i / 4 % len(means)
			x := float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[i:])))
			if x != x {
				x = means[j]
			}
			if len(centre) > 0 {
				x = (x - centre[j]) / scale[j]
			}
			binary.LittleEndian.PutUint32(raw[i:], math.Float32bits(float32(x)))
		}
		if _, err := f.WriteAt(raw[:n], at); err != nil {
			return err
		}
		if at += int64(n); n < len(raw) {
			return f.Sync()
		}
	}
}
