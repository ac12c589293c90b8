package pipeline

import (
	"math"
	"testing"
)

func TestPaperSchedule(t *testing.T) {
	plans := Schedule{Kind: SchedulePaper, Epochs: 4, Floor: 50}.Plan(50, 159, 784)
	for i, want := range []float64{7482, 11223, 16834, 25251} {
		if math.Round(plans[i].Cost) != want || plans[i].Floor != 50 {
			t.Errorf("epoch %d: cost %g, floor %g, want %g and 50", i+1, plans[i].Cost, plans[i].Floor, want)
		}
	}
}

func TestBudgetScheduleEndsAtTheBudget(t *testing.T) {
	plans := Schedule{Kind: ScheduleBudget, Epochs: 3, Budget: 9000}.Plan(5, 10, 20)
	for i, want := range []float64{4000, 6000, 9000} {
		if !near(plans[i].Cost, want, 1e-12) {
			t.Errorf("epoch %d: cost %g, want %g", i+1, plans[i].Cost, want)
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
	plans := Schedule{Kind: ScheduleTheory, Epochs: epochs, Theory: &th}.Plan(k, m, d)
	if got := plans[2]; got.Epsilon != 0.125 || got.Floor != math.Ceil(beta*8) || !near(got.Cost, beta*64, 1e-12) {
		t.Errorf("epoch 3: %+v", got)
	}
	th.Beta = 7
	if th.beta(k, m, d, epochs) != 7 {
		t.Error("an explicit beta is not used")
	}
}
