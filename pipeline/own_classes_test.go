package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// Classes that lie one behind another cannot each be separated from all others by a line, but a multinomial regression tells them apart.
// The target's rows alone are enough for it, also for methods whose sources have no rows of these classes.
func TestOwnClasses(t *testing.T) {
	rng := testrand.New(t)
	const classes = 5
	set := shops(rng, 4, 600, 4, classes, true)
	for i := range set.Tasks {
		task := &set.Tasks[i]
		for row := range task.Labels {
			x := features(set, task.Pool, row)
			behind := int(math.Floor(2*x[0]+0.1*rng.NormFloat64())) + 2
			task.Labels[row] = float32(b2i(min(max(behind, 0), classes-1) == i%classes))
		}
		if task.Pool != 0 {
			task.Output.Name, task.Output.Class = "other", "class"+string(rune('a'+i%classes))
		}
	}
	cfg := defaultConfig(t)
	cfg.TargetSamples, cfg.Methods = 250, []string{Active, Target}
	u, st := runUnit(t, openDevice(t, 1, set), cfg, 0)
	for _, e := range st.Epochs {
		if e.Epoch == u.problem.RoundsOf(e.Method) {
			must.Hold(t, e.Score.Value < 0.27, "%s errs %g", e.Method, e.Score.Value)
		}
	}
	for _, e := range st.Epochs {
		last := e.Epoch == u.problem.RoundsOf(e.Method)
		helped := e.BaseModels() == "one regression on the target's samples"
		must.Hold(t, last == helped, "round %d of %s has the help of %q", e.Epoch, e.Method, e.BaseModels())
	}
}

// The weights of the features are in proportion to X'(Y - P), as they are where the objective is least, whether there are more samples or
// more features.
func TestOwnClassesAreLeast(t *testing.T) {
	rng := testrand.New(t)
	for _, shape := range [][2]int{{25, 60}, {80, 5}} {
		samples, d := shape[0], shape[1]
		set := shops(rng, 2, 200, d, 3, true)
		cfg := defaultConfig(t)
		cfg.TargetSamples = samples
		l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
		defer l.Close()
		in := must.Get(l.inUnits(l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)), true))(t)
		u := must.Get(l.model.units())(t)
		of := must.Get(l.problem.ownClasses(t.Context(), l.targetRows(in.Target.Rows, u), in.Target, []int{0, 1, 2}, u))(t)
		must.Equal(t, len(of), 1, "base models")
		rows := l.targetRows(in.Target.Rows, u)
		var weights, slopes []float64
		residuals := mat.NewDense(samples, 3, nil)
		for i := range samples {
			z := residuals.RawRowView(i)
			for c, p := range of[0] {
				delta, centred := p.head[len(p.head)-d:], rows.X.RawRowView(i)
				z[c] = float64(p.head[cfg.K])
				for j, v := range delta {
					z[c] += float64(v) / u.scale * (centred[j] + (rows.Mean[j]-float64(u.centre[j]))/u.ofFeature(j)*u.scale)
				}
			}
			regress.Logits{}.Loss(z, slices.Index(in.Target.Y[3*i:3*i+3], 1))
		}
		for c, p := range of[0] {
			weights = append(weights, wide(p.head[len(p.head)-d:])...)
			var slope mat.VecDense
			slope.MulVec(rows.X.T(), residuals.ColView(c))
			slopes = append(slopes, slope.RawVector().Data...)
		}
		cos := -linalg.Dot(weights, slopes) / floats.Norm(weights, 2) / floats.Norm(slopes, 2)
		must.Hold(t, cos > 1-1e-4, "%d samples of %d features: the weights are at %g to what is least", samples, d, cos)
	}
}

// The regression on the target's rows alone is fitted once for all rounds of all methods, and ends with the context.
func TestOwnClassesOnce(t *testing.T) {
	set := shops(testrand.New(t), 4, 200, 5, 3, true)
	cfg := defaultConfig(t)
	cfg.TargetSamples, cfg.Centring = 60, CentringGlobal
	l := must.Get(newLearner(openDevice(t, 1, set), cfg, 0))(t)
	defer l.Close()
	st := must.Get(l.Solve(t.Context(), State{}, quiet, unsaved))(t)
	found := 0
	for _, rows := range l.rows {
		found += len(rows.own)
	}
	must.Equal(t, found, 1, "regressions on the target's rows alone, of methods")
	must.Hold(t, slices.ContainsFunc(st.Epochs, func(e Epoch) bool { return e.Method == Target && e.HeadAlone > 0 }), "target is without it")
	ctx, stop := context.WithCancel(t.Context())
	stop()
	l.rows = nil
	in := l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t))
	in.Method = Target
	must.Is(t, must.Err(l.Learn(ctx, State{}, l.problem.LookUp(must.Get(l.problem.Propose(State{}))(t)))), context.Canceled, "a short round")
	_, err := l.learnAlone(ctx, Epoch{Method: Target}, in)
	must.Hold(t, errors.Is(err, context.Canceled), "a round of target that nobody waits for ends with %v", err)
}
