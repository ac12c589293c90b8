package pipeline

import (
	"slices"
	"testing"

	"github.com/amtrl/amtrl/internal/must"
)

// DueTo names the cause of the largest part of each share, which with a fixed mix is nu for all sources.
func TestDueTo(t *testing.T) {
	costs := []float64{1, 1, 1}
	for _, c := range []struct {
		e    Epoch
		want []string
	}{
		{Epoch{Nu: []float64{1, 0, 0.1}, Match: []float64{0, 1, 0}, Own: 0.5, MatchByChance: 0.2}, []string{"", ByExploration, ByEven}},
		{Epoch{Nu: []float64{0.2, 0.1, 0}, NuByChance: 1, Match: []float64{1, 2, 3}, Own: 0.4, MatchByChance: 1},
			[]string{ByEven, ByEven, ByEven}},
		{Epoch{Nu: []float64{0, 0, 0}, Match: []float64{0, 0, 0}, Own: 1}, []string{ByEven, ByEven, ByEven}},
		{Epoch{Nu: []float64{1, 2, 0}, Match: []float64{1, 1, 1}}, []string{"", "", ""}},
		{Epoch{Nu: []float64{1, 2, 2}}, []string{"", "", ""}},
	} {
		got := Allocation{Rule: RuleSquared, Mix: MixAuto}.DueTo(&c.e, costs)
		must.Hold(t, slices.Equal(got, c.want), "%+v: due to %q, expected %q", c.e, got, c.want)
		got = Allocation{Rule: RuleSquared, Mix: 0.9}.DueTo(&c.e, costs)
		must.Hold(t, slices.Equal(got, []string{"", "", ""}), "with a fixed mix due to %q", got)
	}
}
