package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
	"github.com/amtrl/amtrl/pipeline/pipelinetest"
)

const shopSide = 8 // height and width of the images of imageShops

// imageShops returns a set of pools of images of one to three channels that each show three patterns at random strengths. The outputs are
// the classes of one column, namely which pattern is the strongest, or two columns of numbers: two of the strengths with noise, in
// different units, with some labels missing. Each pool multiplies its images by a factor of its own.
func imageShops(rng *rand.Rand, pools, rows int, classes bool) *dataset.Set {
	const side = shopSide
	set := &dataset.Set{Name: "image shops", Binary: classes}
	channels := 1 + rng.IntN(3)
	patterns := [][]float64{normals(rng, 9*channels), normals(rng, 9*channels), normals(rng, 9*channels)}
	for p := range pools {
		pool := &dataset.Pool{Name: fmt.Sprint("shop", p), Rows: rows, Cols: side * side * channels, Height: side, Width: side, Scale: 1}
		light, strengths := 0.7+0.6*rng.Float64(), make([][]float64, rows)
		for i := range rows {
			image := normals(rng, side*side*channels)
			strengths[i] = normals(rng, len(patterns))
			for k, pattern := range patterns {
				top, left := 3*(k/2), 4*(k%2)+rng.IntN(2)
				for j, v := range pattern {
					at, c := j/channels, j%channels
					image[((top+at/3)*side+left+at%3)*channels+c] += 8 * strengths[i][k] * v
				}
			}
			for _, v := range image { // rounded, so that float32 can hold 20 v + 500
				pool.F32 = append(pool.F32, float32(int(16*light*v))/128)
			}
		}
		set.Pools = append(set.Pools, pool)
		for c := range 2 + b2i(classes) {
			t := dataset.Task{Name: fmt.Sprint(pool.Name, "_", c), Pool: p, Labels: make([]float32, rows)}
			t.Output = dataset.Output{Name: "column", Class: fmt.Sprint("class", c)}
			if !classes {
				t.Output = dataset.Output{Name: fmt.Sprint("column", c)}
			}
			for i, s := range strengths {
				t.Labels[i] = float32(b2i(slices.Max(s) == s[c]))
				if !classes {
					t.Labels[i] = float32((s[c] + 0.1*rng.NormFloat64()) * []float64{1, 100}[c])
				}
				switch {
				case !classes && c > 0 && i%3 == 0:
				case i%5 == 0:
					t.Test = append(t.Test, int32(i))
				default:
					t.Train = append(t.Train, int32(i))
				}
			}
			set.Tasks = append(set.Tasks, t)
		}
	}
	return set
}

// convPoolsConfig returns the settings of preset default with a network for imageShops.
func convPoolsConfig(t *testing.T) Config {
	cfg := defaultConfig(t)
	cfg.Sources, cfg.Representation, cfg.ERM = SourcesPools, ClassConv, ERM{}
	cfg.Schedule.Epochs, cfg.K = 2, 4
	cfg.Conv = &Conv{Channels: []int{6}, Passes: 6, Batch: 8, Rate: 0.02, Decay: 0.01, Validation: 0.1, Patience: 6, WarmStart: true}
	return cfg
}

