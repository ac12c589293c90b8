package study

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/amtrl/amtrl/pipeline"
)

// problem returns the problem of a round, whose samples may cost what the schedule says.
func (s *Study) problem(round int) (*pipeline.Problem, error) {
	cfg, cost, target := s.Settings.Config, s.scheduled(round), s.target()
	least := floats.Sum(cfg.CostsOf(cfg.SourcesFor(s.data.Set, target)))
	if s.Settings.RoundBudget > 0 { // a floor that the budget pays for
		cfg.Schedule.Floor = min(cfg.Schedule.Floor, int(cost/least))
	} else if round == 1 && least*float64(cfg.Schedule.Floor) > cfg.Schedule.Budget {
		cost = cfg.Schedule.Budget // which is refused, as it is in a run
	} else {
		cost = math.Max(cost, least*float64(cfg.Schedule.Floor))
	}
	cfg.Schedule.Epochs, cfg.Schedule.Budget = round, cost
	return pipeline.NewProblem(s.data.Set, cfg, target)
}

// target returns the index of the target among all sources.
func (s *Study) target() int {
	all := s.Settings.Config.SourcesIn(s.data.Set)
	return slices.IndexFunc(all, func(source pipeline.Source) bool { return source.Name == s.Settings.Target })
}

// cost returns what a label of a row of a pool costs, by the settings or else by the data: the settings leave out the target's cost that
// the data give.
func (s *Study) cost(pool int) float64 {
	p := s.data.Set.Pools[pool]
	if cost, given := s.Settings.Config.Costs[p.Name]; given {
		return cost
	}
	return cmp.Or(p.Cost, 1)
}

// scheduled returns what the samples of all rounds up to this one may cost by the schedule.
func (s *Study) scheduled(round int) float64 {
	if s.Settings.RoundBudget > 0 {
		return s.Settings.RoundBudget * float64(round)
	}
	cfg := s.Settings.Config
	costs := cfg.CostsOf(cfg.SourcesFor(s.data.Set, s.target()))
	return cfg.Schedule.Plan(costs, cfg.K, s.data.Set.Pools[0].Cols)[min(round, cfg.Schedule.Epochs)-1].Cost
}

// labelsOf appends to dst the labels of a row for the outputs of a source of p, NaN for none. values are the row's labels in the form of
// columnar.Known.
func (s *Study) labelsOf(p *pipeline.Problem, source pipeline.Source, values []float32, dst []float32) []float32 {
	for _, t := range source.Tasks {
		o := p.Set.Tasks[t].Output
		y := float32(math.NaN())
		for c, column := range s.data.Outputs {
			v := values[c]
			switch {
			case column.Learned() != o.Name || v != v:
			case o.Class == "":
				y = column.Value(v)
			case column.Classes[int(v)] == o.Class:
				y = 1
			default:
				y = 0
			}
		}
		dst = append(dst, y)
	}
	return dst
}

// samples returns the labelled rows of a round, those of each source in drawing order.
func (st *state) samples(p *pipeline.Problem, round int) pipeline.Round {
	in := pipeline.Round{Method: pipeline.Active, Epoch: round}
	order, target, test := p.Order()
	for m, source := range p.Sources {
		in.Sources = append(in.Sources, st.labelled(p, source, order[m]))
	}
	chosen := st.targetRows(p, target)
	in.Target = st.labelled(p, p.Target, chosen)
	is := map[int32]bool{}
	for _, i := range chosen {
		is[i] = true
	}
	in.Test = st.labelled(p, p.Target, slices.DeleteFunc(slices.Clone(test), func(i int32) bool { return is[i] }))
	for _, i := range slices.Concat(in.Test.Rows, p.Set.Tasks[p.Target.Tasks[0]].Test) {
		is[i] = true
	}
	// Labels of the target that were told unasked count too.
	var more []int32
	for i, r := range st.rows[p.Target.Pool] {
		if r.values != nil && !is[i] {
			more = append(more, i)
		}
	}
	slices.Sort(more)
	extra := st.labelled(p, p.Target, more)
	in.Target.Rows, in.Target.Y = append(in.Target.Rows, extra.Rows...), append(in.Target.Y, extra.Y...)
	if apart := p.Apart(in.Test.Rows, in.Target.Rows); len(apart) < len(in.Test.Rows) {
		in.Test = st.labelled(p, p.Target, apart)
	}
	return in
}

// labelled returns those of the rows that have a label for an output of the source, with their labels.
func (st *state) labelled(p *pipeline.Problem, source pipeline.Source, rows []int32) pipeline.Labelled {
	var out pipeline.Labelled
	marks := st.marks(source.Pool)
	for _, i := range rows {
		if marks[i] != answered {
			continue
		}
		before := len(out.Y)
		out.Y = st.study.labelsOf(p, source, st.label(source.Pool, i), out.Y)
		if slices.ContainsFunc(out.Y[before:], func(y float32) bool { return y == y }) {
			out.Rows = append(out.Rows, i)
		} else {
			out.Y = out.Y[:before]
		}
	}
	return out
}

// marks returns where each row of a pool stands. Rows with a label in the data are answered.
func (st *state) marks(pool int) []status {
	marks := make([]status, st.study.data.Set.Pools[pool].Rows)
	for _, i := range st.study.data.Known[pool].Rows {
		marks[i] = answered
	}
	for i, r := range st.rows[pool] {
		if r.status != free {
			marks[i] = r.status
		}
	}
	return marks
}

// targetRows returns the target's samples, labelled or to be asked for: those of the settings, and behind them the rows that were asked for
// beside these, without skipped ones and those whose time is over.
func (st *state) targetRows(p *pipeline.Problem, order []int32) []int32 {
	rows := slices.Clone(st.firstTargetRows(p, order))
	for _, e := range st.asks {
		if e.TargetRows == 0 {
			continue
		}
		for _, i := range e.Rows[0].Rows {
			if r := st.rows[p.Target.Pool][i]; r.ask == e.Number && (r.status == answered || r.status == pending) {
				rows = append(rows, i)
			}
		}
	}
	return rows
}

// firstTargetRows returns the target's samples of the settings: rows with a label in the data first, then others in drawing order, without
// skipped ones and those that were asked for beside these.
func (st *state) firstTargetRows(p *pipeline.Problem, order []int32) []int32 {
	n := p.Config.TargetSamples
	if !st.study.Settings.Data.AskTarget {
		return order[:n:n]
	}
	beside := map[int32]bool{}
	for _, e := range st.asks {
		if e.TargetRows > 0 {
			for _, i := range e.Rows[0].Rows {
				beside[i] = true
			}
		}
	}
	var have, rest []int32
	for _, i := range order {
		r := st.rows[p.Target.Pool][i]
		switch {
		case st.study.known(p.Target.Pool, i) != nil && (r == nil || r.status != skipped):
			have = append(have, i)
		case !beside[i] && (r == nil || r.status != skipped):
			rest = append(rest, i)
		}
	}
	rest = rest[:min(len(rest), max(0, n-len(have)))]
	return append(have, rest...)
}
