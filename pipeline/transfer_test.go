package pipeline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
	"github.com/amtrl/amtrl/pipeline/internal/linalg"
	"github.com/amtrl/amtrl/pipeline/internal/regress"
)

// transferRound learns the first round of active for target 1 with relevance transfer. It returns the learner, the round in the units of
// the fit, and its record.
func transferRound(t *testing.T, set *dataset.Set, cfg Config) (*Learner, Round, Epoch) {
	t.Helper()
	cfg.Sources, cfg.Relevance.Kind = SourcesPools, Transfer
	p := must.Get(NewProblem(set, cfg, 1))(t)
	l := must.Get(NewLearner(openDevice(t, 1, set), p))(t)
	t.Cleanup(l.Close)
	round := p.LookUp(must.Get(p.Propose(State{}))(t))
	st := must.Get(l.Learn(t.Context(), State{}, round))(t)
	return l, must.Get(l.inUnits(p.alike(round), false))(t), st.Epochs[0]
}

// The relevance is the mean, over the outputs whose labels differ, of the squared correlation of the target's labels, of which some are
// missing, with the predictions of the source's head of the same output, less what noise adds. Negative correlations count as 0.
func TestTransfer(t *testing.T) {
	rng := testrand.New(t)
	for _, classes := range []bool{true, false} {
		set := shops(rng, 5, 300, 6, 3, classes)
		l, round, e := transferRound(t, set, defaultConfig(t))
		heads, phi := must.Get(download64(l.queue, l.model.heads()))(t), must.Get(l.phi(new(hostCopy), poolRows{1, round.Target.Rows}))(t)
		for m, got := range e.Nu {
			want, differ := 0.0, 0.0
			for c := range 3 {
				var f, y []float64
				for i := range round.Target.Rows {
					if label := float64(round.Target.Y[3*i+c]); label == label {
						f, y = append(f, linalg.Dot(heads.RawRowView(3*m+c), phi.RawRowView(i)[:3])), append(y, label)
					}
				}
				differ += float64(b2i(slices.Max(y) > slices.Min(y)))
				if r := stat.Correlation(f, y, nil); r > 0 {
					n := float64(len(y) - 1)
					want += math.Max(0, r*r-l.relevance.byNoise.At(3*m+c, c)/(n*n*stat.Variance(f, nil)*stat.Variance(y, nil)))
				}
			}
			want /= differ
			if math.Abs(got-want) > 1e-6 {
				t.Errorf("classes %v: nu of source %d is %g, want %g", classes, m, got, want)
			}
		}
		if e.NuRank != linalg.Nonzero(e.Nu) || e.NuRank == 0 {
			t.Errorf("rank %d of %v", e.NuRank, e.Nu)
		}
	}
}

// Where a source has no output of the same column and class, the largest squared correlation of
// its outputs counts, with either sign; of the same output, a negative correlation counts as 0.
func TestTransferOfOtherOutputs(t *testing.T) {
	for _, same := range []bool{true, false} {
		set := shops(testrand.New(t), 4, 300, 6, 2, true)
		for i := range set.Tasks {
			if !same {
				set.Tasks[i].Output.Name = set.Pools[set.Tasks[i].Pool].Name
			}
			if p := set.Tasks[i].Pool; p == 2 { // with all labels reversed
				for j, y := range set.Tasks[i].Labels {
					set.Tasks[i].Labels[j] = 1 - y
				}
			}
		}
		_, _, e := transferRound(t, set, defaultConfig(t))
		if opposite := e.Nu[1]; (opposite == 0) != same || e.Nu[0] < 0.1 {
			t.Errorf("same columns %v: nu %v, expected that of the second to be 0 where they are", same, e.Nu)
		}
	}
}

