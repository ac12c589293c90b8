package study

import (
	"math"

	"github.com/amtrl/amtrl/pipeline"
	"github.com/amtrl/amtrl/runs"
)

// Status is where a study stands.
type Status struct {
	Target string `json:"target"`
	// Events is the number of lines of the journal, Asks the number of asks, and OpenAsks the number of asks that still wait for answers.
	Events   int `json:"events"`
	Asks     int `json:"asks"`
	OpenAsks int `json:"open_asks"`
	// Spent is the cost of answered and pending rows of sources. Labels that were in the data cost nothing. Held-out rows, which are never
	// asked for, are not counted, here and below.
	Spent    float64 `json:"spent"`
	Answered int     `json:"answered"`
	Pending  int     `json:"pending"`
	Skipped  int     `json:"skipped"`
	// Late is the number of pending rows whose time is over: the next ask or tell gives them back.
	Late int `json:"late"`
	// Sources are the sources of the data in their order, the target among them.
	Sources []SourceStatus `json:"sources"`
	// Columns are the columns of labels, with sums over all Sources. It is empty where there is only one.
	Columns []ColumnStatus `json:"columns,omitempty"`
	// Rounds is the number of rounds that were learned. Fresh says that labels came since the last.
	Rounds int  `json:"rounds"`
	Fresh  bool `json:"fresh"`
	// Outdated says that the last round learned from labels that were replaced since, so that the next ask learns first in any case.
	Outdated bool `json:"outdated,omitempty"`
	// Waits says that labels came since, and that the next ask does not learn from them, as too many rows are pending.
	Waits bool `json:"waits,omitempty"`
	// OddLabels are those among all labels.
	OddLabels
	// Last is what the last round found. Next is what an ask of the study's own budget is expected to bring now; it is absent where nothing
	// can be said yet, which Unknown then says why, or the ask would have no rows.
	Last    *runs.RoundScore `json:"last,omitempty"`
	Next    *Gain            `json:"next,omitempty"`
	Unknown string           `json:"unknown,omitempty"`
}

// SourceStatus is where a source stands. Held-out rows are not counted.
type SourceStatus struct {
	Source string `json:"source"`
	Target bool   `json:"target,omitempty"`
	Rows   int    `json:"rows"`
	// Known counts the rows with a label in the data, Answered the other rows whose label was told, whether asked for or not.
	Known    int     `json:"known"`
	Answered int     `json:"answered"`
	Pending  int     `json:"pending"`
	Skipped  int     `json:"skipped"`
	Cost     float64 `json:"cost"`
	Spent    float64 `json:"spent"`
	// Columns are the columns of labels. It is empty where there is only one.
	Columns []ColumnStatus `json:"columns,omitempty"`
}

// ColumnStatus is where one of several columns of labels stands. Held-out rows are not counted.
type ColumnStatus struct {
	Column string `json:"column"`
	// Known counts the rows with a label of the column in the data, Answered the rows whose label was told and is not in the data, and
	// Lacking the rows that have labels of other columns only, which are not asked for again.
	Known    int `json:"known"`
	Answered int `json:"answered"`
	Lacking  int `json:"lacking"`
}

// columns returns where each column of labels of a pool stands, or nil where there is only one.
func (st *state) columns(pool int) []ColumnStatus {
	s := st.study
	outputs := s.data.Outputs
	if len(outputs) < 2 {
		return nil
	}
	out, held := make([]ColumnStatus, len(outputs)), s.heldOut(pool)
	add := func(known, now []float32) {
		for c := range out {
			switch {
			case known != nil && known[c] == known[c]:
				out[c].Known++
			case now[c] == now[c]:
				out[c].Answered++
			default:
				out[c].Lacking++
			}
		}
	}
	for _, i := range st.labelledRows(pool) {
		if !held[i] {
			add(s.known(pool, i), st.label(pool, i))
		}
	}
	for c, o := range outputs {
		out[c].Column = o.Name
	}
	return out
}

