package pipeline

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// The kinds of schedule.
const (
	SchedulePaper  = "paper"
	ScheduleTheory = "theory"
	ScheduleBudget = "budget"
)

// MaxRounds is the most rounds of the budget schedule.
const MaxRounds = 1024

// growth is the ratio of the scale of one epoch to that of the epoch before, in the schedules paper and budget.
const growth = 1.5

// Schedule says how much each epoch spends.
type Schedule struct {
	// Kind is one of
	//
	//	paper   n_m = max(share_m N_i, Floor), N_i = 1.5^(21+i): 7,482, 11,223,
	//	        16,834, 25,251 over four epochs. The paper states epsilon_i =
	//	        1.5^-i from i = 22 and n = nu^2 epsilon^-2 / ||nu||^2, which would
	//	        be 5.6e7 samples; N_i = epsilon_i^-1 fits the totals it reports.
	//	theory  n_m = max(beta nu_m^2 epsilon_i^-2, beta epsilon_i^-1), epsilon_i =
	//	        2^-i, nu_1 = (1/M, ..., 1/M) (Alg. 2, line 4)
	//	budget  Budget in all, of which Budget g^(i-Epochs) is spent by the end of
	//	        epoch i, with g = 1.5, or less where the floor costs more than that
	//	        in epoch 1: then g = (Budget / cost of the floor)^(1/(Epochs-1))
	Kind string `json:"kind"`
	// Epochs is the number of rounds.
	Epochs int `json:"epochs"`
	// Floor is the least number of samples of each source.
	Floor int `json:"floor"`
	// Budget is the total cost of the samples of the budget schedule; with unit
	// costs, their number.
	Budget float64 `json:"budget,omitempty"`
	// Theory holds the constants of the theory schedule.
	Theory *Theory `json:"theory,omitempty"`
}

// Theory holds the constants of Theorem 4.1 and its proof.
type Theory struct {
	// Delta is the confidence, R bounds ||w_m||_2 and SigmaMin is the lower bound
	// of sigma_min(W).
	Delta    float64 `json:"delta"`
	R        float64 `json:"r"`
	SigmaMin float64 `json:"sigma_min"`
	// Beta overrides the theorem's constant where it is positive.
	Beta float64 `json:"beta,omitempty"`
}

// beta is the constant of Theorem 4.1,
//
//	beta = 3000 K^2 R^2 (K M + K d log(N/M) + log(M G/delta)) / sigma^6,
//
// with G epochs and N the number of samples that the schedule itself comes to,
// N = beta sum_i (M/eps_i + ||nu||^2/eps_i^2) at ||nu|| = 1, solved by fixed
// point. Its logarithms are those of the proof (appendix E): the theorem's own
// log(M log(1/N)/(delta/10)) is undefined for N > 1, and its log(N/(eps M))
// differs by the accuracy aimed at.
func (t Theory) beta(k, m, d, epochs int) float64 {
	if t.Beta > 0 {
		return t.Beta
	}
	K, M, D := float64(k), float64(m), float64(d)
	scale := 0.0
	for i := 1; i <= epochs; i++ {
		eps := math.Exp2(-float64(i))
		scale += M/eps + 1/(eps*eps)
	}
	beta := 1.0
	for range 100 {
		logs := K*M + K*D*math.Log(math.Max(beta*scale/M, math.E)) + math.Log(M*float64(epochs)/t.Delta)
		next := 3000 * K * K * t.R * t.R * logs / math.Pow(t.SigmaMin, 6)
		if math.Abs(next-beta) <= 1e-12*beta {
			return next
		}
		beta = next
	}
	return beta
}

// EpochPlan is what a schedule asks of one epoch.
type EpochPlan struct {
	Epoch int `json:"epoch"`
	// Epsilon is the accuracy aimed at, 0 in the budget schedule.
	Epsilon float64 `json:"epsilon,omitempty"`
	// Beta is the constant of the theory schedule.
	Beta float64 `json:"beta,omitempty"`
	// Cost is the total cost to be spent by the end of the epoch, before the
	// floor; in the theory schedule, at ||nu|| = 1.
	Cost float64 `json:"cost"`
	// Floor is the least number of samples of each source by then.
	Floor float64 `json:"floor"`
}