// The correlation of pairs that count several times is that of the pairs written out, and that of a constant is 0.
func TestCorrelation(t *testing.T) {
	rng := testrand.New(t)
	for range 50 {
		n := 3 + rng.IntN(30)
		f, y, times := normals(rng, n), normals(rng, n), make([]float64, n)
		var ff, yy []float64
		for i := range f {
			times[i] = float64(rng.IntN(3))
			if y[i] += f[i]; rng.IntN(5) == 0 {
				y[i] = math.NaN()
				continue
			}
			for range int(times[i]) {
				ff, yy = append(ff, f[i]), append(yy, y[i])
			}
		}
		got, pairs := correlation(f, y, times)
		if want := stat.Correlation(ff, yy, nil); want == want && math.Abs(got-want) > 1e-9 || pairs > len(yy) {
			t.Fatalf("correlation %g of %d pairs, want %g", got, pairs, want)
		}
		if r, _ := correlation(slices.Repeat([]float64{rng.NormFloat64()}, n), y, nil); math.Abs(r) > 1e-6 {
			t.Fatalf("correlation of a constant is %g", r)
		}
	}
}

// For labels that are noise, byChance is the mean of the sum of squared relevances; where the best of several outputs counts, it is an
// upper bound of that mean.
func TestTransferByChance(t *testing.T) {
	rng := testrand.New(t)
	for _, outputs := range []int{1, 5} {
		for _, named := range []bool{true, false} {
			const n, repeats = 30, 4000
			compared, isNamed := make([][][]int, 4), make([][]bool, 4)
			for m := range compared {
				for c := range outputs {
					with := []int{m*outputs + c}
					if !named {
						with = append(with, m*outputs+(c+1)%outputs)
					}
					compared[m], isNamed[m] = append(compared[m], slices.Compact(with)), append(isNamed[m], named)
				}
			}
			sum, tr := 0.0, (*transfer)(nil)
			for range repeats {
				tr = &transfer{phi: mat.NewDense(n, 3, normals(rng, 3*n)), compared: compared, named: isNamed, allNamed: named}
				labels := make([][]float64, outputs)
				for c := range labels {
					labels[c] = append(normals(rng, n-5), slices.Repeat([]float64{math.NaN()}, 5)...)
				}
				tr.setLabels(labels)
				nu := tr.nu(mat.NewDense(4*outputs, 3, normals(rng, 12*outputs)), nil)
				sum += linalg.Dot(nu, nu) / repeats
			}
			ratio := tr.byChance() / sum
			most := 1.15
			if !named && outputs > 1 {
				most = 3
			}
			must.Hold(t, ratio > 0.87 && ratio < most, "%d outputs, named %v: %.3g of the mean over %d draws", outputs, named, ratio, repeats)
		}
	}
}

// Relevances that are no more than chance leave the draws nearly even; in proportion to their squares, one source would get most.
func TestActiveOfChance(t *testing.T) {
	rng := testrand.New(t)
	largest, even := 0.0, 0.0
	for range 24 {
		set := shops(rng, 9, 300, 60, 1, false)
		for i := range set.Tasks {
			if set.Tasks[i].Pool == 1 {
				copy(set.Tasks[i].Labels, narrow(normals(rng, len(set.Tasks[i].Labels))))
			}
		}
		cfg := defaultConfig(t)
		cfg.Sources, cfg.Relevance.Kind, cfg.Methods, cfg.TargetSamples = SourcesPools, Transfer, []string{Active}, 20
		cfg.Schedule.Budget, cfg.Schedule.Floor = 800, 5
		_, st := runUnit(t, openDevice(t, 1, set), cfg, 1)
		last := st.Epochs[len(st.Epochs)-1]
		largest, even = largest+float64(slices.Max(last.Counts)), even+float64(last.Samples)/float64(len(last.Counts))
	}
	must.Hold(t, largest < 2.05*even, "of a target of noise the most drawn source has %.3g times its even part", largest/even)
}

// Heads that are 0, and a source without outputs to compare, have the relevance 0.
func TestTransferOfNothing(t *testing.T) {
	rng := testrand.New(t)
	tr := &transfer{phi: mat.NewDense(20, 4, normals(rng, 80)), compared: [][][]int{{{0}}, {nil}}, named: [][]bool{{true}, {false}}}
	tr.setLabels([][]float64{normals(rng, 20)})
	if nu := tr.nu(mat.NewDense(2, 4, nil), nil); len(nu) != 2 || slices.Max(nu) != 0 {
		t.Errorf("nu of nothing: %v", nu)
	}
}