// Status returns where the study stands. It changes nothing.
func (s *Study) Status() (*Status, error) {
	s, j, st, err := s.load()
	if err != nil {
		return nil, err
	}
	s.noteTorn(j)
	out := &Status{Target: s.Settings.Target, Events: len(j.events), Asks: len(st.asks), Rounds: len(st.fits)}
	out.Fresh, out.Outdated = st.labels > st.learnedUpTo(), s.outdated(st)
	for i, p := range s.data.Set.Pools {
		line := SourceStatus{Source: p.Name, Target: p.Name == s.Settings.Target, Cost: s.cost(i)}
		held := s.heldOut(i)
		line.Rows, line.Known = s.drawable(i, held)
		line.Columns = st.columns(i)
		for c, of := range line.Columns {
			if i == 0 {
				out.Columns = append(out.Columns, ColumnStatus{Column: of.Column})
			}
			sum := &out.Columns[c]
			sum.Known, sum.Answered, sum.Lacking = sum.Known+of.Known, sum.Answered+of.Answered, sum.Lacking+of.Lacking
		}
		for row, r := range st.rows[i] {
			switch {
			case held[row]:
			case r.status == pending:
				line.Pending++
			case r.status == skipped:
				if line.Skipped++; s.known(i, row) != nil {
					line.Known--
				}
			case r.status == answered && s.known(i, row) == nil:
				line.Answered++
			}
		}
		line.Spent = line.Cost * float64(line.Answered+line.Pending)
		out.Answered += line.Answered
		out.Pending += line.Pending
		out.Skipped += line.Skipped
		if !line.Target {
			out.Spent += line.Spent
		}
		out.Sources = append(out.Sources, line)
	}
	out.Waits = out.Fresh && !out.Outdated && !s.settled(st)
	for number := range st.open {
		if st.waiting(number) > 0 {
			out.OpenAsks++
		}
	}
	for _, number := range st.late(s.now()) {
		out.Late += st.waiting(number)
	}
	if odd, err := st.slips(func(place) bool { return true }); err == nil { // an error is ignored, as by Tell
		out.OddLabels = odd
	}
	scores, err := s.scores(st)
	if err != nil {
		return nil, err
	}
	if len(scores) > 0 {
		out.Last = &scores[len(scores)-1]
		out.Last.After(scores[:len(scores)-1])
		c := newCurve(scores)
		if c == nil {
			out.Unknown = noCurve(scores)
		} else if s.Settings.RoundBudget > 0 || out.Rounds < s.Settings.Config.Schedule.Epochs {
			if err := s.release(j, st); err != nil {
				return nil, err
			}
			prop, err := s.propose(st, 0)
			if err != nil {
				return nil, err
			}
			if len(prop.groups) > 0 {
				out.Next = st.gain(c, prop, prop.cost)
			}
		}
	}
	return out, nil
}

// drawable returns the number of rows of a pool that are not held out, and how many of these have a label in the data.
func (s *Study) drawable(pool int, held map[int32]bool) (rows, known int) {
	rows, known = s.data.Set.Pools[pool].Rows, len(s.data.Known[pool].Rows)
	for i := range held {
		if rows--; s.known(pool, i) != nil {
			known--
		}
	}
	return rows, known
}

// heldOut returns the set of the rows of a pool that are for tests, which are the same in all its tasks.
func (s *Study) heldOut(pool int) map[int32]bool {
	held := map[int32]bool{}
	for _, t := range s.data.Set.Tasks {
		if t.Pool == pool {
			for _, i := range t.Test {
				held[i] = true
			}
			break
		}
	}
	return held
}

// Plan is what an ask would draw and is expected to bring.
type Plan struct {
	Budget  float64      `json:"budget"`
	Sources []PlanSource `json:"sources"`
	// Gain is what the budget is expected to bring. Double is what as much again as all samples so far, pending ones included, is expected
	// to bring, or all rows that are left where these cost less. Both are absent before the second round.
	Gain   *Gain `json:"gain,omitempty"`
	Double *Gain `json:"double,omitempty"`
	// Unknown says why both are absent.
	Unknown string `json:"unknown,omitempty"`
	// Bound is the excess risk that the paper's Theorem 4.1 guarantees with all samples. It says nothing about these data.
	Bound float64 `json:"theorem_4_1_bound"`
}

// PlanSource is what an ask would draw from one source.
type PlanSource struct {
	Source string  `json:"source"`
	Rows   int     `json:"rows"`
	Cost   float64 `json:"cost"`
	Reason string  `json:"reason"`
}