// A network with several outputs, of classes or of numbers in different units, errs less than constant. A [Predictor] of the tensors of
// each method agrees with the network computed by its definition, and its predictions have the score of the method.
func TestConvPools(t *testing.T) {
	rng := testrand.New(t)
	for _, classes := range []bool{true, false} {
		set := imageShops(rng, 4, 200, classes)
		dev := openDevice(t, 2, set)
		u := must.Get(newLearner(dev, convPoolsConfig(t), 0))(t)
		t.Cleanup(u.Close)
		scores := map[string]float64{}
		must.Get(u.Solve(context.Background(), State{}, quiet, func(st State) error {
			e, in := st.Epochs[len(st.Epochs)-1], u.problem.LookUp(Proposal{Test: u.problem.draws.test}).Test
			p := must.Get(NewPredictor(pipelinetest.NewQueue(t, dev.Device), u.Tensors(st), shopSide, shopSide))(t)
			defer p.Close()
			host, tensor := pipelinetest.NewHostNet(shopSide, shopSide, u.Tensors(st)), map[string][]float64{}
			for _, x := range u.Tensors(st) {
				tensor[x.Name] = wide(x.Data)
			}
			var all []float32
			pred, byHost := make([][]float32, p.C), make([][]float32, p.C)
			for _, r := range in.Rows {
				x := features(set, 0, int(r))
				all = append(all, narrow(x)...)
				z, _ := host.Features(x)
				for c := range p.C {
					y := linalg.Dot(z, tensor["target.weight"][c*p.K:(c+1)*p.K]) + tensor["target.bias"][c] +
						linalg.Dot(host.InUnits(x), tensor["target.delta"][c*p.D:(c+1)*p.D])
					byHost[c] = append(byHost[c], float32(y*tensor["labels.scale"][c]))
				}
			}
			y := make([]float32, len(in.Rows)*p.C)
			must.Do(t, p.Predict(&dataset.Pool{Rows: len(in.Rows), Cols: p.D, F32: all, Scale: 1}, y))
			for i, v := range y {
				pred[i%p.C] = append(pred[i%p.C], v)
			}
			groups := classGroups(set, u.problem.Target)
			for c := range pred {
				closeVectors(t, fmt.Sprintf("%s: output %d", e.Method, c), wide(pred[c]), wide(byHost[c]), 1e-4, 0)
			}
			if s, _ := scorePredictions(u.problem.metric(), u.logOdds, groups, pred, in.Y, regress.Groups{}); !near(s.Value, e.Score.Value, 1e-4) {
				t.Errorf("classes %v, %s: the score is %+v, the tensors predict %+v", classes, e.Method, e.Score, s)
			}
			scores[e.Method] = e.Score.Value
			return nil
		}))(t)
		if !(scores[Active] < 0.7*scores[Constant] && scores[Uniform] < 0.7*scores[Constant]) || len(scores) != 5 {
			t.Errorf("classes %v: the scores are %v", classes, scores)
		}
	}
}

// Results of a network do not depend on the units of pixels and labels. The factors are powers of two, which round nothing: minibatches,
// maxima and ReLUs would amplify a difference in the last bit.
func TestConvUnits(t *testing.T) {
	set := imageShops(testrand.New(t), 4, 150, false)
	cfg := convPoolsConfig(t)
	cfg.Methods = []string{Active, Uniform}
	sameInOtherUnits(t, set, cfg, 0, affine{by: 16}, affine{by: 8})
}

// A network learns from all labels of a row, too.
func TestConvOfPools(t *testing.T) {
	set := smallImages(3, 6, 120, 8, 8)
	for i := range set.Tasks { // three outputs of each of two pools
		set.Tasks[i].Pool = i / 3
		set.Tasks[i].Output = dataset.Output{Name: "shape", Class: fmt.Sprint(i % 3)}
	}
	set.Pools = set.Pools[:2]
	cfg := smallConvConfig()
	cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 5, Budget: 60}
	u, st := runUnit(t, openDevice(t, 1, set), cfg.Complete(set).Canonical(), 1)
	if len(u.problem.Sources) != 1 || u.problem.outputs() != 3 || len(st.Epochs) != 3 {
		t.Errorf("%d sources of %d outputs, %d rounds", len(u.problem.Sources), u.problem.outputs(), len(st.Epochs))
	}
	if e := st.Epochs[1]; e.Samples != 60 || !(e.Fit.Loss > 0 && e.Fit.Loss < 1) {
		t.Errorf("%d samples, loss %g", e.Samples, e.Fit.Loss)
	}
}
