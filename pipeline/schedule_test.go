package pipeline

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/internal/testrand"
)

func TestPaperSchedule(t *testing.T) {
	plans := Schedule{Kind: SchedulePaper, Epochs: 4, Floor: 50}.Plan(ones(159), 50, 784)
	for i, want := range []float64{7482, 11223, 16834, 25251} {
		if math.Round(plans[i].Cost) != want || plans[i].Floor != 50 {
			t.Errorf("epoch %d: cost %g, floor %g, want %g and 50", i+1, plans[i].Cost, plans[i].Floor, want)
		}
	}
}

func TestBudgetScheduleEndsAtTheBudget(t *testing.T) {
	plans := Schedule{Kind: ScheduleBudget, Epochs: 3, Budget: 9000}.Plan(ones(10), 5, 20)
	for i, want := range []float64{4000, 6000, 9000} {
		if !near(plans[i].Cost, want, 1e-12) {
			t.Errorf("epoch %d: cost %g, want %g", i+1, plans[i].Cost, want)
		}
	}
}

// Where all samples cost the same, as many are drawn by the end of each epoch as the plan says.
func TestBudgetScheduleSpends(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		m, c := 1+rng.IntN(20), []float64{1, 0.1, 2.5, math.Exp(rng.NormFloat64())}[rng.IntN(4)]
		costs, have, limit := make([]float64, m), make([]int, m), make([]int, m)
		for i := range costs {
			costs[i], limit[i] = c, 1<<30
		}
		s := Schedule{Kind: ScheduleBudget, Epochs: 1 + rng.IntN(6), Floor: rng.IntN(9)}
		s.Budget = math.Ceil((1 + float64(m*s.Floor)*c) * (1 + 9*rng.Float64()))
		for _, p := range s.Plan(costs, 3, 5) {
			have = spend(Allocation{Rule: RuleSquared}.rates(normals(rng, m), costs), costs, p.Cost, s.Floor, have, limit)
			sum := 0
			for _, n := range have {
				sum += n
			}
			if spent, known := s.Spent(p, costs); !known || !near(spent, c*float64(sum), 1e-12) {
				t.Fatalf("%+v: by epoch %d, of %g, %d samples for %g each are drawn, the plan says %g", s, p.Epoch, p.Cost, sum, c, spent)
			}
		}
	}
	s := Schedule{Kind: ScheduleBudget, Epochs: 1, Budget: 9}
	if spent, known := s.Spent(s.Plan([]float64{1, 2}, 3, 5)[0], []float64{1, 2}); known || spent != 9 {
		t.Errorf("with several costs the plan says %g, known %v", spent, known)
	}
}

// The total cost of the first round is at least that of the floor, that of the last is the budget, and in between it grows from round to
// round by one factor, at most 1.5. Where the floor costs more than the budget, it is the budget in each round.
func TestBudgetScheduleLeavesNoRoundEmpty(t *testing.T) {
	rng := testrand.New(t)
	for range 200 {
		costs := make([]float64, 1+rng.IntN(200))
		for m := range costs {
			costs[m] = math.Exp(rng.NormFloat64())
		}
		s := Schedule{Kind: ScheduleBudget, Epochs: 2 + rng.IntN(9), Floor: rng.IntN(60), Budget: 1}
		floor := float64(s.Floor) * floats.Sum(costs)
		s.Budget = max(1, floor) * (1 + 20*rng.Float64())
		plans := s.Plan(costs, 3, 5)
		free := s.Budget * math.Pow(1.5, float64(1-s.Epochs))
		if !near(plans[0].Cost, max(floor, free), 1e-9) || plans[len(plans)-1].Cost != s.Budget {
			t.Fatalf("%+v: rounds from %g to %g, the floor costs %g", s, plans[0].Cost, plans[len(plans)-1].Cost, floor)
		}
		ratio := plans[1].Cost / plans[0].Cost
		for i := 1; i < len(plans); i++ {
			if r := plans[i].Cost / plans[i-1].Cost; !(r > 1) || r > 1.5+1e-9 || !near(r, ratio, 1e-9) {
				t.Fatalf("%+v: epoch %d has %g times the cost of the one before, epoch 2 %g", s, i+1, r, ratio)
			}
		}
		s.Budget = floor / 2
		for _, p := range s.Plan(costs, 3, 5) {
			if p.Cost != s.Budget {
				t.Fatalf("%+v: a round of %g, though the floor costs more than the budget", s, p.Cost)
			}
		}
	}
}

// beta must satisfy the theorem's equation at the N that it leads to.
func TestTheoryBetaIsAFixedPoint(t *testing.T) {
	th := Theory{Delta: 0.1, R: 2, SigmaMin: 0.7}
	k, m, d, epochs := 5, 50, 60, 6
	beta := th.beta(k, m, d, epochs)
	n := 0.0
	for i := 1; i <= epochs; i++ {
		n += beta * (float64(m)*math.Pow(2, float64(i)) + math.Pow(4, float64(i)))
	}
	want := 3000 * 25 * 4 * (5*50 + 5*60*math.Log(n/50) + math.Log(50*6/0.1)) / math.Pow(0.7, 6)
	if !near(beta, want, 1e-9) {
		t.Errorf("beta is %g, the theorem's formula gives %g", beta, want)
	}
	plans := Schedule{Kind: ScheduleTheory, Epochs: epochs, Theory: &th}.Plan(ones(m), k, d)
	if got := plans[2]; got.Epsilon != 0.125 || got.Floor != math.Ceil(beta*8) || !near(got.Cost, beta*64, 1e-12) {
		t.Errorf("epoch 3: %+v", got)
	}
	th.Beta = 7
	if th.beta(k, m, d, epochs) != 7 {
		t.Error("an explicit beta is not used")
	}
}
