package pipeline

import (
	"math"
	"slices"
	"testing"

	"github.com/amtrl/amtrl/dataset"
	"github.com/amtrl/amtrl/internal/must"
	"github.com/amtrl/amtrl/internal/testrand"
)

// With each sample counted once, the target's side of a replicate is that of the round: its own part, and the correlations that give the
// match.
func TestRedrawIsTheRound(t *testing.T) {
	rng := testrand.New(t)
	for _, set := range []*dataset.Set{strangers(rng, 5, 2), shops(rng, 5, 400, 6, 3, true), shops(rng, 5, 400, 6, 3, false)} {
		cfg := strangersConfig(t, 30)
		p := must.Get(NewProblem(set, cfg, 0))(t)
		l := must.Get(NewLearner(openDevice(t, 1, set), p))(t)
		defer l.Close()
		round := p.LookUp(must.Get(p.Propose(State{}))(t))
		e := must.Get(l.Learn(t.Context(), State{}, round))(t).Epochs[0]
		round = must.Get(l.inUnits(round, false))(t)
		fit := must.Get(l.fitHead(round.Target))(t)
		once := slices.Repeat([]float64{1}, len(round.Target.Rows))
		side := must.Get(l.redraw(t.Context(), round, fit, [][]float64{once, once}, rng))(t)
		sum, o := matchSum{of: make([]float64, len(e.Match)), chances: make([]*matchChance, len(side.r))}, 0
		for m, source := range p.Sources {
			for range source.Tasks {
				for c, r := range side.r {
					must.Hold(t, r.At(o, 0) == r.At(o, 1), "two draws of the same samples differ")
					sum.add(c, m, o, math.Pow(r.At(o, 1), 2), float64(l.counts[o]))
				}
				o++
			}
		}
		closeVectors(t, set.Name+": match", sum.of, e.Match, 2e-3, 1e-3)
		must.Hold(t, math.Abs(side.own[1]-e.Own) < 1e-3, "%s: own part %g, of the round %g", set.Name, side.own[1], e.Own)
	}
}

// Where exploration decides the shares, by chance or because a source is like the target, intervals of shares cover the mean over runs with
// other samples of the target and other rows of the sources about as often as they say, to a hundredth of the budget. They cover the share
// of a single run as often as intervals of a mean do, which is 75 % for a normal distribution. Their width is 0 only where all is spread
// evenly.
func TestShareIntervalsHoldOtherRuns(t *testing.T) {
	const runs, sources = 14, 7
	rng := testrand.New(t)
	for _, like := range must.Some(rng, 1, 0, 1) {
		means, inside, all, narrow := 0, 0, 0, 0
		for range 3 {
			set := strangers(rng, sources, like)
			dev, mean := openDevice(t, 1, set), make([]float64, sources)
			var shares [][]float64
			var found []Epoch
			for seed := range uint64(runs) {
				cfg := strangersConfig(t, 20)
				cfg.Seed = seed
				l, st := runUnit(t, dev, cfg, 0)
				e := st.Epochs[len(st.Epochs)-1]
				found, shares = append(found, e), append(shares, cfg.Allocation.SharesAfter(&e, l.problem.Costs))
				for m, s := range shares[seed] {
					mean[m] += s / runs
				}
			}
			for i, e := range found {
				u := e.Uncertainty
				for m := range sources {
					holds := func(share, by float64) int { return b2i(u.ShareLow[m]-by <= share && share <= u.ShareHigh[m]+by) }
					means += holds(mean[m], 0.01)
					narrow += b2i(e.Own > 0 && e.MatchByChance < 0.9 && u.ShareHigh[m] == u.ShareLow[m])
					for j := range found {
						if i != j {
							inside += holds(shares[j][m], 1e-9)
							all++
						}
					}
				}
			}
		}
		ofMeans, ofRuns := 100*float64(means)/(3*runs*sources), 100*float64(inside)/float64(all)
		t.Logf("%d sources like the target: 90 %% intervals hold %.1f %% of means, %.1f %% of other runs", like, ofMeans, ofRuns)
		must.Hold(t, ofMeans > 80 && ofRuns > 60, "intervals hold %.1f %% of means and %.1f %% of other runs", ofMeans, ofRuns)
		must.Hold(t, narrow == 0, "%d intervals have no width where not all is spread evenly", narrow)
	}
}
