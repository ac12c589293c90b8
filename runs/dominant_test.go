package runs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/amtrl/amtrl/backend"
	"github.com/amtrl/amtrl/cpu"
	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline"
)

// numbersApart returns four pools of numbers, of which the first is the target with 25 labels; wild is added to the label of its row 7.
func numbersApart(t *testing.T, rng *rand.Rand, wild float32, groups bool) *dataset.Set {
	const d, rows = 4, 60
	set := &dataset.Set{Name: "numbers"}
	for p := range 4 {
		pool, y := &dataset.Pool{Name: fmt.Sprint("p", p), Rows: rows, Cols: d, Scale: 1, Target: p == 0}, make([]float32, rows)
		for i := range rows {
			sum := 0.0
			for j := range d {
				x := rng.NormFloat64()
				pool.F32, sum = append(pool.F32, float32(x)), sum+x*float64(1+j)
			}
			y[i] = float32(sum + rng.NormFloat64())
			if p == 0 && i >= 25 {
				y[i] = float32(math.NaN())
			} else if groups {
				pool.Groups = append(pool.Groups, int32(i/2))
			}
		}
		for groups && len(pool.Groups) < rows {
			pool.Groups = append(pool.Groups, -1)
		}
		if p == 0 {
			y[7] += wild
		}
		must.Do(t, set.AddNumbers(pool, "weight", y, nil))
	}
	return set
}

// A sample that makes most of the stated error is named, and none where no sample does or where samples are in groups.
func TestDominant(t *testing.T) {
	rng := testrand.New(t)
	for _, c := range []struct {
		wild   float32
		groups bool
		want   string
	}{{0, false, ""}, {60, false, "sample in row 7 (from 0) of the target makes "}, {60, true, ""}} {
		set := numbersApart(t, rng, c.wild, c.groups)
		device := must.Get(cpu.Open(1))(t)
		defer device.Close()
		data := must.Get(pipeline.NewResident(device, set))(t)
		defer data.Close()
		cfg := must.Get(pipeline.NewConfig(pipeline.PresetDefault))(t)
		cfg, _ = cfg.Fit(set, []string{"p0"})
		id := NewIdentity("v", set, backend.Choice{Device: device, Reason: "a test"}, cfg)
		id.Targets = []string{"p0"}
		res := must.Get(Run(t.Context(), data, id, t.TempDir(), nil))(t)
		got := ""
		if res.Dominant != nil {
			got = res.Dominant.String()
			must.Hold(t, res.Dominant.Part > dominantPart && res.Dominant.Label > 20, "%+v", res.Dominant)
		}
		must.Hold(t, (got == "") == (c.want == "") && strings.HasPrefix(got, c.want), "%v added, groups %v: %q", c.wild, c.groups, got)
	}
}