// Plan returns what an ask of this budget would draw; 0 stands for the budget of the study. It changes nothing.
func (s *Study) Plan(budget float64) (*Plan, error) {
	if err := checkBudget(budget); err != nil {
		return nil, err
	}
	s, j, st, err := s.load()
	if err != nil {
		return nil, err
	}
	if err := s.release(j, st); err != nil {
		return nil, err
	}
	prop, err := s.propose(st, budget)
	if err != nil {
		return nil, err
	}
	out := &Plan{Budget: prop.cost, Sources: []PlanSource{}}
	rows := 0.0
	for _, g := range prop.groups {
		out.Sources = append(out.Sources, PlanSource{g.Source, len(g.Rows), g.Cost * float64(len(g.Rows)), g.Reason})
		if g.Source != s.Settings.Target {
			rows += float64(len(g.Rows))
		}
	}
	scores, err := s.scores(st)
	if err != nil {
		return nil, err
	}
	nu, p, c := 0.0, prop.problem, newCurve(scores)
	if c == nil {
		out.Unknown = noCurve(scores)
	}
	if n := len(scores); n > 0 {
		out.Gain, out.Double = st.gain(c, prop, prop.cost), st.gain(c, prop, prop.before)
		for _, r := range scores[n-1].Result.Sources {
			nu += r.Nu * r.Nu
		}
	}
	for m := range p.Sources {
		rows += float64(prop.have[m])
	}
	if nu == 0 {
		nu = 1 / float64(len(p.Sources))
	}
	out.Bound = bound(p, rows, nu)
	return out, nil
}

// bound returns the epsilon at which N = beta (M / epsilon + ||nu||^2 / epsilon^2) samples satisfy Theorem 4.1, with the default constants
// of the schedule theory. nu is ||nu||^2.
func bound(p *pipeline.Problem, samples, nu float64) float64 {
	theory := p.Config.Complete(nil).Schedule
	theory.Kind, theory.Epochs = pipeline.ScheduleTheory, 4
	m := float64(len(p.Sources))
	beta := theory.Plan(p.Costs, p.Config.K, p.Set.Pools[0].Cols)[0].Beta
	return (beta*m + math.Sqrt(beta*beta*m*m+4*samples*beta*nu)) / (2 * samples)
}

// Relevance returns what each round so far found, each with its sources by falling |nu|.
func (s *Study) Relevance() ([]runs.RoundScore, error) {
	s, _, st, err := s.load()
	if err != nil {
		return nil, err
	}
	return s.scores(st)
}

// Learned is what the rounds of a study found.
type Learned struct {
	// Rounds are the scores of the rounds, of which the last belongs to the models in use. Run is the folder of the last round, read as
	// that of a run.
	Rounds []runs.RoundScore
	Run    *runs.Finished
	// Gains are what more labels are expected to bring: from those of the last round in equal steps to twice their cost, or to all rows that
	// are left where these cost less. Where nothing was asked or told since, the last is the Double of a [Plan]. Gains is nil where no row
	// is left, and before two rounds can be compared.
	Gains []Gain
}

// ReadLearned reads what the rounds of the study in a folder found. It needs no data. Of the events after the last round it takes only
// skipped rows into account: a source of which all other rows are drawn can give no more.
func ReadLearned(dir string) (*Learned, error) {
	s, err := Open(dir)
	if err != nil {
		return nil, err
	}
	last, err := s.LatestRound()
	if err != nil {
		return nil, err
	}
	j, err := s.read()
	if err != nil {
		return nil, err
	}
	l := &Learned{}
	for _, e := range j.events {
		if e.Fit == nil {
			continue
		}
		score, err := runs.ReadScore(s.RoundDir(e.Fit.Round), e.Fit.Files[runs.ScoreFile])
		if err != nil {
			return nil, err
		}
		l.Rounds = append(l.Rounds, score)
		if s.RoundDir(e.Fit.Round) == last {
			break
		}
	}
	if l.Run, err = runs.ReadRun(last); err != nil {
		return nil, err
	}
	skips, err := s.skips()
	for i := range l.Run.Result.Sources {
		r := &l.Run.Result.Sources[i]
		if r.Samples+len(skips[r.Source]) >= l.Run.Available[r.Source] {
			r.AllDrawn, r.Next = true, 0
		}
	}
	l.expect(skips)
	return l, err
}

// skips returns the rows of each source that are given up, without held-out rows.
func (s *Study) skips() (map[string]map[int32]bool, error) {
	j, err := s.read()
	if err != nil {
		return nil, err
	}
	out := map[string]map[int32]bool{}
	for _, e := range j.events {
		if e.Tell == nil {
			continue
		}
		for _, group := range e.Tell.Rows {
			for _, i := range group.Rows {
				delete(out[group.Source], i)
			}
		}
		for _, group := range e.Tell.Skips {
			if group.Held {
				continue
			}
			if out[group.Source] == nil {
				out[group.Source] = map[int32]bool{}
			}
			for _, i := range group.Rows {
				out[group.Source][i] = true
			}
		}
	}
	return out, nil
}
