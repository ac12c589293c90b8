package dataset

import (
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// Where float32 does not hold the differences between float64 values of a column, or between labels, of all pools together, the layout is
// refused with the column. What is the same in all rows, or stored as float32, is taken.
func TestLayoutOfFloat64(t *testing.T) {
	rng := testrand.New(t)
	const rows, cols = 30, 3
	far := 1e9 * (1 + rng.Float64())
	for _, c := range []struct {
		descr         string
		image, second float64 // what is added to column 1, in all pools and in the second pool
		label         float64
		want          string
	}{
		{"<f8", 0, 0, 0, ""},
		{"<f8", 1000, 0, -1000, ""},
		{"<f8", far, 0, 0, "*_images.npy: column 1: expected numbers that float32 can tell apart, found "},
		{"<f8", 0, 0, -far, "*_labels.npy: expected numbers that float32 can tell apart, found -"},
		{"<f8", far, far, 0, ""}, // as the pools differ by more than what is lost
		{"<f4", far, 0, far, ""},
	} {
		dir := t.TempDir()
		for k, pool := range []string{"a", "b"} {
			images, labels := make([]float64, rows*cols), make([]float64, rows)
			for i := range images {
				switch images[i] = rng.NormFloat64(); i % cols {
				case 0:
					images[i] = far + 0.1
				case 1:
					images[i] += c.image + float64(k)*c.second
				}
			}
			for i := range labels {
				labels[i] = rng.NormFloat64() + c.label
			}
			of := func(v []float64) any {
				if c.descr == "<f8" {
					return v
				}
				var out []float32
				for _, x := range v {
					out = append(out, float32(x))
				}
				return out
			}
			writeFile(t, filepath.Join(dir, pool, "train_images.npy"), npyFile(c.descr, of(images), rows, cols))
			writeFile(t, filepath.Join(dir, pool, "train_labels.npy"), npyFile(c.descr, of(labels), rows))
		}
		_, err := ReadLayout(dir)
		if c.want == "" {
			must.Do(t, err)
			continue
		}
		must.Fail(t, c.want, err, filepath.Join(dir, "*", c.want), ": measure them from another zero")
	}
}
