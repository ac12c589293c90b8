package pipeline

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// A source that is far from all others does not count in the spread of the sources, wherever it is. Without one, or where there are too few
// to tell, all count.
func TestSpreadOfSources(t *testing.T) {
	rng, all := testrand.New(t), 0
	for range 200 {
		v := normals(rng, 6+rng.IntN(10))
		got, want := spreadOfSources(v, 1), stat.PopVariance(v, nil)
		must.Hold(t, got <= want, "the spread %g is above %g", got, want)
		if got == want {
			all++
		}
		far := append([]float64{30 * math.Copysign(1, rng.NormFloat64())}, v...)
		must.Hold(t, spreadOfSources(far, 1) < 1.5*want, "the spread is %g with a source that is far, %g without", spreadOfSources(far, 1), want)
		must.Equal(t, spreadOfSources(far, 2), stat.PopVariance(far, nil), "several outputs")
		few := append([]float64{30}, v[:fewIntercepts-1]...)
		must.Equal(t, spreadOfSources(few, 1), stat.PopVariance(few, nil), "few sources")
	}
	must.Hold(t, all > 170, "all sources count in %d of 200 sets", all)
	must.Equal(t, spreadOfSources([]float64{2, 2, 2, 2, 2, 7}, 1), 0, "sources that are the same but for one")
}

// clinics returns eight sources of 300 rows and a target of 60 samples, two of them positive, and 2,000 rows for tests, of which a tenth is
// positive, as of all others. The labels of the last source are the other way round where odd is true.
func clinics(seed uint64, odd bool) *dataset.Set {
	rng := rand.New(rand.NewPCG(seed, 0))
	const d = 8
	set := &dataset.Set{Name: "clinics", Binary: true}
	for m := range 9 {
		n, target := 300, m == 8
		if target {
			n = 2060
		}
		name := string(rune('a' + m))
		pool := &dataset.Pool{Name: name, Rows: n, Cols: d, Scale: 1, F32: narrow(normals(rng, n*d)), Target: target}
		task := dataset.Task{Name: name, Pool: m, Output: dataset.Output{Name: "ill", Class: "yes"}, Labels: make([]float32, n)}
		for i := range n {
			x := pool.F32[i*d:]
			ill := float64(x[0])-float64(x[1])+rng.NormFloat64() > 2.2
			if target && i < 60 {
				ill = i < 2 // as by chance
			}
			task.Labels[i] = float32(b2i(ill != (odd && m == 7)))
			if target && i >= 60 {
				task.Test = append(task.Test, int32(i))
			} else {
				task.Train = append(task.Train, int32(i))
			}
		}
		set.Pools, set.Tasks = append(set.Pools, pool), append(set.Tasks, task)
	}
	return set
}

// Where chance gives the target's samples few positives, one source with labels the other way round does not take away what the others say
// about how many there are.
func TestLevelBesideOddSource(t *testing.T) {
	cfg := defaultConfig(t)
	cfg.Methods, cfg.Sources = []string{Active}, SourcesPools
	cfg.K, cfg.TargetSamples, cfg.Schedule = 4, 60, Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 5, Budget: 1600}
	rate := func(seed uint64, odd bool) float64 {
		set := clinics(seed, odd)
		l, st := runUnit(t, openDevice(t, 1, set), cfg, 8)
		p := must.Get(NewPredictor(l.queue, l.Tensors(st), 0, 0))(t)
		defer p.Close()
		y := make([]float32, set.Pools[8].Rows)
		must.Do(t, p.Predict(set.Pools[8], y))
		sum := 0.0
		for _, v := range y[60:] {
			sum += 1 / (1 + math.Exp(-float64(v)))
		}
		return sum / float64(len(y)-60)
	}
	seed := testrand.Seed(t)
	for i := range uint64(3) {
		with, without := rate(seed+i, true), rate(seed+i, false)
		t.Logf("mean probability %.4f, with a source of labels the other way round %.4f", without, with)
		must.Hold(t, with > 0.85*without, "the mean probability falls from %g to %g by one source", without, with)
	}
}
