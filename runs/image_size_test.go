package runs

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/npy"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

// The model of a network for images of three channels predicts arrays of such images, and the same rows without a shape. It refuses
// arrays of another shape, such as channels that come first.
func TestPredictImages(t *testing.T) {
	set := smallImages(78, 3, 300, 6, 8)
	for _, p := range set.Pools {
		p.Height, p.Width = 4, 4
	}
	dev, dir := openDevice(t, 2, set), t.TempDir()
	must.Equal(t, set.Pools[0].Channels(), 3, "channels")
	res := mustRun(t, dev, identityOf(dev, smallConvConfig(), []string{set.Tasks[0].Name}, 0), dir)
	q := pipelinetest.NewQueue(t, dev.Device)
	predict := func(name string, shape ...int) (string, error) {
		raw := npy.FormatHeader("<f4", append([]int{9}, shape...)...)
		for _, row := range set.Tasks[0].Test[:9] {
			for _, x := range features(set, 0, int(row)) {
				raw = must.Get(binary.Append(raw, binary.LittleEndian, float32(x)))(t)
			}
		}
		p := Prediction{Dir: dir, Files: []string{filepath.Join(dir, name+".npy")}, Out: filepath.Join(dir, "labels of "+name+".csv")}
		must.Do(t, os.WriteFile(p.Files[0], raw, 0o644))
		_, err := Predict(t.Context(), q, p, nil)
		if err != nil {
			must.Absent(t, p.Out)
			return "", err
		}
		return string(must.Get(os.ReadFile(p.Out))(t)), nil
	}
	want := must.Get(predict("images", 4, 4, 3))(t)
	must.Equal(t, must.Get(predict("vectors", 48))(t), want, "rows without a shape, recommended is %s", res.Recommended)
	for name, shape := range map[string][]int{"first": {3, 4, 4}, "wide": {4, 12}, "turned": {4, 3, 4}, "flat": {2, 8, 3}} {
		_, err := predict(name, shape...)
		must.Fail(t, name, err, name+".npy: expected images of 4 by 4 by 3, as those of the run, found arrays of ")
	}
}