// Plan lists the epochs for sources whose samples cost costs[m] each, a representation of width k and rows of d
// features. The schedule must be complete and valid, as [Config.Complete] and [Config.Validate] leave it: Epochs is not
// negative, and the schedule theory has its Theory.
func (s Schedule) Plan(costs []float64, k, d int) []EpochPlan {
	plans, ratio := make([]EpochPlan, s.Epochs), s.ratio(costs)
	for i := range plans {
		p := &plans[i]
		p.Epoch, p.Floor = i+1, float64(s.Floor)
		switch s.Kind {
		case SchedulePaper:
			p.Epsilon = math.Pow(growth, -float64(22+i))
			p.Cost = 1 / p.Epsilon
		case ScheduleTheory:
			p.Epsilon = math.Exp2(-float64(i + 1))
			p.Beta = s.Theory.beta(k, len(costs), d, s.Epochs)
			p.Cost = p.Beta / (p.Epsilon * p.Epsilon)
			p.Floor = math.Ceil(p.Beta / p.Epsilon)
		case ScheduleBudget:
			p.Cost = s.Budget * math.Pow(ratio, float64(i+1-s.Epochs))
		}
	}
	return plans
}

// Spent returns what the samples cost that method Active draws by the end of an epoch of the budget schedule, where
// sources have rows enough: Cost less what is left where it does not buy whole samples. It is known only where all costs
// are equal; Spent returns Cost and false for other costs, and for other schedules.
func (s Schedule) Spent(p EpochPlan, costs []float64) (cost float64, known bool) {
	if s.Kind != ScheduleBudget || len(costs) == 0 || slices.Min(costs) != slices.Max(costs) {
		return p.Cost, false
	}
	return costs[0] * math.Floor(p.Cost*(1+spendSlack)/costs[0]), true
}

// ratio returns the factor by which the total cost grows from one epoch of the budget schedule to the next: growth, or
// less where the floor costs more than the first epoch would otherwise spend. So every epoch draws samples, and not
// only those whose total is more than the floor.
func (s Schedule) ratio(costs []float64) float64 {
	floor := floats.Sum(costs) * float64(s.Floor)
	if floor == 0 {
		return growth
	}
	even := math.Pow(s.Budget/floor, 1/float64(s.Epochs-1))
	return min(growth, max(1, even))
}

func (s Schedule) validate() error {
	switch s.Kind {
	case SchedulePaper:
	case ScheduleTheory:
		t := s.Theory
		switch {
		case t == nil:
			return fmt.Errorf("schedule theory: its constants delta, r and sigma_min are not set")
		case !(t.Delta > 0 && t.Delta < 1):
			return fmt.Errorf("schedule theory: delta is %g, expected a number between 0 and 1", t.Delta)
		case !(t.R > 0) || math.IsInf(t.R, 1) || !(t.SigmaMin > 0) || math.IsInf(t.SigmaMin, 1) || !(t.Beta >= 0) || math.IsInf(t.Beta, 1):
			return fmt.Errorf("schedule theory: r is %g, sigma_min %g and beta %g, expected positive numbers (beta 0 for the theorem's)", t.R,
				t.SigmaMin, t.Beta)
		}
	case ScheduleBudget:
		if !(s.Budget > 0) || math.IsInf(s.Budget, 1) {
			return fmt.Errorf("schedule budget: the budget is %g, expected a positive number", s.Budget)
		}
	default:
		return fmt.Errorf("unknown schedule %q: expected %s, %s or %s", s.Kind, SchedulePaper, ScheduleTheory, ScheduleBudget)
	}
	most := 64
	if s.Kind == ScheduleBudget {
		most = MaxRounds
	}
	if s.Epochs < 1 {
		return fmt.Errorf("the schedule has %d epochs, expected 1 to %d", s.Epochs, most)
	}
	if s.Epochs > most {
		return fmt.Errorf("schedule %s: %d epochs, expected 1 to %d", s.Kind, s.Epochs, most)
	}
	if s.Floor < 0 {
		return fmt.Errorf("schedule %s: the floor is %d, expected at least 0", s.Kind, s.Floor)
	}
	return nil
}
