package pipeline

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
)

// The predictions of predictors for rows are phi w, or phi w + X delta, up to a constant, whatever the scaling of the features.
func TestSayIsOfPhiAndOfRows(t *testing.T) {
	for _, scaling := range []string{ScalingGlobal, ScalingFeature, ScalingNone} {
		rng := testrand.New(t)
		set := strangers(rng, 5, 1)
		cfg := strangersConfig(t, 30)
		cfg.Scaling = scaling
		p := must.Get(NewProblem(set, cfg, 0))(t)
		l := must.Get(NewLearner(openDevice(t, 1, set), p))(t)
		defer l.Close()
		round := p.LookUp(must.Get(p.Propose(State{}))(t))
		must.Get(l.Learn(t.Context(), State{}, round))(t)
		u := must.Get(l.model.units())(t)
		of := poolRows{p.Sources[2].Pool, round.Sources[2].Rows}
		phi := must.Get(l.phi(new(hostCopy), of))(t)
		_, k := phi.Dims()
		const count = 3
		random := func(rows int) *mat.Dense {
			m := mat.NewDense(rows, count, nil)
			m.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, m)
			return m
		}
		d := set.Pools[0].Cols
		for _, with := range []predictors{{w: random(k)}, {w: random(k), delta: random(d)}} {
			want := linalg.Product(phi, with.w)
			if with.delta != nil {
				row := make([]float32, d)
				for i, r := range of.rows {
					set.Pools[of.pool].ReadRow(int(r), row)
					for j, v := range row {
						x := float64(v)
						if u.each != nil {
							x /= float64(u.each[j])
						}
						for c := range count {
							want.Set(i, c, want.At(i, c)+x*with.delta.At(j, c))
						}
					}
				}
			}
			got := must.Get(l.predictLinear(new(hostCopy), with, of))(t)
			linalg.Centre(got)
			linalg.Centre(want)
			var off mat.Dense
			off.Sub(got, want)
			if e := mat.Norm(&off, 2) / mat.Norm(want, 2); !(e < 1e-5) || math.IsNaN(e) {
				t.Errorf("scaling %s, delta %v: off by %.2g of the norm", scaling, with.delta != nil, e)
			}
		}
	}
}