// The intervals of nu cover the mean over draws of all samples about as often as they say, and are
// at most twice as wide as those of a normal distribution with the spread of nu between draws.
func TestTransferUncertainty(t *testing.T) {
	const draws = 12
	rng := testrand.New(t)
	hits, all, width, square := 0, 0, 0.0, 0.0
	for range must.Long(6, 3) {
		set := shops(rng, 7, 600, 6, 3, true)
		dev := openDevice(t, 1, set)
		cfg := defaultConfig(t)
		cfg.Sources, cfg.TargetSamples, cfg.Methods = SourcesPools, 40, []string{Active}
		cfg.Schedule = Schedule{Kind: ScheduleBudget, Epochs: 2, Floor: 20, Budget: 600}
		var found []Epoch
		mean := make([]float64, 6)
		for seed := range uint64(draws) {
			cfg.Seed = seed
			_, st := runUnit(t, dev, cfg, 6)
			e := st.Epochs[1]
			found = append(found, e)
			for m, v := range e.Nu {
				mean[m] += v / draws
			}
		}
		for _, e := range found {
			for m, v := range mean {
				u := e.Uncertainty
				hits += b2i(u.NuLow[m] <= v && v <= u.NuHigh[m])
				all++
				width += u.NuHigh[m] - u.NuLow[m]
				square += (e.Nu[m] - v) * (e.Nu[m] - v)
			}
		}
	}
	covered := 100 * float64(hits) / float64(all)
	ratio := width / float64(all) / (2 * 1.645 * math.Sqrt(square/float64(all)))
	t.Logf("90 %% intervals cover %.1f %% of %d means, and are %.2f times as wide as those of a normal distribution", covered, all, ratio)
	if covered < 80 || ratio > 2 {
		t.Errorf("coverage %.1f %%, width %.2f, expected 80 %% and more, and at most 2", covered, ratio)
	}
}

// inGroups returns numbers of n samples of variance 1, each of them for so many samples in a row, whose intraclass correlation is rho.
func inGroups(rng *rand.Rand, n, each int, rho float64) []float64 {
	of, own := normals(rng, n), normals(rng, n)
	for i := range of {
		of[i] = math.Sqrt(rho)*own[i/each] + math.Sqrt(1-rho)*of[i]
	}
	return of
}

// For labels that are noise, byChance is the mean of the sum of squared relevances also where samples are in groups, whatever predictions
// and labels have in common in a group. Copies count as one.
func TestTransferByChanceOfGroups(t *testing.T) {
	rng := testrand.New(t)
	const n, each, missing, repeats = 60, 5, 5, 3000
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(i / each)
	}
	for _, rho := range [][2]float64{{0, 0}, {1, 0}, {0, 1}, {0.5, 0.5}, {1, 0.5}, {1, 1}} {
		sum, byChance := 0.0, 0.0
		for range repeats {
			tr := &transfer{phi: mat.NewDense(n, 3, nil), compared: [][][]int{{{0}}, {{1}}}, named: [][]bool{{true}, {true}}, allNamed: true,
				together: regress.GroupsOf(numbers)}
			for j := range 3 {
				tr.phi.SetCol(j, inGroups(rng, n, each, rho[0]))
			}
			tr.setLabels([][]float64{append(inGroups(rng, n-missing, each, rho[1]), slices.Repeat([]float64{math.NaN()}, missing)...)})
			nu := tr.nu(mat.NewDense(2, 3, normals(rng, 2*3)), nil)
			sum, byChance = sum+linalg.Dot(nu, nu)/repeats, byChance+tr.byChance()/repeats
			if rho == [2]float64{1, 1} {
				must.Hold(t, near(tr.independent()([]int{0}, 0), (n-missing)/each, 1e-9), "copies count as %g", tr.independent()([]int{0}, 0))
			}
		}
		t.Logf("predictions %g, labels %g: by chance %.3g, found %.3g", rho[0], rho[1], byChance, sum)
		must.Hold(t, byChance > 0.75*sum && byChance < 2*sum, "correlations %v within groups: %.3g by chance, %.3g found", rho, byChance, sum)
	}
}
